"""A release beside its original: what every measure looks at, prepared once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from manyveils.policy import Policy
from manyveils.reading.columns import read_column
from manyveils.reading.cover import Floats, Ids
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Table
from manyveils.utility.coverage import Coverage, coverages_of

Measures = dict[str, float | dict[str, float]]
Coverages = dict[str, tuple[Coverage, ...]]
Sizes = tuple[Ids, ...]
Names = frozenset[str]


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
        """What an adversary knows: the quasi-identifiers, or, without any, what the rules give."""
        given = dict.fromkeys(name for rule in self.policy.rules for name in rule.given)
        return self.policy.quasi or self.table.expand(tuple(given))

    @cached_property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes, or, without any, what the rules protect; none that counts as known."""
        by_rule = dict.fromkeys(rule.protect for rule in self.policy.rules)
        hidden = self.table.expand(self.policy.sensitive or tuple(by_rule))
        return tuple(name for name in hidden if name not in self.quasi)

    @cached_property
    def protected(self) -> Names:
        """The attributes nobody may learn: the sensitive ones, and what the rules protect."""
        by_rule = (rule.protect for rule in self.policy.rules)
        return frozenset(self.table.expand((*self.policy.sensitive, *by_rule)))

    @cached_property
    def release_codes(self) -> dict[str, Ids]:
        """For each published attribute, the release's code of every value of the table; -1 if it has none."""
        domains = self.release.reading.estimate.domains
        return {name: domain.codes_of(self.table[name].texts) for name, domain in domains.items()}

    @cached_property
    def coverages(self) -> Coverages:
        """What the labels of each quasi-identifier stand for, in every view that shows it."""
        return {name: tuple(self._covered(name)) for name in self.quasi}

    @cached_property
    def sensitive_coverages(self) -> Coverages:
        """What the labels of each sensitive attribute stand for, in every view that shows it."""
        return {name: tuple(self._covered(name)) for name in self.sensitive}

    def _covered(self, name: str) -> Iterator[Coverage]:
        return coverages_of(self.release.reading, self.table[name], self.policy.lines(name))

    @cached_property
    def groups(self) -> dict[str, Sizes]:
        """By view, the sizes of its groups; of the views with something protected (of all if none has any)."""
        protecting = [view for view in self.release.views if self.protected & set(view.attributes)]
        return {view.name: self._group_sizes(view) for view in protecting or self.release.views}

    def _group_sizes(self, view: View) -> Sizes:
        given, protected = frozenset(self.quasi), self.protected
        if view.enforces:
            given = frozenset(self.table.expand(tuple(view.enforces["given"])))
            protected = frozenset(self.table.expand((view.enforces["protect"],)))
        return group_sizes(self.release, view, given, protected)


def group_sizes(release: Release, view: View, known: Names, protected: Names) -> Sizes:
    """Count the rows of every group, once for each column of the view that has a protected attribute.

    In a bucketed view, a group is the rows of a bucket that agree in the known attributes of the protected
    attribute's column; in any other view, the rows that agree in the known attributes. A missing value is a value.
    """
    domains = release.reading.estimate.domains
    return tuple(
        read_column(release, view, file, domains, names).counts
        for file, names in _group_keys(view, known - protected, protected)
    )


def _group_keys(view: View, known: Names, protected: Names) -> Iterator[tuple[ColumnFile, tuple[str, ...]]]:
    protecting = [file for file in view.files if protected & set(file.attributes)]
    if view.bucketed and not protecting:
        yield view.files[0], ()
        return
    for file in protecting or view.files:
        yield file, tuple(name for name in file.attributes if name in known)


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


def _mean(view: Coverage, costs: Floats, n_rows: int, unseen: float) -> float:
    return (float((costs * view.rows).sum()) + (n_rows - int(view.rows.sum())) * unseen) / n_rows
