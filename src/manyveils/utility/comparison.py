"""A release beside its original: what every measure looks at, and what its labels leave open, prepared once."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

import numpy as np
import polars as pl
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.policy.hierarchies import TOP, Lines
from manyveils.reading.columns import read_column
from manyveils.reading.cover import Bools, Cover, Floats, Ids
from manyveils.reading.keys import numbered
from manyveils.reading.meanings import range_ends
from manyveils.reading.weighing import Placing, n_placed, placings
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute, Table

Measures = dict[str, float | dict[str, float]]
Sizes = tuple[Ids, ...]
Names = frozenset[str]
UNKNOWN = np.nan


@dataclass(frozen=True, repr=False)
class Coverage:
    """The labels of one attribute in one view, how many rows have each, and which originals they stand for."""

    attribute: Attribute
    lines: Lines | None
    texts: pl.Series
    rows: Ids
    cover: Cover

    @property
    def height(self) -> int:
        """The top level of the attribute's hierarchy."""
        return len(self.attribute.levels) - 1

    @cached_property
    def is_value(self) -> Bools:
        """Whether a label is a value of the original and stands for nothing else."""
        originals = np.array([*self.attribute.texts, None], dtype=object)[self.cover.firsts]
        return (self.cover.sizes == 1) & (originals == self.texts.to_numpy())

    @cached_property
    def hidden(self) -> Bools:
        """Whether a label is `*` and tells nothing."""
        return (self.texts == TOP).to_numpy() & ~self.is_value

    @cached_property
    def levels(self) -> tuple[Ids, Bools]:
        """The lowest level that has each label, else the lowest with one label for all it covers; and which it is."""
        by_name = np.full(self.rows.size, self.height + 1)
        by_cover = np.full(self.rows.size, self.height)
        texts = self.texts.to_numpy()
        for number in range(self.height, -1, -1):
            level = self.attribute.levels[number]
            shared = self.cover.constant(level.label_of)
            names = np.array([*level.labels, None], dtype=object)[shared]
            by_cover[shared >= 0] = number
            by_name[(shared >= 0) & (names == texts)] = number
        named = self.hidden | (by_name <= self.height)
        lowest = np.where(by_name <= self.height, by_name, by_cover)
        return np.where(self.hidden, self.height, lowest), named

    @property
    def n_leaves(self) -> int:
        """The size of the attribute's domain: the lines of a written hierarchy, else the values of the original."""
        return len(self.lines or self.attribute.domain)

    def leaves_by_name(self) -> Floats:
        """The leaves of the domain under each label that the hierarchy has; not a number for others."""
        counts = list(self._names())
        levels, named = self.levels
        leaves = (
            counts[level].get(text, UNKNOWN) if is_named else UNKNOWN
            for text, level, is_named in zip(self.texts, levels.tolist(), named.tolist(), strict=True)
        )
        return np.array(list(leaves), dtype=np.float64)

    def _names(self) -> Iterator[Mapping[str, int]]:
        """For each level, the leaves under every name: lines of a written hierarchy, else values of the original."""
        for names in zip(*self.lines or (), strict=True):
            yield Counter(names)
        for level in () if self.lines else self.attribute.levels.each:
            counts = np.bincount(level.label_of, minlength=len(level.labels))
            yield dict(zip(level.labels, counts.tolist(), strict=True))

    def covered(self) -> Floats:
        """How many originals each label covers; not a number where it is none."""
        return np.where(self.cover.sizes > 0, self.cover.sizes, UNKNOWN)

    def spans(self) -> Floats:
        """The length of each range as a share of the domain's; not a number where a label is no range of numbers."""
        low, high = self._ends
        domain = self._domain
        first, last = (float(domain.min()), float(domain.max())) if domain.size else (0.0, 0.0)
        length = np.clip(high, first, last) - np.clip(low, first, last)
        return length / (last - first) if last > first else low * 0.0

    def in_range(self) -> Floats:
        """How many numbers of the domain lie in each range; not a number where a label is none."""
        low, high = self._ends
        numbers = np.unique(self._domain)
        inside = np.searchsorted(numbers, high, side="right") - np.searchsorted(numbers, low)
        return np.where(np.isnan(low), UNKNOWN, inside)

    @cached_property
    def _ends(self) -> tuple[Floats, Floats]:
        if self.attribute.kind != "numeric":
            return np.full(self.rows.size, UNKNOWN), np.full(self.rows.size, UNKNOWN)
        low, high = (end.cast(pl.Float64).to_numpy() for end in range_ends(self.texts))
        return low, high

    @cached_property
    def _domain(self) -> NDArray[np.float64]:
        if self.attribute.kind != "numeric":
            return np.zeros(0)
        texts = pl.Series([line[0] for line in self.lines or ()], dtype=pl.String)
        written = texts.cast(pl.Float64, strict=False).drop_nulls().to_numpy()
        numbers = written if written.size else self.attribute.numbers
        return numbers[np.isfinite(numbers)]


def first_known(*amounts: Floats | float) -> Floats:
    """Of several amounts for each label the first that is known."""
    known = np.asarray(amounts[0], dtype=np.float64)
    for amount in amounts[1:]:
        known = np.where(np.isnan(known), amount, known)
    return known


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

    @property
    def n_people(self) -> int:
        """The people the original is about."""
        return self.n_rows if self.table.persons is None else self.table.n_persons

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
        return {name: self._covered(name) for name in self.quasi}

    @cached_property
    def sensitive_coverages(self) -> Coverages:
        """What the labels of each sensitive attribute stand for, in every view that shows it."""
        return {name: self._covered(name) for name in self.sensitive}

    def _covered(self, name: str) -> tuple[Coverage, ...]:
        attribute, lines = self.table[name], self.policy.lines(name)
        shown = self.release.reading.shown(attribute, lines)
        return tuple(Coverage(attribute, lines, *labels) for labels in shown)

    @cached_property
    def groups(self) -> dict[str, Sizes]:
        """By view, how many people its groups have; of the views with something protected (of all if none has any)."""
        protecting = [view for view in self.release.views if self.protected & set(view.attributes)]
        return {view.name: self._group_sizes(view) for view in protecting or self.release.views}

    @cached_property
    def placed(self) -> dict[str, tuple[Placing, ...]]:
        """Where the rows of the original stand, for each view of which it is told; nothing where rows are people."""
        placed = placings(self.release, self.table, self.policy)
        # Columns that share an attribute are not told apart here.
        apart = {view.name for view in self.release.views if len({*view.attributes}) == len(view.attributes)}
        return {view: placing for view, placing in placed.items() if view in apart}

    @cached_property
    def counts_people(self) -> bool:
        """Whether groups of persons with several rows are counted by person, and not by row."""
        return bool(self.groups) and self.placed.keys() >= self.groups.keys()

    def left_out(self, view: str) -> int:
        """The people of whom a view has no row."""
        if view in self.placed:
            return self.table.n_persons - n_placed(self.placed[view])
        return self.n_rows - next(own.rows for own in self.release.views if own.name == view)

    def _group_sizes(self, view: View) -> Sizes:
        given, protected = frozenset(self.quasi), self.protected
        if view.enforces:
            given = frozenset(self.table.expand(tuple(view.enforces["given"])))
            protected = frozenset(self.table.expand((view.enforces["protect"],)))
        if view.name in self.placed:
            return persons_in_groups(view, self.placed[view.name], given, protected)
        return group_sizes(self.release, view, given, protected)


def persons_in_groups(view: View, placed: tuple[Placing, ...], known: Names, protected: Names) -> Sizes:
    """Count the different persons of every group, once for each column of the view that has a protected attribute."""
    sizes = []
    for file, names in _group_keys(view, known - protected, protected):
        placing = placed[view.files.index(file)]
        _, groups = placing.groups(names)
        inside = np.flatnonzero(groups >= 0)
        pairs = numbered([groups[inside], placing.persons[inside]])[1]
        counts = np.bincount(groups[inside][pairs])
        sizes.append(counts[counts > 0])
    return tuple(sizes)


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
