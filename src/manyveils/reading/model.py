"""The distribution that a whole release implies: view after view, each given what the earlier ones share with it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar, cast

import numpy as np

from manyveils.reading.columns import read_column
from manyveils.reading.domains import Domain, domains_of
from manyveils.reading.keys import Floats
from manyveils.reading.views import PublishedView, Tuples
from manyveils.release import Release, View
from manyveils.table import Table

Answer = TypeVar("Answer")


@dataclass(frozen=True, repr=False)
class Step:
    """A view that adds attributes: `new` ones given `known`, which `parent` (the number of an earlier step) has all.

    `parent` is None where nothing is known, and -1 where no single earlier view has all of `known`.
    """

    view: PublishedView
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
    views: tuple[PublishedView, ...]
    steps: tuple[Step, ...]
    n_people: int
    _answers: dict[object, object] = field(default_factory=dict)

    def remembered(self, question: object, answer: Callable[[], Answer]) -> Answer:
        """Answer a question once, for many queries."""
        if question not in self._answers:
            self._answers[question] = answer()
        return cast(Answer, self._answers[question])

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
        both = step.view.mass({name: tuples[name] for name in (*step.new, *step.known)}, n_tuples, {})
        if not step.known:
            return both
        known = step.view.mass({name: tuples[name] for name in step.known}, n_tuples, {})
        is_unknown = known <= 0
        result = np.divide(both, known, out=np.zeros(n_tuples), where=~is_unknown)
        if is_unknown.any():
            alone = {name: tuples[name][is_unknown] for name in step.new}
            result[is_unknown] = step.view.mass(alone, int(is_unknown.sum()), {})
        return result


def estimate_of(
    release: Release, table: Table | None = None, more: Mapping[str, set[str]] | None = None
) -> Estimate:
    """Read the distribution off a release; `table` and `more` have originals that lie between the ends of ranges."""
    domains = domains_of(release, table)
    domains |= {name: domains[name].with_texts(texts) for name, texts in (more or {}).items()}
    views = [_read_view(release, view, domains) for view in release.views]
    return Estimate(domains, tuple(views), tuple(_steps(views)), release.rows + release.suppressed)


def _read_view(release: Release, view: View, domains: Mapping[str, Domain]) -> PublishedView:
    # An attribute that stands in several columns is read off the first: columns are independent.
    read: set[str] = set()
    columns = []
    for file in view.files:
        names = tuple(name for name in file.attributes if name not in read)
        read |= {*names}
        columns.append(read_column(release, view, file, domains, names))
    n_buckets = max((int(column.buckets.max(initial=-1)) for column in columns), default=-1) + 1
    return PublishedView(view.name, tuple(columns), view.rows, n_buckets)


def _steps(views: list[PublishedView]) -> Iterator[Step]:
    """Order views so that each shares as much as it can with those before it; views that add nothing are left out."""
    before: list[PublishedView] = []
    known: set[str] = set()
    left = list(views)
    while left:
        view = max(left, key=lambda view: (len(known & {*view.attributes}), len({*view.attributes} - known)))
        left.remove(view)
        new = tuple(dict.fromkeys(name for name in view.attributes if name not in known))
        shared = tuple(dict.fromkeys(name for name in view.attributes if name in known))
        if not new:
            continue
        holders = [number for number, holder in enumerate(before) if {*shared} <= {*holder.attributes}]
        yield Step(view, new, shared, (holders[0] if holders else -1) if shared else None)
        before.append(view)
        known |= {*new}
