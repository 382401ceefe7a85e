"""Two ways to anonymize the projected table of any sensitive attributes; both say first whether they can.

`looks_up` says whether asking for one more table costs next to nothing, `fits` whether a table can keep every promise
within the discernibility limit, and `best_closeness` what closeness can be reached; `anonymized` makes the table.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from manyveils.methods.generalize.full_domain import refuse_wide
from manyveils.methods.generalize.labels import cut_table, label_groups
from manyveils.methods.generalize.lattice import Counted, Lattice, Node, Passed, lattice_of
from manyveils.methods.generalize.objectives import Loss, squares
from manyveils.methods.generalize.passing import Test, highest, lowest, passing
from manyveils.policy import Promise
from manyveils.policy.guarantees import Closeness, Ground, LeastSize, SupersetCloseness, exact
from manyveils.promises.crowds import Crowd
from manyveils.promises.decisions import distances
from manyveils.promises.entries import Entries, Ids
from manyveils.promises.explain import breaks_as_one_group
from manyveils.promises.headcounts import headcount
from manyveils.promises.keeping import Watch, count_for, kept, tallied, watch, watch_counts, watch_each_count
from manyveils.promises.sightings import about_constants, sightings_of
from manyveils.promises.work import Work
from manyveils.release import Recoding

Names = tuple[str, ...]
MOST_NODES = 200_000


@dataclass(frozen=True)
class Gauged:
    """The largest distance of a group from the whole table, and the confidence with which a value can be named.

    `share` is the confidence in the worst group. `bound` is what bounds it: in a group of n rows with l different
    values none has more than n - l + 1. Persons with several rows may all have one value beside others: their bound is 1.
    """

    closeness: float
    share: float
    bound: float
    fewest_values: int


@dataclass(frozen=True, repr=False)
class Anonymized:
    """What is published of the quasi-identifiers beside the sensitive attributes that are gauged."""

    sizes: Ids
    gauged: Mapping[str, Gauged]
    recodings: Mapping[str, Recoding] = field(repr=False, default_factory=dict)
    levels: Mapping[str, int] | None = None

    @property
    def discernibility(self) -> int:
        """The sum of squared group sizes."""
        return squares(self.sizes)

    @property
    def smallest(self) -> int:
        """The rows of the smallest group."""
        return int(self.sizes.min(initial=self.sizes.max(initial=0)))

    @property
    def closeness(self) -> float:
        """The largest distance of any attribute."""
        return max((gauged.closeness for gauged in self.gauged.values()), default=0.0)


def watch_gauges(work: Work, promises: tuple[Promise, ...]) -> tuple[tuple[Watch, ...], dict[str, Watch]]:
    """Promises, and a gauge of closeness for every sensitive attribute, by the ground that the policy names or its
    natural one; what they have in common is counted once.
    """
    gauges = tuple(
        Promise(Closeness(exact(1), _ground(work, name)), (), (name,), _insensitive(work, name))
        for name in work.sensitive
    )
    watches = watch_each_count(work, (*promises, *gauges), (), work.quasi)
    return watches[: len(promises)], dict(zip(work.sensitive, watches[len(promises) :], strict=True))


def _ground(work: Work, name: str) -> Ground:
    for promise in work.promises:
        if promise.protects == (name,) and isinstance(promise.guarantee, Closeness | SupersetCloseness):
            return promise.guarantee.ground
    return "equal" if work.table[name].kind == "categorical" else "ordered"


def _insensitive(work: Work, name: str) -> frozenset[str]:
    """Values that need no protection; not having a value of a multi-valued attribute needs none."""
    insensitive = work.policy.attributes[work.table.home(name)].insensitive
    atom = work.table.atom(name)
    if atom is None:
        return frozenset(insensitive)
    return frozenset({"0", "1"} if atom in insensitive else {"0"})


def closeness(gauge: Watch, entries: Entries | Crowd | None, sizes: Ids) -> float:
    """The largest distance of any group from the whole table."""
    assert isinstance(gauge.promise.guarantee, Closeness)
    assert entries is not None
    distance, scale = distances(gauge.promise.guarantee.ground, tallied(gauge, entries, sizes)[0])
    return float((distance / scale).max(initial=0.0))


def gauged_by(gauge: Watch, entries: Entries | Crowd | None, sizes: Ids) -> Gauged:
    """What a gauge measures over all groups."""
    assert entries is not None
    tally, _ = tallied(gauge, entries, sizes)
    n_values = np.bincount(tally.owners, minlength=sizes.size)
    bound = float(((sizes - n_values + 1) / sizes).max(initial=0.0)) if tally.crowd is None else 1.0
    return Gauged(
        closeness(gauge, entries, sizes),
        float((tally.of_sensitive().largest()[:, 0] / tally.sizes).max(initial=0.0)),
        bound,
        int(n_values.min(initial=n_values.max(initial=0))),
    )


class FullDomain:
    """Nodes of one lattice for all projected tables; each is counted once and every candidate table looks it up."""

    def __init__(self, work: Work, discernibility: float | None) -> None:
        refuse_wide(work, MOST_NODES, instead='anonymizer = "mondrian"')
        self._work = work
        self._conditional = tuple(promise for promise in work.promises if promise.minds_company)
        plain = tuple(promise for promise in work.promises if not promise.minds_company)
        watches, self._gauges = watch_gauges(work, plain)
        self._first_gauge = len(watches)
        columns = tuple(work.table[name] for name in work.quasi)
        self._lattice = lattice_of(columns, work.counts(work.quasi), (*watches, *self._gauges.values()))
        self._loss = Loss(self._lattice)
        self._constant = about_constants(work.policy, work.table, work.promises)
        self._seen = cache(lambda promise, known: sightings_of((promise,), work.table, known))
        self._is_safe = cache(self._safe)
        self.fits = cache(lambda names: bool(self._nodes_for(names).any()))
        self._coarsest = cache(self._coarsest_nodes)
        self._closeness_at = cache(self._closeness)
        self._judge(watches, discernibility)

    def _judge(self, watches: tuple[Watch, ...], discernibility: float | None) -> None:
        """Find the nodes that may be published at all, and among them those that suit each promise."""
        judged = partial(passing, progress=partial(self._work.progress, "judging the lattice"))
        tests = {
            watched.promise: _test_of(self._lattice, watched, number)
            for number, watched in enumerate(watches)
        }
        about_values = [promise for promise in tests if not isinstance(promise.guarantee, LeastSize)]
        about_rows = [test for promise, test in tests.items() if promise not in about_values]
        about_rows += _no_coarser(discernibility)
        everywhere = np.ones(self._lattice.shape, dtype=bool)
        self._open = _all([everywhere, *judged(self._lattice, about_rows, everywhere)])
        suited = judged(self._lattice, [tests[promise] for promise in about_values], self._open)
        self._suited = list(zip(about_values, suited, strict=True))

    def _nodes_for(self, names: Names) -> Passed:
        """The nodes at which a table with these sensitive attributes keeps every promise."""
        suited = [nodes for promise, nodes in self._suited if set(promise.protects) <= set(names)]
        nodes = self._safe_nodes(names, _all([self._open, *suited]))
        promises = tuple(promise for promise in self._conditional if set(promise.protects) <= set(names))
        if not promises or not nodes.any():
            return nodes
        # What is known depends on the table's other attributes, so it is counted for this table alone.
        columns, work = self._lattice.columns, self._work
        watches = watch_counts(work, promises, names, work.quasi)
        lattice = lattice_of(columns, work.counts(work.quasi), watches)
        tests = [_test_of(lattice, watched, number) for number, watched in enumerate(watches)]
        return _all([nodes, *passing(lattice, tests, nodes)])

    def _safe_nodes(self, names: Names, nodes: Passed) -> Passed:
        """Those of some nodes at which the groups of each person together keep what is promised of what does not change."""
        for promise in self._constant:
            if set(promise.protects) <= set(names):
                about = promise, names if promise.conditional else ()
                safe = [self._is_safe(*about, tuple(node.tolist())) for node in np.argwhere(nodes)]
                nodes = nodes.copy()
                nodes[nodes] = safe
        return nodes

    def _safe(self, promise: Promise, known: Names, node: Node) -> bool:
        seen = self._seen(promise, known)
        assert seen is not None
        owners = self._lattice.owners_of_rows(node)
        return not seen.unsafe(owners, int(owners.max(initial=-1)) + 1, 0).any()

    @property
    def looks_up(self) -> bool:
        """Whether tables are judged from what is known already; not so where promises depend on the table."""
        return not self._conditional

    def anonymized(self, names: Names) -> Anonymized:
        """The table at the node that loses least, among those that keep every promise."""
        node = min(lowest(self._nodes_for(names)), key=lambda node: (float(self._loss.floor[node]), node))
        counted = self._lattice.roll(self._lattice.base, node)
        gauges = dict(zip(self._gauges, counted.entries[self._first_gauge :], strict=True))
        return Anonymized(
            counted.sizes,
            {name: gauged_by(self._gauges[name], gauges[name], counted.sizes) for name in names},
            levels=dict(zip(self._work.quasi, node, strict=True)),
        )

    def best_closeness(self, names: Names, discernibility: float | None) -> float | None:
        """The least closeness that a table of large enough groups can reach without being coarser than told.

        Distances never grow on the way up, so only the coarsest such nodes need a look; those of persons with several
        rows may, and then it is what these nodes reach.
        """
        nodes = self._coarsest(discernibility)
        worst = (max((self._closeness_at(node, name) for name in names), default=0.0) for node in nodes)
        return min(worst, default=None)

    def _coarsest_nodes(self, discernibility: float | None) -> list[Node]:
        return highest(_all([self._open, *passing(self._lattice, _no_coarser(discernibility), self._open)]))

    def _closeness(self, node: Node, name: str) -> float:
        # Of many attributes each is looked at by itself.
        entries = self._lattice.subject_at(node, self._first_gauge + list(self._gauges).index(name))
        return closeness(self._gauges[name], entries, self._lattice.at(node).sizes)


def _all(grids: list[Passed]) -> Passed:
    return np.asarray(np.logical_and.reduce(grids))


def _no_coarser(discernibility: float | None) -> list[Test]:
    if discernibility is None:
        return []
    return [Test(lambda counted: squares(counted.sizes) <= discernibility, rises=False)]


def _test_of(lattice: Lattice, watched: Watch, number: int) -> Test:
    """Whether all groups of a node keep a promise; `number` is that of its counts among the entries."""

    def holds(counted: Counted) -> bool:
        # Entries are counted when they are asked for.
        entries = None if watched.subject is None else counted.entries[number]
        return bool(kept(watched, entries, counted.sizes).all())

    if lattice.persons is None:
        return Test(holds, rises=True if watched.merging_keeps else None)
    promised = headcount(lattice.persons, (watched,))

    def holds_for_persons(counted: Counted) -> bool:
        return bool(promised.kept(lattice.owners_of_rows(counted.node), counted.sizes.size).all())

    return Test(holds_for_persons, rises=True if watched.merging_keeps else None)


class Mondrian:
    """Groups that are cut for each projected table by itself, when its size or the table itself is needed."""

    def __init__(self, work: Work, discernibility: float | None) -> None:
        self._work = work
        self._limit = discernibility
        _, self._gauges = watch_gauges(work, ())
        self._squares = cache(lambda promises, known: squares(np.bincount(self._cut(promises, known))))
        self.anonymized = cache(self._anonymized)

    @property
    def looks_up(self) -> bool:
        """Whether a table need not be cut to tell whether it fits."""
        return self._limit is None and not any(promise.minds_company for promise in self._work.promises)

    def _known(self, names: Names) -> tuple[tuple[Promise, ...], Names]:
        """What decides how a table is cut: its promises, and its attributes if some promise takes them as known."""
        promises = tuple(promise for promise in self._work.promises if set(promise.protects) <= set(names))
        return promises, names if any(promise.minds_company for promise in promises) else ()

    def _cut(self, promises: tuple[Promise, ...], known: Names) -> Ids:
        if not self._work.quasi:
            return np.zeros(self._work.table.n_rows, dtype=np.int64)
        return cut_table(self._work, promises, known, labels="auto", relaxed=True)

    def fits(self, names: Names) -> bool:
        """Whether a table with these sensitive attributes can keep every promise within the limit."""
        promises, known = self._known(names)
        if breaks_as_one_group(watch(promises, self._work.table, known), self._work.table.n_rows):
            return False
        return self._limit is None or self._squares(promises, known) <= self._limit

    def _anonymized(self, names: Names) -> Anonymized:
        """The table with its groups' own ranges and sets."""
        groups = self._cut(*self._known(names))
        sizes = np.bincount(groups)
        gauges = tuple(self._gauges[name] for name in names)
        counted = zip(names, gauges, count_for(gauges, groups, sizes.size), strict=True)
        gauged = {name: gauged_by(gauge, entries, sizes) for name, gauge, entries in counted}
        return Anonymized(sizes, gauged, label_groups(self._work, groups, "auto", self._work.quasi))

    def best_closeness(self, names: Names, discernibility: float | None) -> float | None:
        """Always None, since Mondrian does not search for the closest groups."""
        return None


Anonymizer = FullDomain | Mondrian
