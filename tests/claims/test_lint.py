"""Lint: what is counted agrees with plain Python, and what makes a promise void is refused unless it is accepted."""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.linting import lint
from manyveils.linting.copies import told
from manyveils.linting.singling import FEW, SHARE
from manyveils.policy.accepting import KINDS
from manyveils.table import hold

N = 200
DRAWN = np.random.default_rng(5)
AGES, ZIPS = DRAWN.integers(20, 60, N), DRAWN.integers(0, 30, N)


def policy_of(roles, **sections):
    """A policy with a role for each name."""
    return mv.Policy(attributes={name: {"role": role} for name, role in roles.items()}, **sections)


def codes(frame, policy):
    """What lint doubts, as a policy would accept it."""
    return [doubt.code for doubt in lint(hold(frame, policy)[0], policy).doubts]


def refused(frame, policy):
    """What lint refuses, as a policy would accept it."""
    return [doubt.code for doubt in lint(hold(frame, policy)[0], policy).refused]


def singled_out(rows, owners):
    """How many persons have rows that no one else's row equals, by the definition."""
    holders = {}
    for row, owner in zip(rows, owners, strict=True):
        holders.setdefault(row, set()).add(owner)
    return len({owner for owners in holders.values() if len(owners) == 1 for owner in owners})


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=40),
    st.lists(st.integers(0, 9), min_size=40, max_size=40),
    st.booleans(),
)
def test_counts_are_those_of_the_definition(rows, owners, several):
    """The least combination that is found singles out as many persons as rows that are alone show, and none is missed."""
    owners = owners[: len(rows)] if several else list(range(len(rows)))
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row").with_columns(
        owner=pl.Series(owners, dtype=pl.Int64)
    )
    if len(set(owners)) < 2:
        return
    roles = {"owner": "identifier", "a": "neutral", "b": "neutral", "c": "neutral"}
    policy = policy_of(roles, data={"person": "owner"})
    table, _ = hold(frame, policy)
    many = max(FEW, SHARE * len(set(owners)))
    counts = {
        names: singled_out(frame.select(names).rows(), owners)
        for size in (1, 2, 3)
        for names in combinations("abc", size)
    }
    found = {doubt.about: doubt.what for doubt in lint(table, policy).doubts}
    for names, what in found.items():
        assert counts[names] > many
        assert f"{counts[names]:,} of {len(set(owners)):,} persons" in what
    # Whatever singles people out has a part in what is found.
    for names, n_alone in counts.items():
        assert n_alone <= many or any(not set(names).isdisjoint(about) for about in found)


@pytest.mark.parametrize(("n_alone", "doubts"), [(10, []), (11, ["neutral-unique: code"])])
def test_both_sides_of_a_twentieth(n_alone, doubts):
    """A neutral attribute may single out a twentieth of the persons, and not one more."""
    frame = pl.DataFrame({"code": [*range(n_alone), *[-1] * (N - n_alone)], "ill": ["a", "b"] * (N // 2)})
    assert codes(frame, policy_of({"code": "neutral", "ill": "sensitive"}, guarantee={"l": 2})) == doubts


def test_few_are_the_odd_ones_of_a_small_table():
    """In a table of twelve, four who are alone are no doubt, and five are."""
    for n_alone, doubts in ((4, []), (5, ["neutral-unique: code"])):
        frame = pl.DataFrame({"code": [*range(n_alone), *[-1] * (12 - n_alone)]})
        assert codes(frame, policy_of({"code": "neutral"})) == doubts


def test_a_sample_only_spares_time():
    """Where samples are drawn, a pair is found that only all rows show to be just above the bound, and none below it."""
    n, bound = 80_000, 4_000
    for n_alone, found in ((bound, []), (bound + 1, ["neutral-unique: a + b"])):
        rows = np.arange(n)
        # Those who are alone have a number of their own in the square of both; the others share one.
        own = np.where(rows < n_alone, rows + 1, 0)
        frame = pl.DataFrame({"a": own // 100, "b": own % 100})
        assert codes(frame, policy_of({"a": "neutral", "b": "neutral"})) == found


def test_accepting_an_attribute_accepts_what_it_is_part_of():
    """Acceptance of one attribute holds for its combinations; that of a combination holds for no other."""
    frame = pl.DataFrame({"age": AGES, "zip": ZIPS, "day": DRAWN.integers(0, 30, N)})
    roles = dict.fromkeys(frame.columns, "neutral")
    [pair] = refused(frame, policy_of(roles))
    more = refused(frame, policy_of(roles, accept=[pair]))
    assert len(more) == 1
    assert more != [pair]
    assert refused(frame, policy_of(roles, accept=["neutral-unique: age", "neutral-unique: zip"])) == []


def test_rules_decide_what_stands_together():
    """Under rules combinations are not in doubt, and a neutral name is."""
    frame = pl.DataFrame(
        {"name": [f"n{i}" for i in range(N)], "age": AGES, "zip": ZIPS, "ill": ["a", "b"] * 100}
    )
    policy = policy_of(
        dict.fromkeys(frame.columns, "neutral"),
        rules=[{"given": ["age"], "protect": "ill"}],
        publish={"method": "guardian"},
    )
    assert codes(frame, policy) == ["neutral-unique: name"]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=40))
def test_what_is_told_is_told_by_the_others(rows):
    """A row counts as told where most of the other rows with its known value have its asked one."""
    frame = pl.DataFrame(rows, schema=["x", "y"], orient="row")
    table, _ = hold(frame, policy_of({"x": "neutral", "y": "neutral"}))
    counts, shares = Counter(rows), Counter(y for _, y in rows)
    n_told = 0
    for x, y in rows:
        others = {value: counts[x, value] - (value == y) for value in shares}
        n_told += others[y] > max((n for value, n in others.items() if value != y), default=0)
    chance = max(shares.values()) / len(rows)
    expected = 0.0 if chance == 1 else (n_told / len(rows) - chance) / (1 - chance)
    assert told(table, "x", "y") == pytest.approx(expected)


ILL = [f"ill {i % 7}" for i in range(N)]


@pytest.mark.parametrize(
    ("neutral", "doubt"),
    [
        ([f"i{i % 7}" for i in range(N)], "near-copy: other + ill"),
        ([f"{'ab'[i % 7 > 3]}" for i in range(N)], "near-copy: other + ill"),
        ([f"drug {i % 14}" for i in range(N)], "settled: other + ill"),
        ([f"town {i % 3}" for i in range(N)], None),
        # The same as the illness in nine of ten rows is still nearly the same, and in eight of ten it is not.
        ([f"i{i % 7 if i % 20 else i % 6}" for i in range(N)], "near-copy: other + ill"),
        ([f"i{i % 7 if i % 4 else i % 6}" for i in range(N)], None),
    ],
    ids=["renamed", "coarser", "finer", "unrelated", "nearly", "hardly"],
)
def test_what_gives_a_sensitive_attribute_away(neutral, doubt):
    """Copies, coarser copies and what settles a sensitive attribute are found; what goes with it by chance is not."""
    frame = pl.DataFrame({"other": neutral, "ill": ILL})
    found = codes(frame, policy_of({"other": "neutral", "ill": "sensitive"}, guarantee={"l": 2}))
    assert found == ([doubt] if doubt else [])


def halves(n, seed=0):
    """Two neutral columns that tell nothing of an illness alone, and all of it together; and others drawn by themselves."""
    rng = np.random.default_rng(seed)
    ill, mask = rng.integers(0, 3, n), rng.integers(0, 3, n)
    others = {f"other{i}": rng.integers(0, 3, n) for i in range(3)}
    return pl.DataFrame(
        {"pair1": mask, **others, "pair2": (ill + mask) % 3, "ill": [f"i{code}" for code in ill]}
    )


def test_what_two_give_away_together():
    """A pair that settles a sensitive attribute is found by itself, refused, and accepted by its name."""
    pair = "settled: pair1 + pair2 + ill"
    for frame in (halves(300), halves(100_000)):
        roles = dict.fromkeys(frame.columns, "neutral") | {"ill": "sensitive"}
        assert refused(frame, policy_of(roles, guarantee={"l": 2})) == [pair]
        assert refused(frame, policy_of(roles, guarantee={"l": 2}, accept=[pair])) == []
        assert refused(frame, policy_of({**roles, "pair1": "drop"}, guarantee={"l": 2})) == []


def test_what_two_give_away_of_persons():
    """Persons with many rows are told as often as they are persons, and what few rows show is left to chance."""
    frame = pl.concat([halves(120)] * 3).with_columns(owner=pl.Series([*range(120)] * 3))
    roles = dict.fromkeys(frame.columns, "neutral") | {"ill": "sensitive", "owner": "identifier"}
    policy = policy_of(roles, data={"person": "owner"}, guarantee={"l": 2})
    assert refused(frame, policy) == ["settled: pair1 + pair2 + ill"]
    # Few have the rarer value, and some pair of many has them apart by accident.
    rng = np.random.default_rng(0)
    drawn = {f"n{i}": rng.integers(0, 3, 25) for i in range(30)}
    rare = pl.DataFrame({**drawn, "ill": ["a"] * 23 + ["b"] * 2})
    roles = dict.fromkeys(drawn, "neutral") | {"ill": "sensitive"}
    accept = [f"neutral-unique: {name}" for name in drawn]
    assert refused(rare, policy_of(roles, guarantee={"l": 2}, accept=accept)) == []


def test_numbers_that_go_together():
    """An amount that is another one with a little noise is a near-copy; one that is drawn by itself is not."""
    rng = np.random.default_rng(1)
    pay = rng.integers(1_000, 1_100, N)
    near, other = pay // 2 + rng.integers(0, 2, N), rng.integers(1_000, 1_050, N)
    roles = {"net": "neutral", "pay": "sensitive"}
    accept = ["neutral-unique: net"]
    found = codes(
        pl.DataFrame({"net": near, "pay": pay}), policy_of(roles, guarantee={"l": 2}, accept=accept)
    )
    assert "near-copy: net + pay" in found
    found = codes(
        pl.DataFrame({"net": other, "pay": pay}), policy_of(roles, guarantee={"l": 2}, accept=accept)
    )
    assert "near-copy: net + pay" not in found


@pytest.mark.parametrize(
    "guarantee", [{"l": 2}, {"t": 0.2}, {"alpha": 0.5}, {"beta": 1}, {"epsilon_link": 0.5}]
)
def test_nothing_to_protect(guarantee):
    """A promise about sensitive attributes is void without any."""
    frame = pl.DataFrame({"age": [1, 2] * 10})
    [key] = guarantee
    assert refused(frame, policy_of({"age": "quasi"}, guarantee=guarantee)) == [f"no-sensitive: {key}"]


def test_identifiers_that_repeat_are_told_and_not_refused():
    """Where the policy says that rows are persons, a repeating identifier is told, with its numbers."""
    frame = pl.DataFrame({"owner": [1, 1, 2, 3], "age": [1, 1, 1, 1]})
    policy = policy_of({"owner": "identifier", "age": "quasi"}, data={"person": "row"})
    [doubt] = lint(hold(frame, policy)[0], policy).doubts
    assert doubt.code == "identifier-repeats: owner"
    assert "4 rows have 3 different values" in doubt.what
    assert refused(frame, policy) == []


def sharing(frame, policy):
    """The identifiers of which lint says that persons share them; none of them is refused."""
    assert refused(frame, policy) == []
    return [code for code in codes(frame, policy) if code.startswith("identifier-shared")]


def shared(visits, persons=("visit",), **sections):
    """What lint doubts of visits with a patient and a ward, by whom persons are told apart."""
    frame = pl.DataFrame(visits, schema=["visit", "patient", "ward", "age"], orient="row")
    roles = {"visit": "identifier", "patient": "identifier", "ward": "identifier", "age": "quasi"}
    return sharing(frame, policy_of(roles, data={"person": list(persons)}, **sections))


@given(
    st.lists(
        st.tuples(*[st.one_of(st.none(), st.integers(0, n)) for n in (30, 5, 1)], st.just(1)),
        min_size=2,
        max_size=30,
    )
)
def test_identifiers_that_persons_share_are_counted_as_defined(visits):
    """An identifier is in doubt where those who have one are at least twice as many as its values, and it has two."""
    owners = [row[0] if row[0] is not None else f"row {number}" for number, row in enumerate(visits)]
    if len(set(owners)) < 2 or all(row[0] is None for row in visits):
        return
    expected = []
    for place, name in ((1, "patient"), (2, "ward")):
        held = [
            (owner, row[place]) for owner, row in zip(owners, visits, strict=True) if row[place] is not None
        ]
        n_persons, n_values = len({owner for owner, _ in held}), len({value for _, value in held})
        if n_values > 1 and 2 * n_values <= n_persons and n_values < len(held):
            expected.append(f"identifier-shared: {name}")
    assert shared(visits) == expected


VISITS = [(i, i % 7, i % 2, 1) for i in range(300)]


def test_visits_are_no_persons():
    """Of 300 visits of seven patients it is told that they count as 300 persons, with both numbers."""
    both = ["identifier-shared: patient", "identifier-shared: ward"]
    assert shared(VISITS) == both
    # Of the patients, the ward alone is in doubt; of a list, no part is.
    assert shared(VISITS, ["patient"]) == both[1:]
    assert shared(VISITS, ["patient", "ward"]) == []


def test_people_share_names():
    """What is called a name is not in doubt, and an account is."""
    for name, doubts in (("last_name", []), ("surname", []), ("username", ["identifier-shared: username"])):
        frame = pl.DataFrame({"id": range(90), name: [i % 9 for i in range(90)], "age": 1})
        roles = {"id": "identifier", name: "identifier", "age": "quasi"}
        assert sharing(frame, policy_of(roles, data={"person": "id"})) == doubts


def test_free_text():
    """Sentences that differ are in doubt, neutral or sensitive; long names of few illnesses are not."""
    notes = [f"The patient number {i} came on foot and left by car" for i in range(40)]
    frame = pl.DataFrame(
        {"note": notes, "ill": [f"an illness with a very long name, number {i % 4}" for i in range(40)]}
    )
    for role in ("neutral", "sensitive"):
        assert codes(frame, policy_of({"note": role, "ill": "sensitive"})) == ["free-text: note"]


def test_accepted_doubts_stand_in_the_audit():
    """What is accepted is published, and the audit says what was accepted; without acceptance it is not there."""
    frame = pl.DataFrame({"stay": range(40), "age": [1, 2] * 20, "ill": ["a", "b", "c", "d"] * 10})
    roles = {"stay": "neutral", "age": "quasi", "ill": "sensitive"}
    accepting = policy_of(roles, guarantee={"k": 2, "l": 2}, accept=["neutral-unique: stay"])
    audit = mv.audit(mv.publish(frame, accepting, seed=1), frame, accepting)
    [accepted] = audit.describe()["accepted"]
    assert accepted["code"] == "neutral-unique: stay"
    assert "40 of 40 persons" in accepted["what"]
    with pytest.raises(mv.PolicyError, match=r'accept = \["neutral-unique: stay"\]'):
        mv.publish(frame, policy_of(roles, guarantee={"k": 2, "l": 2}), seed=1)


def test_every_kind_can_be_accepted():
    """The kinds that a policy may accept are those of the page about lint."""
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "lint.md").read_text(encoding="utf-8")
    assert [kind for kind in KINDS if f"| `{kind}` |" not in page] == []
