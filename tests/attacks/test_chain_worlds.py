"""What all releases of a chain tell together: against every world written out in plain Python."""

import time
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks import attack
from manyveils.attacks.adversaries import Reader
from manyveils.attacks.chain import Follower
from manyveils.attacks.people import members
from manyveils.attacks.worlds import Limits, Sighted, shared
from manyveils.release import Draft, seal
from manyveils.table import Streams, hold
from manyveils.table.earlier import Earlier, Held

VALUES = "uvw"
EXACT = Limits()
SOLVED, BOUNDED, FITTED = (
    Limits(counted=0),
    Limits(counted=0, exact=0),
    Limits(counted=0, exact=0, linear=0),
)
many = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@dataclass(frozen=True)
class History:
    """Who was in which groups of each release, oldest first, what everybody has, and who was forgotten of the earlier ones."""

    releases: tuple[dict[str, frozenset[int]], ...]
    values: tuple[tuple[str, ...], ...]
    held_back: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()

    @property
    def here(self):
        """Who has rows in the newest table."""
        return sorted(frozenset().union(*self.releases[-1].values()) | self.held_back)


def worlds_of(individuals, counts):
    """Every way to give each individual one value so that all groups have their counts; individuals are sets of groups."""

    def go(number, left):
        if number == len(individuals):
            if not any(any(own.values()) for own in left.values()):
                yield ()
            return
        for value in VALUES:
            groups = individuals[number]
            if all(left[group][value] > 0 for group in groups):
                after = {group: Counter(own) for group, own in left.items()}
                for group in groups:
                    after[group][value] -= 1
                for rest in go(number + 1, after):
                    yield (value, *rest)

    return go(0, counts)


def oracle(history, attribute):
    """The share of each value over all worlds for everybody who is in some group; who is in none is like the newest release."""
    groups_of, ghosts = {}, []
    for number, release in enumerate(history.releases):
        for name, inside in release.items():
            for person in inside:
                if person in history.forgotten and number < len(history.releases) - 1:
                    ghosts.append((person, (number, name)))
                else:
                    groups_of.setdefault(person, set()).add((number, name))
    # Nobody can tell that sightings of a forgotten person are of the same one.
    persons = sorted(groups_of)
    individuals = [groups_of[person] for person in persons] + [{group} for _, group in ghosts]
    counts = {
        (number, name): Counter(history.values[person][attribute] for person in inside)
        for number, release in enumerate(history.releases)
        for name, inside in release.items()
    }
    total, tallies = 0, [Counter() for _ in individuals]
    for world in worlds_of(individuals, counts):
        total += 1
        for own, value in zip(tallies, world, strict=True):
            own[value] += 1
    found = {
        person: {value: Fraction(n, total) for value, n in own.items()}
        for person, own in zip(persons, tallies, strict=False)
    }
    last = Counter(history.values[p][attribute] for p in frozenset().union(*history.releases[-1].values()))
    for person in history.here:
        found.setdefault(person, {value: Fraction(n, last.total()) for value, n in last.items()})
    return found


@st.composite
def histories(draw, n_attributes=1):
    """Up to 12 people, who join, leave and come back over up to 3 releases, in groups that are drawn."""
    n = draw(st.integers(3, 12))
    releases = []
    for number in range(draw(st.integers(2, 3))):
        is_last = number == 2
        groups = {}
        for person in range(n):
            place = draw(st.integers(0, 4))
            for name in {"a": [0, 3], "b": [1, 3] if is_last else [1], "c": [2]}.items():
                if place in name[1]:
                    groups.setdefault(name[0], set()).add(person)
        releases.append({name: frozenset(inside) for name, inside in groups.items()})
    if not releases[-1]:
        releases[-1] = {"a": frozenset({0})}
    values = tuple(tuple(draw(st.sampled_from(VALUES)) for _ in range(n_attributes)) for _ in range(n))
    here = frozenset().union(*releases[-1].values())
    left = sorted(frozenset(range(n)) - here)
    held_back = draw(st.frozensets(st.sampled_from(left), max_size=1)) if left else frozenset()
    forgotten = draw(st.frozensets(st.integers(0, n - 1), max_size=1))
    return History(tuple(releases), values, held_back, forgotten)


def policy_of(n_attributes=1, **more):
    """A quasi-identifier and sensitive attributes that do not change."""
    attributes = {"who": {"role": "identifier"}, "q": {"role": "quasi", "kind": "categorical"}}
    sensitive = {"role": "sensitive", "kind": "categorical", "constant": True}
    attributes |= {f"s{number}": sensitive for number in range(n_attributes)}
    return mv.Policy(attributes=attributes, data={"person": "who"}, **more)


def published(history, policy):
    """The newest release of a history as rows that read alike, and its table beside the earlier ones."""
    rows = [(person, name) for name, inside in history.releases[-1].items() for person in sorted(inside)]
    rows += [(person, "z") for person in sorted(history.held_back)]
    n_attributes = len(history.values[0])
    columns = {"who": [str(number) for number in range(len(rows))], "q": [name for _, name in rows]}
    columns |= {f"s{i}": [history.values[person][i] for person, _ in rows] for i in range(n_attributes)}
    table, restore = hold(pl.DataFrame(columns), policy)
    here = history.here
    numbers = np.array([here.index(person) for person, _ in rows])
    table = replace(table, persons=numbers, earlier=earlier_of(history, table))
    shown = np.arange(len(rows) - len(history.held_back))
    draft = Draft("main", (("q", *(f"s{i}" for i in range(n_attributes))),), shown, None, {})
    return seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0)), table


def earlier_of(history, table):
    """The sightings of all releases but the newest, by hand, beside a group that no release shows."""
    here = history.here
    gone = sorted(
        person
        for person in frozenset().union(
            *(own for release in history.releases[:-1] for own in release.values())
        )
        if person not in here and person not in history.forgotten
    )
    number_of = {person: number for number, person in enumerate([*here, *gone])}
    pairs, release_of, cells = [], [], []
    for number, release in enumerate(history.releases[:-1]):
        for inside in release.values():
            group = len(release_of)
            release_of.append(number)
            pairs += [(number_of[person], group) for person in inside - history.forgotten]
            cells.append([history.values[person] for person in sorted(inside)])
    derived = len(release_of)
    pairs += [(number, derived) for number in number_of.values()]
    persons, groups = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2).T
    held = {f"s{i}": held_of(cells, i, derived, table) for i in range(len(history.values[0]))}
    is_shown = np.arange(derived + 1) < derived
    hashes = pl.Series([str(person).encode() for person in number_of], dtype=pl.Binary)
    return Earlier(hashes, persons, groups, np.array([*release_of, 0]), is_shown, held)


def held_of(cells, attribute, derived, table):
    """What groups have of an attribute; the group that no release shows has what is not true."""
    texts = table[f"s{attribute}"].texts
    texts = [*texts, *(value for value in VALUES if value not in texts)]
    counted = [Counter(texts.index(own[attribute]) for own in group) for group in cells]
    lines = [(group, code, n) for group, own in enumerate(counted) for code, n in sorted(own.items())]
    lines.append((derived, 0, 5))
    groups, codes, weights = zip(*lines, strict=True)
    weights = np.array(weights, dtype=np.float64)
    return Held(np.array(groups), np.array(codes), weights, weights, len(texts))


def believed(follower, table, attribute):
    """The belief in each value, for every person of the table."""
    people = members(table, 10**6, np.random.default_rng(0))
    name = f"s{attribute}"
    beliefs = follower.beliefs(people, ("q",), name)
    texts = [*table[name].texts, *(value for value in VALUES if value not in table[name].texts)]
    dense = beliefs.of(np.arange(people.n)).dense()
    found = {}
    for row, person in enumerate(table.persons.tolist()):
        own = {value: belief for value, belief in zip(texts, dense[row], strict=False) if belief > 0}
        found.setdefault(person, own)
        assert own == found[person]
    return found


@many
@given(history=histories())
def test_beliefs_are_shares_of_worlds(history):
    """Every belief and every certainty is what counting all worlds gives, for people who joined, left, came back or are forgotten."""
    policy = policy_of()
    release, table = published(history, policy)
    truth = oracle(history, 0)
    follower = Follower(Reader(release, table, policy), frozenset({"s0"}), EXACT)
    found = believed(follower, table, 0)
    for number, person in enumerate(history.here):
        assert found[number] == pytest.approx({v: float(b) for v, b in truth[person].items()})
    worlds = follower.shared(("q",), "s0")
    assert (worlds.beliefs, worlds.certainty) == ("exact", "exact")
    assert worlds.is_counted.all()


@many
@given(history=histories(n_attributes=2))
def test_the_attack_counts_what_worlds_tell(history):
    """The attack's numbers are those of counting all worlds, for everybody and for those who are gone."""
    policy = policy_of(2)
    release, table = published(history, policy)
    found = attack(release, table, policy, only=["sequential"], streams=Streams(1))["sequential"]
    assert found.how == "exact"
    certain, gone, broken = 0, 0, 0
    last = frozenset().union(*history.releases[-1].values())
    never = set(history.here) - {p for release in history.releases for own in release.values() for p in own}
    for attribute in range(2):
        codes = [history.values[person][attribute] for person in history.here]
        share = {value: Fraction(codes.count(value), len(codes)) for value in VALUES}
        for person, beliefs in oracle(history, attribute).items():
            value = history.values[person][attribute]
            belief = beliefs.get(value, 0)
            if person in history.here:
                certain += belief == 1 > share[value]
                broken += belief > max((1 + share[value]) / 2, share[value])
            if person not in last | history.forgotten and person not in never:
                gone += any(belief == 1 > share[own] for own, belief in beliefs.items())
    assert found.certain == certain
    assert found.broken == broken
    assert found.details["certain_gone"] == gone


@many
@given(history=histories(), limits=st.sampled_from([SOLVED, BOUNDED, FITTED]))
def test_what_is_not_counted_excludes_no_world(history, limits):
    """With solvers certainty is that of all worlds; with bounds and fits nothing is excluded that some world has."""
    policy = policy_of()
    release, table = published(history, policy)
    truth = oracle(history, 0)
    follower = Follower(Reader(release, table, policy), frozenset({"s0"}), limits)
    found, worlds = believed(follower, table, 0), follower.shared(("q",), "s0")
    for number, person in enumerate(history.here):
        assert set(found[number]) >= set(truth[person])
        if worlds.certainty == "exact":
            assert set(found[number]) == set(truth[person])
    assert worlds.certainty == "exact" or limits is not SOLVED


def sequential(release, table, policy, **more):
    """The outcome of the attack on a chain."""
    return attack(release, table, policy, only=["sequential"], streams=Streams(1), **more)["sequential"]


FIRST = {"a": frozenset({0, 1, 2}), "b": frozenset({3, 4, 5})}
JOINED = {
    # Somebody new in an old bucket has what the bucket did not have before.
    "one joins": (FIRST | {"b": frozenset({3, 4, 5, 6})}, 1),
    # So has somebody who moves, and then she who takes her place.
    "one moves": ({"a": frozenset({0, 1, 2, 3}), "b": frozenset({4, 5, 6})}, 2),
    "three join": (FIRST | {"c": frozenset({6, 7, 8})}, 0),
    "two leave": ({"a": frozenset({0}), "b": frozenset({3, 4, 5, 6, 7, 8})}, 1),
    # What she had whom somebody replaced is what the bucket has no more.
    "one is replaced": ({"a": frozenset({0, 1, 6}), "b": frozenset({3, 4, 5})}, 1),
}


@pytest.mark.parametrize("name", JOINED)
def test_two_releases_by_anatomy(name):
    """Three values in each bucket of each release protect all, and both together only if newcomers have their own bucket."""
    second, certain = JOINED[name]
    history = History((FIRST, second), tuple((value,) for value in "uvwuvwuvw"))
    policy = policy_of(guarantee={"l": 2, "l_kind": "frequency"})
    release, table = published(history, policy)
    found = sequential(release, table, policy)
    truth = oracle(history, 0)
    assert found.how == "exact"
    assert found.details["constant_attributes"] == 1
    assert found.certain == sum(truth[p][history.values[p][0]] == 1 for p in history.here)
    assert found.certain == found.promised == certain
    assert found.details["certain_with_one"] == (name == "two leave")
    assert found.details["certain_gone"] == (name == "one is replaced")


@many
@given(data=st.data())
def test_groups_that_cross_within_a_release(data):
    """Somebody in many groups of one release, as people with several rows are, is counted like anybody else."""
    n, n_groups = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 6))
    groups_of = [data.draw(st.frozensets(st.integers(0, n_groups - 1), min_size=1)) for _ in range(n)]
    values = [data.draw(st.integers(0, 2)) for _ in range(n)]
    counts = {group: Counter() for group in range(n_groups)}
    for own, value in zip(groups_of, values, strict=True):
        for group in own:
            counts[group][VALUES[value]] += 1
    every = list(worlds_of(groups_of, counts))
    pairs = np.array([(person, group) for person in range(n) for group in sorted(groups_of[person])]).T
    cells = [(g, VALUES.index(v), k) for g, own in counts.items() for v, k in own.items()]
    of, codes, weights = map(np.array, zip(*cells, strict=True))
    release_of = np.zeros(n_groups, dtype=np.int64)
    found = shared(Sighted(*pairs, n, of, codes, weights.astype(float), 3, release_of), EXACT)
    dense = found.rows.dense()[found.set_of]
    for person in range(n):
        share = [sum(world[person] == value for world in every) / len(every) for value in VALUES]
        assert dense[person].tolist() == pytest.approx(share)


def test_parts_of_persons_are_estimated():
    """Where a group counts parts of persons, as labels that cover several values do, beliefs are fitted and say so."""
    sighted = Sighted(
        np.array([0, 1, 1, 2]),
        np.array([0, 0, 1, 1]),
        3,
        np.array([0, 0, 1, 1]),
        np.array([0, 1, 0, 1]),
        np.array([0.5, 1.5, 1.0, 1.0]),
        2,
        np.array([0, 1]),
    )
    found = shared(sighted, EXACT)
    assert (found.beliefs, found.certainty) == ("estimate", "estimate")
    assert not found.is_counted.any()
    dense = found.rows.dense()[found.set_of]
    assert dense[:2, 0].sum() == pytest.approx(0.5, abs=0.01)
    assert dense[1:, 0].sum() == pytest.approx(1.0, abs=0.01)


def test_groups_that_contradict_each_other():
    """If no value fits all groups that somebody is in, she is believed to be as the newest release shows."""
    history = History(({"a": frozenset({0})}, {"a": frozenset({0, 1})}), (("u",), ("v",)))
    policy = policy_of()
    release, table = published(history, policy)
    held = table.earlier.held["s0"]
    changed = replace(held, codes=np.array([2, *held.codes[1:]]))
    table = replace(table, earlier=replace(table.earlier, held={"s0": changed}))
    follower = Follower(Reader(release, table, policy), frozenset({"s0"}), EXACT)
    assert believed(follower, table, 0)[0] == pytest.approx({"u": 0.5, "v": 0.5})


def test_where_the_newest_release_does_not_say_who_stands_where():
    """Then what it says of somebody and what the earlier ones say are multiplied, which is an estimate."""
    before, now = {"a": frozenset({0, 1}), "b": frozenset({2, 3, 4})}, {"a": frozenset(range(5))}
    history, policy = History((before, now), tuple("uvvwv")), policy_of()
    frame = pl.DataFrame({"who": list("01234"), "q": list("xyxyy"), "s0": list("uvvwv")})
    table, restore = hold(frame, policy)
    draft = Draft("main", (("q",), ("s0",)), np.arange(5), np.array([0, 0, 1, 1, 1]), {})
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0))
    table = replace(table.of_persons(), earlier=earlier_of(history, table))
    release.placements = {}
    follower = Follower(Reader(release, table, policy), frozenset({"s0"}), EXACT)
    assert not follower.is_told("s0")
    # Before u or v, each 1/2; now u 1/4 and v 7/12 over both buckets, where u is 1/5 and v 3/5 of all.
    assert believed(follower, table, 0)[0] == pytest.approx({"u": 9 / 16, "v": 7 / 16})
    assert sequential(release, table, policy).how == "estimate"


def test_further_releases_beside_a_chain():
    """A release that belongs to no chain adds to what the chain says, and the chain's own releases add nothing twice."""
    history = History((FIRST, FIRST), tuple((value,) for value in "uvwuvw"))
    policy = policy_of(guarantee={"l": 2, "l_kind": "frequency"})
    release, table = published(history, policy)
    chain = sequential(release, table, policy, others=[release])
    assert (chain.details["releases"], chain.certain, chain.how) == (2, 0, "exact")
    frame = pl.DataFrame({"who": list("012345"), "q": list("aaabbb"), "s0": list("uvwuvw")})
    own, restore = hold(frame.filter(pl.col("s0") != "w"), policy)
    apart = seal(
        [Draft("main", (("q", "s0"),), np.arange(4), None, {})],
        own,
        policy,
        restore,
        notes={},
        rng=np.random.default_rng(0),
    )
    found = sequential(release, table, policy, others=[apart, release])
    assert (found.details["releases"], found.how) == (3, "estimate")
    assert found.success >= chain.success


def generations(n, n_releases, size, n_values, *, churn=0.1, keeps=False, seed=1):
    """A chain in which some leave and as many come each time; groups are drawn anew, or people stay together."""
    rng = np.random.default_rng(seed)
    here, n_persons, parts, n_groups = np.arange(n), n, [], 0
    values = rng.integers(0, n_values, n + n_releases * n)
    for release in range(n_releases):
        order = here if keeps else rng.permutation(here)
        groups = order // size if keeps else np.arange(order.size) // size
        groups = np.unique(groups, return_inverse=True)[1] + n_groups
        cells, counts = np.unique(groups * n_values + values[order], return_counts=True)
        n_groups = int(groups.max()) + 1
        parts.append((order, groups, cells // n_values, cells % n_values, counts.astype(float)))
        parts[-1] = (*parts[-1], np.full(np.unique(groups).size, release))
        n_gone = int(n * churn)
        left = here // size * size if keeps else here
        stay = np.isin(left, rng.choice(np.unique(left), n_gone // size, replace=False), invert=True)
        come = n_persons + np.arange(n - int(stay.sum()))
        here, n_persons = np.append(here[stay], come), n_persons + come.size
    persons, groups, of, codes, counts, release_of = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    return Sighted(persons, groups, n_persons, of, codes, counts, n_values, release_of)


@pytest.mark.parametrize(("size", "n_values"), [(5, 20), (20, 5), (50, 3)])
def test_ten_releases_of_a_thousand_take_seconds(size, n_values):
    """A long chain of a thousand people is worked out in a few seconds, however its groups cross."""
    start = time.monotonic()
    found = shared(generations(1_000, 10, size, n_values), Limits(effort=1.0))
    assert time.monotonic() - start < 10
    assert np.allclose(found.rows.totals(), 1.0)


def test_a_large_chain_is_estimated_and_says_so():
    """A hundred thousand people whose groups all hang together get estimates; those who stay together are counted."""
    start = time.monotonic()
    mixed = shared(generations(100_000, 3, 20, 8), Limits(kinds=3_000_000, effort=2.0))
    kept = shared(generations(100_000, 3, 5, 8, keeps=True), Limits(kinds=3_000_000, effort=2.0))
    assert time.monotonic() - start < 60
    assert (mixed.beliefs, mixed.certainty) == ("estimate", "estimate")
    assert (kept.beliefs, kept.certainty) == ("exact", "exact")
    assert kept.is_counted.all()
