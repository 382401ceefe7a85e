"""Projected tables by full-domain generalization: every node is judged once, for every attribute."""

from functools import cache, partial

import numpy as np

from manyveils.methods.codip.anonymized import Anonymized, closeness, linked, watched
from manyveils.methods.codip.anonymizer import Names
from manyveils.methods.generalize.full_domain import refuse_wide
from manyveils.methods.generalize.lattice import Counted, Lattice, Node, count_base
from manyveils.methods.generalize.nodes import Passed, Test, highest, lowest, passing
from manyveils.methods.generalize.objectives import Loss, squares
from manyveils.policy.guarantees import KAnonymity
from manyveils.promises.entries import Entries
from manyveils.promises.keeping import Watch, kept, watch_counts
from manyveils.promises.work import Work

MOST_NODES = 200_000


class FullDomain:
    """Nodes of one lattice for all projected tables; each is counted once and every candidate table looks it up."""

    def __init__(self, work: Work, discernibility: float | None) -> None:
        refuse_wide(work, MOST_NODES, instead='anonymizer = "mondrian"')
        self._work = work
        plain = tuple(p for p in work.promises if not p.minds_company)
        self._plain, self._gauges = watched(work, plain)
        self._conditional = tuple(p for p in work.promises if p.minds_company)
        columns = tuple(work.table[name] for name in work.quasi)
        watches = (*self._plain, *self._gauges.values())
        self._base, _ = count_base(columns, work.counts(work.quasi), watches)
        self._lattice = Lattice(columns, self._base)
        self._loss = Loss(self._lattice)
        self._fits = cache(self._fits_fresh)
        self._coarsest = cache(self._coarsest_fresh)
        self._closeness_at = cache(self._closeness_fresh)
        self._judge(discernibility)

    def _judge(self, discernibility: float | None) -> None:
        """Find the nodes that may be published at all, and among them those that suit each promise."""
        rows = [each for each in self._plain if isinstance(each.promise.guarantee, KAnonymity)]
        tests = [Test(partial(_keeps, each, self._place(each)), rises=True) for each in rows]
        if discernibility is not None:
            tests.append(_no_coarser(discernibility))
        progress = partial(self._work.progress, "judging the lattice")
        everywhere = np.ones(self._lattice.shape, dtype=bool)
        self._open = _all([everywhere, *passing(self._lattice, tests, everywhere, progress)])
        values = [each for each in self._plain if each not in rows]
        tests = [_test_of(each, self._place(each)) for each in values]
        suited = passing(self._lattice, tests, self._open, progress)
        self._suited = [
            (frozenset(each.promise.protects), nodes) for each, nodes in zip(values, suited, strict=True)
        ]

    def _place(self, each: Watch) -> int:
        return next(place for place, other in enumerate(self._plain) if other is each)

    def _nodes_for(self, names: Names) -> Passed:
        """The nodes at which a table with these sensitive attributes keeps every promise."""
        nodes = self._open.copy()
        for protects, suited in self._suited:
            if protects <= set(names):
                nodes &= suited
        promises = tuple(p for p in self._conditional if set(p.protects) <= set(names))
        if not promises or not nodes.any():
            return nodes
        # What is known depends on the table's other attributes, so it is counted for this table alone.
        columns, work = self._lattice.columns, self._work
        watches = watch_counts(work, promises, names, work.quasi)
        base, _ = count_base(columns, work.counts(work.quasi), watches)
        tests = [_test_of(each, place) for place, each in enumerate(watches)]
        return _all([nodes, *passing(Lattice(columns, base), tests, nodes)])

    @property
    def looks_up(self) -> bool:
        """Whether tables are judged from what is known already; not so where promises depend on the table."""
        return not self._conditional

    def fits(self, names: Names) -> bool:
        """Whether a table with these sensitive attributes can keep every promise within the limit."""
        return self._fits(names)

    def _fits_fresh(self, names: Names) -> bool:
        return bool(self._nodes_for(names).any())

    def anonymized(self, names: Names) -> Anonymized:
        """The table at the node that loses least, among those that keep every promise."""
        node = min(lowest(self._nodes_for(names)), key=lambda node: (float(self._loss.floor[node]), node))
        counted, _ = self._lattice.roll(self._base, node)
        return Anonymized(
            counted.sizes,
            {name: self._closeness_at(node, name) for name in names},
            {name: linked(self._gauges[name], self._entries(counted, name), counted.sizes) for name in names},
            levels=dict(zip(self._work.quasi, node, strict=True)),
        )

    def best_closeness(self, names: Names, discernibility: float | None) -> float | None:
        """The least closeness that a table of large enough classes can reach without being coarser than told.

        Distances never grow on the way up, so only the coarsest such nodes need a look.
        """
        return min(
            (
                max((self._closeness_at(node, name) for name in names), default=0.0)
                for node in self._coarsest(discernibility)
            ),
            default=None,
        )

    def _coarsest_fresh(self, discernibility: float | None) -> list[Node]:
        if discernibility is None:
            return highest(self._open)
        [within] = passing(self._lattice, [_no_coarser(discernibility)], self._open)
        return highest(within)

    def _closeness_fresh(self, node: Node, name: str) -> float:
        counted = self._lattice.at(node)
        return closeness(self._gauges[name], self._entries(counted, name), counted.sizes)

    def _entries(self, counted: Counted, name: str) -> Entries:
        entries = counted.entries[len(self._plain) + list(self._gauges).index(name)]
        assert entries is not None
        return entries


def _all(grids: list[Passed]) -> Passed:
    return np.asarray(np.logical_and.reduce(grids))


def _no_coarser(discernibility: float) -> Test:
    return Test(lambda counted: squares(counted.sizes) <= discernibility, rises=False)


def _test_of(each: Watch, place: int) -> Test:
    return Test(partial(_keeps, each, place), rises=True if each.promise.merging_keeps else None)


def _keeps(each: Watch, place: int, counted: Counted) -> bool:
    entries = None if each.subject is None else counted.entries[place]
    return bool(kept(each, entries, counted.sizes).all())
