"""The distribution that a whole release implies: view after view, each given what the earlier ones share with it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from manyveils.reading.columns import read_column
from manyveils.reading.cover import Floats
from manyveils.reading.domains import Domain, domains_of
from manyveils.reading.views import PublishedView, Tuples
from manyveils.release import Release
from manyveils.table import Table

Found = TypeVar("Found")


@dataclass(frozen=True, repr=False)
class Step:
    """A view that adds attributes: `new` ones given `known`, which `parent` (the place of an earlier step) has all.

    `parent` is None where nothing is known, and -1 where no single earlier view has all of `known`.
    """

    shape: PublishedView
    new: tuple[str, ...]
    known: tuple[str, ...]
    parent: int | None


@dataclass(frozen=True, repr=False)
class Estimate:
    """p̂ of a release: the product over its steps of P(new | known).

    Where views share attributes as a tree does, this is the decomposable maximum-likelihood estimate; views that
    share nothing are independent. What is known but does not occur in a later view tells that view nothing.
    """

    domains: Mapping[str, Domain]
    shapes: tuple[PublishedView, ...]
    steps: tuple[Step, ...]
    n_people: int
    _found: dict[object, object] = field(default_factory=dict)

    def remembered(self, question: object, find: Callable[[], Found]) -> Found:
        """Find something once, for many queries."""
        if question not in self._found:
            self._found[question] = find()
        return cast(Found, self._found[question])

    @property
    def is_tree(self) -> bool:
        """Whether every step hangs on one earlier step."""
        return all(step.parent != -1 for step in self.steps)

    def probability(self, tuples: Tuples, n_tuples: int) -> Floats:
        """p̂ of whole tuples: a code for every attribute of the release."""
        result = np.ones(n_tuples)
        for step in self.steps:
            result *= self._conditional(step, tuples, n_tuples)
        return result

    def _conditional(self, step: Step, tuples: Tuples, n_tuples: int) -> Floats:
        everything = {name: tuples[name] for name in (*step.new, *step.known)}
        both = step.shape.mass(everything, n_tuples, {})
        if not step.known:
            return both
        known = step.shape.mass({name: tuples[name] for name in step.known}, n_tuples, {})
        strange = known <= 0
        result = np.divide(both, known, out=np.zeros(n_tuples), where=~strange)
        if strange.any():
            alone = {name: tuples[name][strange] for name in step.new}
            result[strange] = step.shape.mass(alone, int(strange.sum()), {})
        return result


def estimate_of(
    release: Release, table: Table | None = None, more: Mapping[str, set[str]] | None = None
) -> Estimate:
    """Read the distribution off a release; `table` and `more` have originals that lie between the ends of ranges."""
    domains = domains_of(release, table)
    domains |= {name: domains[name].with_texts(texts) for name, texts in (more or {}).items()}
    shapes = [_shape(release, number, domains) for number in range(len(release.views))]
    return Estimate(domains, tuple(shapes), tuple(_steps(shapes)), release.rows + release.suppressed)


def _shape(release: Release, number: int, domains: Mapping[str, Domain]) -> PublishedView:
    view = release.views[number]
    # An attribute that stands in several columns is read off the first: columns are independent.
    seen: set[str] = set()
    parts = []
    for file in view.files:
        names = tuple(name for name in file.attributes if name not in seen)
        seen |= {*names}
        parts.append(read_column(release, view, file, domains, names))
    n_buckets = max((int(part.buckets.max(initial=-1)) for part in parts), default=-1) + 1
    return PublishedView(view.name, tuple(parts), view.rows, n_buckets)


def _steps(shapes: list[PublishedView]) -> Iterator[Step]:
    """Order views so that each shares as much as it can with those before it; views that add nothing are left out."""
    placed: list[PublishedView] = []
    seen: set[str] = set()
    left = list(shapes)
    while left:
        shape = max(left, key=lambda each: (len(seen & {*each.attributes}), len({*each.attributes} - seen)))
        left.remove(shape)
        new = tuple(dict.fromkeys(name for name in shape.attributes if name not in seen))
        known = tuple(dict.fromkeys(name for name in shape.attributes if name in seen))
        if not new:
            continue
        holders = [place for place, each in enumerate(placed) if {*known} <= {*each.attributes}]
        yield Step(shape, new, known, (holders[0] if holders else -1) if known else None)
        placed.append(shape)
        seen |= {*new}
