"""What all releases of a chain tell together: against every world written out in plain Python."""

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
from manyveils.attacks.worlds import Limits
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
    """The share of each value over all worlds for every person who is in some group, and for those forgotten before."""
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
    return {
        person: {value: Fraction(n, total) for value, n in own.items()}
        for person, own in zip(persons, tallies, strict=False)
    }


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
    rows += [(person, "a") for person in sorted(history.held_back)]
    n_attributes = len(history.values[0])
    columns = {"who": [str(person) for person, _ in rows], "q": [name for _, name in rows]}
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
        if person in truth:
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
    for attribute in range(2):
        codes = [history.values[person][attribute] for person in history.here]
        share = {value: Fraction(codes.count(value), len(codes)) for value in VALUES}
        for person, beliefs in oracle(history, attribute).items():
            value = history.values[person][attribute]
            belief = beliefs[value]
            if person in history.here:
                certain += belief == 1 > share[value]
                broken += belief > max((1 + share[value]) / 2, share[value])
            if person not in last:
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
        if person in truth:
            assert set(found[number]) >= set(truth[person])
            if worlds.certainty == "exact":
                assert set(found[number]) == set(truth[person])
    assert worlds.certainty == "exact" or limits is not SOLVED
