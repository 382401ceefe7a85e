"""A release beside its original: what every measure looks at, prepared once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.reading.cover import Floats
from manyveils.release import Release, View
from manyveils.table import Table
from manyveils.utility.coverage import Coverage, coverages_of
from manyveils.utility.groups import group_sizes

Measures = dict[str, float | dict[str, float]]
Coverages = dict[str, tuple[Coverage, ...]]


@dataclass(frozen=True, repr=False)
class Comparison:
    """A release, the table it was made from and the policy it was made by."""

    release: Release
    table: Table
    policy: Policy

    @property
    def n_rows(self) -> int:
        """Rows of the original."""
        return self.table.n_rows

    @cached_property
    def quasi(self) -> tuple[str, ...]:
        """What an adversary knows: the quasi-identifiers, and without any, what the rules give."""
        given = dict.fromkeys(name for rule in self.policy.rules for name in rule.given)
        return self.policy.quasi or self.table.expand(tuple(given))

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns, and without any, what the rules protect; nothing that counts as known."""
        by_rule = dict.fromkeys(rule.protect for rule in self.policy.rules)
        hidden = self.table.expand(self.policy.sensitive or tuple(by_rule))
        return tuple(name for name in hidden if name not in self.quasi)

    @cached_property
    def protected(self) -> frozenset[str]:
        """The columns nobody may learn: the sensitive ones, and what the rules protect."""
        by_rule = (rule.protect for rule in self.policy.rules)
        return frozenset(self.table.expand((*self.policy.sensitive, *by_rule)))

    @cached_property
    def places(self) -> dict[str, NDArray[np.int64]]:
        """For each published column, where its values stand among the originals the release speaks of; -1 for others."""
        domains = self.release.reading.estimate.domains
        return {name: domain.codes_of(self.table[name].texts) for name, domain in domains.items()}

    @cached_property
    def coverages(self) -> Coverages:
        """What the labels of each quasi-identifier stand for, in every view that shows it."""
        return {name: tuple(self._covered(name)) for name in self.quasi}

    @cached_property
    def sensitive_coverages(self) -> Coverages:
        """What the labels of each sensitive column stand for, in every view that shows it."""
        return {name: tuple(self._covered(name)) for name in self.sensitive}

    def _covered(self, name: str) -> Iterator[Coverage]:
        return coverages_of(self.release.reading, self.table[name], self.policy.lines(name))

    @cached_property
    def groups(self) -> tuple[tuple[pl.Series, ...], ...]:
        """The sizes of the groups in each view that holds something protected (in all views if none does)."""
        holding = [view for view in self.release.views if self.protected & set(view.attributes)]
        return tuple(self._grouped(view) for view in holding or self.release.views)

    def _grouped(self, view: View) -> tuple[pl.Series, ...]:
        if view.enforces:
            given = frozenset(self.table.expand(tuple(view.enforces["given"])))
            guarded = frozenset(self.table.expand((view.enforces["protect"],)))
            return group_sizes(self.release, view, given, guarded)
        return group_sizes(self.release, view, frozenset(self.quasi), self.protected)


def mean_over_views(comparison: Comparison, measured: Callable[[pl.Series], float]) -> float:
    """Average what is measured of group sizes: over the columns of a view, then over views."""
    views = [fmean(measured(sizes) for sizes in view) for view in comparison.groups]
    return fmean(views) if views else 0.0


def mean_per_cell(
    comparison: Comparison,
    cost: Callable[[Coverage], Floats],
    unseen: Callable[[str], float] = lambda _: 1.0,
    coverages: Coverages | None = None,
) -> dict[str, float]:
    """Average the cost of a cell for each attribute covered: over the original's rows, then over views.

    Rows a view leaves out cost as much as `unseen` says, and so does an attribute that no view shows.
    The attributes are the quasi-identifiers unless others are given.
    """
    averages = {}
    for name, views in (comparison.coverages if coverages is None else coverages).items():
        means = [_mean(view, cost(view), comparison.n_rows, unseen(name)) for view in views]
        averages[name] = fmean(means) if means else unseen(name)
    return averages


def mean_of_attributes(comparison: Comparison, by_attribute: dict[str, float]) -> float:
    """Average over the quasi-identifiers; where there is none, only rows can be lost."""
    return fmean(by_attribute.values()) if by_attribute else comparison.release.suppressed / comparison.n_rows


def _mean(view: Coverage, costs: Floats, n_rows: int, unseen: float) -> float:
    return (float((costs * view.rows).sum()) + (n_rows - int(view.rows.sum())) * unseen) / n_rows
