"""Forward, cross and backward attacks: the paper's running example, and every way to match records written out."""

from collections import Counter
from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.attacks import attack
from manyveils.attacks.adversaries import Reader
from manyveils.attacks.correspondence import Pair, records_of
from manyveils.release import Draft, seal
from manyveils.table import Streams, hold
from manyveils.table.earlier import Earlier, Held
from tests.attacks.conftest import labelled

EUROPE = {"Europe": ["UK", "France"]}
COVERS = {"UK": ["UK"], "France": ["France"], **EUROPE, "Italy": ["Italy"], "*": ["UK", "France", "Italy"]}
# Three with flu and two with HIV were there before: of these three live in the UK, where two more came.
PEOPLE = [
    ("UK", "flu", True),
    ("UK", "flu", True),
    ("UK", "flu", False),
    ("France", "hiv", True),
    ("France", "hiv", False),
    ("France", "hiv", False),
    ("France", "flu", True),
    ("France", "flu", False),
    ("UK", "hiv", True),
    ("UK", "hiv", False),
]


def policy_of(*, constant=True):
    """Where people were born and what they have."""
    attributes = {
        "who": {"role": "identifier"},
        "born": {"role": "quasi", "kind": "categorical"},
        "has": {"role": "sensitive", "kind": "categorical", "constant": constant},
    }
    return mv.Policy(attributes=attributes, data={"person": "who"})


def held(people, policy):
    """A table of people who were born somewhere and have something."""
    columns = {"who": [str(i) for i in range(len(people))], "born": [own[0] for own in people]}
    table, restore = hold(pl.DataFrame(columns | {"has": [own[1] for own in people]}), policy)
    return table.of_persons(), restore


def released(people, labels, policy):
    """A release of people with a label each for where they were born."""
    table, restore = held(people, policy)
    covers = {label: COVERS[label] for label in labels}
    recodings = {"born": labelled(table["born"], labels, covers)}
    draft = Draft("main", (("born", "has"),), np.arange(table.n_rows), None, recodings)
    return seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(0)), table


def example(policy):
    """The running example: two releases, and the newest table beside the first."""
    before = [own for own in PEOPLE if own[2]]
    older, _ = released(before, ["Europe"] * 5, policy)
    newer, table = released(PEOPLE, [own[0] for own in PEOPLE], policy)
    numbers = np.flatnonzero([own[2] for own in PEOPLE])
    has = table["has"].texts
    counts = Counter(has.index(own[1]) for own in before)
    codes, weights = (
        np.array(sorted(counts)),
        np.array([counts[code] for code in sorted(counts)], dtype=float),
    )
    one = np.zeros(codes.size, dtype=np.int64)
    earlier = Earlier(
        pl.Series([bytes([i]) for i in range(10)], dtype=pl.Binary),
        numbers,
        np.zeros(5, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.ones(1, dtype=bool),
        {"has": Held(one, codes, weights, weights, len(has))},
    )
    return older, newer, replace(table, earlier=earlier)


def test_the_running_example():
    """Of five candidates one is excluded: forward and cross for those in France, backward for those who joined in the UK."""
    policy = policy_of()
    older, newer, table = example(policy)
    found = attack(newer, table, policy, only=["sequential"], others=[older], streams=Streams(1))[
        "sequential"
    ]
    told = {name: found.details[name] for name in found.details if name.endswith(("_cracked", "_least"))}
    assert told == {
        "forward_cracked": 2,
        "forward_least": 4,
        "cross_cracked": 2,
        "cross_least": 4,
        "backward_cracked": 2,
        "backward_least": 4,
    }


def test_values_that_may_change_exclude_nothing():
    """Of an attribute that may change values are not compared, and groups of five fit groups of five."""
    policy = policy_of(constant=False)
    older, newer, table = example(policy)
    found = attack(newer, table, policy, only=["sequential"], others=[older], streams=Streams(1))[
        "sequential"
    ]
    cracked = [found.details[f"{name}_cracked"] for name in ("forward", "cross", "backward")]
    assert cracked == [0, 0, 0]


def pair_of(before, after, n_gone):
    """Two releases by hand, of people given by label and value."""
    policy = policy_of()
    every = [("UK", "flu"), ("France", "hiv"), ("Italy", "flu")]
    people = [[(COVERS[label][-1], value) for label, value in own] for own in (before, after)]
    older, newer = (
        released(own, [label for label, _ in labels], policy)[0]
        for own, labels in zip(people, (before, after), strict=True)
    )
    table, _ = held([*people[0], *people[1], *every], policy)
    readers = [Reader(release, table, policy) for release in (older, newer)]
    return Pair(*(records_of(reader, ("born",), "has") for reader in readers), n_gone, compares_values=True)


def ways(before, after, n_gone):
    """Every way in which records of those who stayed may be matched: for each older record a newer one, or none."""
    places = [*range(len(after)), *([None] * n_gone)]
    for chosen in set(permutations(places, len(before))):
        if sum(place is None for place in chosen) == n_gone and all(
            place is None
            or (before[i][1] == after[place][1] and set(COVERS[before[i][0]]) & set(COVERS[after[place][0]]))
            for i, place in enumerate(chosen)
        ):
            yield chosen


RECORD = st.tuples(st.sampled_from([*COVERS]), st.sampled_from(["flu", "hiv"]))
RECORDS = st.lists(RECORD, min_size=1, max_size=3)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(stayed=RECORDS, gone=st.lists(RECORD, max_size=1), joined=RECORDS, data=st.data())
def test_no_more_is_excluded_than_every_way_excludes(stayed, gone, joined, data):
    """However records are matched, as many as the formulas exclude are of somebody else."""
    before = [*stayed, *gone]
    again = [
        (data.draw(st.sampled_from([own for own in COVERS if set(COVERS[own]) & set(COVERS[label])])), value)
        for label, value in stayed
    ]
    after = [*again, *joined[: 5 - len(again)]]
    pair = pair_of(before, after, len(gone))
    names = [sorted({label for label, _ in own}) for own in (before, after)]
    labels = [
        [own.column.texts["born"].to_list()[number] for number in own.labels("born").tolist()]
        for own in (pair.older, pair.newer)
    ]
    assert [sorted(own) for own in labels] == names
    every = list(ways(before, after, len(gone)))
    assert every
    for g, older in enumerate(labels[0]):
        for h, newer in enumerate(labels[1]):
            assert pair.fits[g, h] == bool(set(COVERS[older]) & set(COVERS[newer]))
            in_g = [i for i, own in enumerate(before) if own[0] == older]
            in_h = [place for place, own in enumerate(after) if own[0] == newer]
            pairs = [sum(way[i] in in_h for i in in_g) for way in every]
            asked = np.array([g]), np.array([h])
            assert len(in_g) - max(pairs) >= pair.forward(*asked)[0]
            assert len(in_h) - max(pairs) >= pair.cross(*asked)[0]
    for h, newer in enumerate(labels[1]):
        in_h = {place for place, own in enumerate(after) if own[0] == newer}
        assert min(len(in_h & set(way)) for way in every) >= pair.backward[h]
