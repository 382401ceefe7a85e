"""What releases of a chain tell together of persons is what the definition says, with nothing but files and ledgers."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest
from hypothesis import event, example, given, reject, settings
from hypothesis import strategies as st

from manyveils.audits.chain import ledger_of
from manyveils.audits.judge import judge
from manyveils.errors import DataError, PolicyError
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    NumericSpread,
    RecursiveDiversity,
)
from manyveils.promises.returning import returning_of
from manyveils.reading.chain import Chain, chain_of
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, seal
from manyveils.release.ledger import hashed, read_ledger, write_ledger
from manyveils.release.placements import private_folder
from manyveils.table import hold
from manyveils.table.persons import names_of
from manyveils.table.widen import widened
from tests.kit import chained as oracle
from tests.kit.people import remains

VALUES = "1234"
KINDS = ("anatomize", "slice", "generalize", "separate")
small = st.integers(1, 3)
shares = st.sampled_from([Fraction(n, 12) for n in range(13)])
guarantees = st.one_of(
    st.builds(DistinctDiversity, small),
    st.builds(FrequencyDiversity, small),
    st.builds(EntropyDiversity, small),
    st.builds(RecursiveDiversity, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(2)]), small),
    st.builds(Closeness, shares, st.sampled_from(["equal", "ordered"])),
    st.builds(CappedShare, shares),
)
# Whose row it is, two things that are known of her, her bucket, and the value of an attribute that may change.
row = st.tuples(
    st.integers(0, 9),
    st.sampled_from("xyz"),
    st.sampled_from("uv"),
    st.integers(0, 2),
    st.sampled_from("ab"),
)


@st.composite
def releases(draw, kinds=KINDS):
    """Two to four generations: the rows of each, how they are published, and who is held back."""
    kind = st.sampled_from(kinds)
    values = draw(st.lists(st.sampled_from(VALUES), min_size=10, max_size=10))
    generations = []
    for _ in range(draw(st.integers(2, 4))):
        rows = draw(st.lists(row, min_size=3, max_size=14))
        held_back = draw(st.sets(st.integers(0, 9), max_size=2))
        generations.append((rows, draw(kind), held_back))
    return values, generations


def policy(kind="ordinal", *, constant=True):
    quasi = {"role": "quasi", "kind": "categorical"}
    return Policy(
        data={"person": "p"},
        attributes={
            "p": {"role": "identifier"},
            "q": quasi,
            "r": quasi,
            "s": {"role": "sensitive", "kind": kind, "constant": constant},
            "c": {"role": "sensitive", "kind": "categorical"},
        },
    )


def drafts(kind, rows, held_back):
    """The release of one generation, and the groups of persons in which each attribute is shown."""
    kept = [place for place, own in enumerate(rows) if own[0] not in held_back]
    own = np.array(kept, dtype=np.intp)
    buckets = np.array([rows[place][3] for place in kept], dtype=np.int64)
    groups = {}
    for place in kept:
        whose, q, r, bucket, _ = rows[place]
        key = {"anatomize": bucket, "slice": (bucket, r), "generalize": (q, r), "separate": 0}[kind]
        groups.setdefault(key, set()).add(whose)
    match kind:
        case "anatomize":
            made = [Draft("main", (("q", "r"), ("s", "c")), own, buckets)]
        case "slice":
            made = [Draft("main", (("q",), ("r", "s", "c")), own, buckets)]
        case "generalize":
            made = [Draft("main", (("q", "r", "s", "c"),), own)]
        case "separate":
            made = [Draft(name, ((name,),), own) for name in "qrsc"]
    return made, [frozenset(group) for group in groups.values()]


def generation(values, rows, kind, held_back, ledgers, wanted):
    """One release of a chain: its evidence, and what the oracle knows of it."""
    columns = zip(*rows, strict=True)
    whose, q, r, _, c = map(list, columns)
    frame = pl.DataFrame({"p": whose, "q": q, "r": r, "s": [values[person] for person in whose], "c": c})
    table, restore = hold(frame, wanted)
    table = Chain((), tuple(ledgers), ()).beside(table, wanted) if ledgers else table.of_persons()
    made, groups = drafts(kind, rows, held_back)
    release = seal(made, table, wanted, restore, notes={}, rng=np.random.default_rng(5))
    published = oracle.Published({person: values[person] for person in dict.fromkeys(whose)}, groups)
    return release, table, published


def published(values, generations, wanted):
    """All releases of a chain with their tables and ledgers, and what the oracle knows of them."""
    ledgers, made = [], []
    for rows, kind, held_back in generations:
        if all(own[0] in held_back for own in rows) or len({own[0] for own in rows}) < 2:
            continue
        release, table, about = generation(values, rows, kind, held_back, ledgers, wanted)
        ledger = ledger_of(Evidence(release, table, wanted))
        ledgers.append(replace(ledger, key=ledgers[0].key) if ledgers else ledger)
        made.append((release, table, about))
    return made, ledgers


def known_of(made):
    """What the definition tells of releases, where it tells what goes on from what."""
    try:
        return oracle.chain([about for _, _, about in made])
    except oracle.Tied:
        reject()


def listed(ledger, name, n_persons=10):
    """The groups of a ledger, in any order: who is in them, and their values with weights and what was expected."""
    names = pl.DataFrame({"p": list(range(n_persons))})
    number = dict(zip(hashed(names_of(names), ledger.key).to_list(), range(n_persons), strict=True))
    persons = {}
    for person, group in ledger.sightings.iter_rows():
        persons.setdefault(group, set()).add(number[person])
    found = {}
    for group, attribute, value, weight, expected in ledger.values.iter_rows():
        if attribute == name:
            found.setdefault(group, []).append((value, round(weight, 6), round(expected, 6)))
    return sorted(
        (sorted(persons[group]), group < ledger.n_shown, sorted(cells)) for group, cells in found.items()
    )


def expected_of(groups):
    return sorted(
        (
            sorted(group.persons),
            group.is_shown,
            sorted(
                (value, float(count), round(float(group.expected[value]), 6))
                for value, count in group.counts.items()
                if count
            ),
        )
        for group in groups
    )


@settings(deadline=None, max_examples=100)
@given(drawn=releases())
def test_ledgers(drawn):
    """A ledger has the groups that a release shows and lets derive, with what they have and what was to be expected."""
    values, generations = drawn
    made, ledgers = published(values, generations, policy())
    known = known_of(made)
    for ledger, (_, table, _), groups in zip(ledgers, made, known.releases, strict=True):
        assert listed(ledger, "s") == expected_of(groups)
        assert ledger.n_persons == table.n_persons
        event(f"derived groups: {sum(not group.is_shown for group in groups) > 0}")


def judged(drawn, guarantee, insensitive, kind="ordinal"):
    """The finding about a chain, and what the definition says of those in each set of groups."""
    values, generations = drawn
    wanted = policy(kind)
    made, _ = published(values, generations, wanted)
    if not made:
        return
    release, table, about = made[-1]
    promise = Promise(guarantee, ("q", "r"), ("s",), insensitive)
    findings = judge(Evidence(release, table, wanted), promise, promised=True)
    [finding] = [own for own in findings if own.reading == "sightings"] or [None]
    if len(made) == 1:
        return
    known = known_of(made)
    p = oracle.prior(about, oracle.Known(known.releases[:-1]))
    own = Counter(about.values.values())
    reference = {value: Fraction(count, len(about.values)) for value, count in own.items()}
    domain = sorted({value for group in known.groups for value in group.counts} | {*reference})
    told = oracle.told(known, p)
    rows = [own[0] for own in generations_of(generations, made)]
    verdicts = {
        own: remains(promise, believed, reference, domain, Fraction(0)) for own, (_, believed) in told.items()
    }
    assert finding.promised
    assert finding.groups == len(told)
    assert finding.kept == all(verdicts.values())
    short = {person for own, (persons, _) in told.items() if not verdicts[own] for person in persons}
    assert finding.rows_short == sum(max(rows.count(person), 1) for person in short)
    event(f"kept: {finding.kept}")


def generations_of(generations, made):
    """The rows of the last generation that was published."""
    able = [
        rows
        for rows, _, held_back in generations
        if not all(own[0] in held_back for own in rows) and len({own[0] for own in rows}) > 1
    ]
    return able[len(made) - 1]


harmless = st.sampled_from([frozenset[str](), frozenset({"1"})])


@settings(deadline=None, max_examples=120)
@given(drawn=releases(), guarantee=guarantees, insensitive=harmless)
def test_chains(drawn, guarantee, insensitive):
    """Promises about what does not change are judged on what all releases leave possible of each person."""
    judged(drawn, guarantee, insensitive)


@settings(deadline=None, max_examples=100)
@given(drawn=releases(), guarantee=guarantees)
def test_chains_with_many_values(drawn, guarantee):
    """Where values are too many for a table of all of them, the values of the smallest group say the same."""
    with patch("manyveils.audits.combining.FEW_VALUES", 0), patch("manyveils.audits.earlier.MOST_BELIEFS", 3):
        judged(drawn, guarantee, frozenset())


# The only value that needs protection is that of a person who is gone.
NOBODYS = (
    [*"1112", *"111111"],
    [
        ([(person, "x", "u", 0, "a") for person in (0, 1, 2, 3)], "anatomize", set()),
        ([(0, "x", "u", 0, "a"), (0, "x", "u", 0, "a"), (1, "x", "u", 1, "a")], "anatomize", set()),
    ],
)


@settings(deadline=None, max_examples=120)
@given(drawn=releases(), guarantee=guarantees, insensitive=harmless)
@example(drawn=NOBODYS, guarantee=DistinctDiversity(3), insensitive=frozenset({"1"}))
def test_what_makers_find_safe_is_kept(drawn, guarantee, insensitive):
    """Where makers find nobody unsafe beside earlier releases, the judge finds every promise kept."""
    values, generations = drawn
    wanted = policy()
    made, _ = published(values, generations, wanted)
    if len(made) < 2:
        return
    known_of(made)
    release, table, about = made[-1]
    promise = Promise(guarantee, ("q", "r"), ("s",), insensitive)
    rows = generations_of(generations, made)
    number = {own[0]: int(person) for own, person in zip(rows, table.persons, strict=True)}
    pairs = sorted((number[person], group) for group, own in enumerate(about.groups) for person in own)
    persons, groups = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    returning = returning_of(wanted, table, (promise,))
    verdict = returning.judged(returning.parted(persons, groups, len(about.groups)))
    [finding] = [
        own
        for own in judge(Evidence(release, table, wanted), promise, promised=True)
        if own.reading == "sightings"
    ]
    event(f"safe: {not verdict.unsafe.any()}")
    assert finding.kept or verdict.unsafe.any()
    assert verdict.broken.any() == verdict.unsafe.any()


def published_by_hand(releases, *, kind="categorical", constant=True, guarantee=None):
    """The finding about the last of some releases, each a list of buckets of persons with their values; and all ledgers."""
    wanted, ledgers = policy(kind, constant=constant), []
    for buckets in releases:
        rows = [
            (person, "x", "u", bucket, value)
            for bucket, persons in enumerate(buckets)
            for person, value in persons.items()
        ]
        frame = pl.DataFrame({"p": [own[0] for own in rows], "s": [own[4] for own in rows]})
        frame = frame.with_columns(q=pl.lit("x"), r=pl.lit("u"), c=pl.lit("a"))
        table, restore = hold(frame, wanted)
        table = Chain((), tuple(ledgers), ()).beside(table, wanted) if ledgers else table.of_persons()
        made, _ = drafts("anatomize", rows, ())
        release = seal(made, table, wanted, restore, notes={}, rng=np.random.default_rng(5))
        ledger = ledger_of(Evidence(release, table, wanted))
        ledgers.append(replace(ledger, key=ledgers[0].key) if ledgers else ledger)
    promise = Promise(guarantee or DistinctDiversity(2), ("q", "r"), ("s",), frozenset())
    found = judge(Evidence(release, table, wanted), promise, promised=True)
    [finding] = [own for own in found if own.reading == "sightings"]
    return finding, ledgers


def test_one_leaves_and_one_joins():
    """Who leaves a bucket alone, and who joins one alone, is certain; whoever is gone counts as a row."""
    finding, [_, ledger] = published_by_hand([[{1: "a", 2: "b", 3: "c"}], [{2: "b", 3: "c", 4: "d"}]])
    assert (finding.kept, finding.measured, finding.promised) == (False, 1, True)
    # Person 1, who left; 2 and 3, who stayed; and 4, who joined.
    assert (finding.groups, finding.groups_short, finding.rows_short) == (3, 2, 2)
    # Of each of three a third was expected; but that there are values nobody has any more makes others rarer.
    assert listed(ledger, "s") == [
        ([1], False, [("a", 1.0, 0.333333)]),
        ([2, 3], False, [("b", 1.0, 0.666667), ("c", 1.0, 0.666667)]),
        ([2, 3, 4], True, [("b", 1.0, 1.0), ("c", 1.0, 1.0), ("d", 1.0, 1.0)]),
        ([4], False, [("d", 1.0, 0.25)]),
    ]


def test_buckets_that_share_one_value():
    """Whose buckets have one value in common has it for certain."""
    first = [{1: "a", 2: "b"}, {3: "c", 4: "a"}]
    finding, _ = published_by_hand([first, [{1: "a", 3: "c"}, {2: "b", 4: "a"}]])
    assert (finding.kept, finding.measured) == (False, 1)
    finding, _ = published_by_hand([first, first])
    assert (finding.kept, finding.measured) == (True, 2)


def test_one_leaves_alone():
    """Whoever leaves alone is certain, and those who stay keep their promise; two who leave together are not."""
    first = [{1: "a", 2: "b", 3: "c", 4: "d"}]
    finding, _ = published_by_hand([first, [{2: "b", 3: "c", 4: "d"}]])
    assert (finding.kept, finding.groups, finding.rows_short) == (False, 2, 1)
    finding, _ = published_by_hand([first, [{3: "c", 4: "d"}]])
    assert (finding.kept, finding.groups, finding.rows_short) == (True, 2, 0)


def test_one_returns():
    """Who comes back is still known from before she left."""
    first, second = [{1: "a", 2: "b"}, {3: "a", 4: "c"}], [{3: "a", 4: "c"}]
    finding, _ = published_by_hand([first, second, [{1: "a", 2: "b"}, {3: "a", 4: "c"}]])
    assert (finding.kept, finding.measured) == (True, 2)
    finding, _ = published_by_hand([first, second, [{1: "a", 4: "c"}, {2: "b", 3: "a"}]])
    assert not finding.kept


def test_who_is_told_nothing_new():
    """Of persons who are in no group that a release adds, nothing is judged: it tells nothing of them."""
    finding, _ = published_by_hand([[{1: "a", 2: "a"}, {3: "b", 4: "c"}], [{3: "b", 4: "c"}]])
    assert (finding.kept, finding.groups) == (True, 1)


def test_what_may_change():
    """Of what may change only groups that are shown are combined, as if it did not; and it binds nobody."""
    finding, [_, ledger] = published_by_hand(
        [[{1: "a", 2: "b", 3: "c"}], [{2: "c", 3: "c", 4: "d"}]], constant=False
    )
    assert (finding.kept, finding.promised, finding.groups) == (False, False, 1)
    # Three persons, two in three of whom are expected to have what two in three of the table have; and 1 and 2 are gone.
    assert [(persons, shown) for persons, shown, _ in listed(ledger, "s")] == [([2, 3, 4], True)]


def test_values_that_are_gone():
    """A value that the table does not have any more remains possible of those who may have had it."""
    finding, _ = published_by_hand(
        [[{1: "5", 2: "30", 3: "7"}], [{3: "7", 4: "8"}]],
        kind="numeric",
        guarantee=NumericSpread(Fraction(25)),
    )
    # Who left may have 5 or 30; who stayed and who joined stand alone.
    assert (finding.kept, finding.groups, finding.groups_short) == (False, 3, 2)


def test_a_constant_that_changed():
    """What is said to be constant and has changed is refused with the number of persons, and no value is quoted."""
    with pytest.raises(DataError, match="2 persons had another value in an earlier release") as refused:
        published_by_hand([[{1: "aa", 2: "bb", 3: "cc"}], [{1: "aa", 2: "aa", 3: "aa"}]])
    assert "attributes.s.constant" in str(refused.value)
    assert "drop constant" in str(refused.value)
    assert "aa" not in str(refused.value)


@settings(deadline=None, max_examples=100)
@given(drawn=releases(), others=st.lists(st.sampled_from(VALUES), min_size=10, max_size=10))
def test_changes(drawn, others):
    """A change is found exactly where somebody who was seen before has another value now."""
    values, generations = drawn
    wanted = policy()
    made, ledgers = published(values, generations, wanted)
    if not ledgers:
        return
    frame = pl.DataFrame({"p": range(10), "s": others})
    table, _ = hold(frame.with_columns(q=pl.lit("x"), r=pl.lit("u"), c=pl.lit("a")), wanted)
    seen = {person for _, _, about in made for group in about.groups for person in group}
    changed = any(others[person] != values[person] for person in seen)
    with pytest.raises(DataError) if changed else nullcontext():
        Chain((), tuple(ledgers), ()).beside(table, wanted)
    event(f"changed: {changed}")


@settings(deadline=None, max_examples=50)
@given(drawn=releases(("anatomize", "generalize")), forgotten=st.integers(0, 9))
def test_who_is_forgotten(drawn, forgotten):
    """Whoever is forgotten is new, and the groups she was in keep their counts; the next ledger can be made."""
    values, generations = drawn
    wanted, ledgers = policy(), []
    gone = names_of(pl.DataFrame({"p": [forgotten]}))
    for rows, kind, _ in generations:
        if len({own[0] for own in rows}) < 2:
            continue
        release, table, _ = generation(values, rows, kind, set(), ledgers, wanted)
        ledger = ledger_of(Evidence(release, table, wanted))
        ledger = replace(ledger, key=ledgers[0].key) if ledgers else ledger
        weights = (
            ledger.values.filter(attribute="s").group_by("group").agg(pl.col("weight", "expected").sum())
        )
        seen = ledger.sightings.group_by("group").len()
        together = weights.join(seen, on="group")
        assert together.height == weights.height == seen.height
        assert (together["weight"] >= together["len"]).all()
        # What is expected of values that the group does not have is not listed.
        assert (together["expected"] <= together["weight"] + 1e-6).all()
        assert ledger.values["expected"].min() > 0
        ledgers.append(ledger.without(gone))
        assert not ledgers[-1].sightings["person"].is_in(hashed(gone, ledger.key).implode()).any()


def test_who_has_no_name():
    """Whose identity is missing stands in no ledger, and counts in the groups she is in."""
    wanted = policy("categorical")
    frame = pl.DataFrame({"p": [1, 2, None], "s": ["a", "b", "c"]})
    table, restore = hold(frame.with_columns(q=pl.lit("x"), r=pl.lit("u"), c=pl.lit("a")), wanted)
    table = table.of_persons()
    made, _ = drafts("anatomize", [(0, "x", "u", 0, "a")] * 3, ())
    release = seal(made, table, wanted, restore, notes={}, rng=np.random.default_rng(5))
    ledger = ledger_of(Evidence(release, table, wanted))
    assert listed(ledger, "s") == [([1, 2], True, [(value, 1.0, 1.0) for value in "abc"])]
    assert ledger.n_persons == 3
    # The next release takes her for somebody who was in that group, and who left it with the first.
    next_table, restore = hold(
        pl.DataFrame({"p": [2, 4], "s": ["b", "d"]}).with_columns(
            q=pl.lit("x"), r=pl.lit("u"), c=pl.lit("a")
        ),
        wanted,
    )
    next_table = Chain((), (ledger,), ()).beside(next_table, wanted)
    made, _ = drafts("anatomize", [(2, "x", "u", 0, "a"), (4, "x", "u", 0, "a")], ())
    release = seal(made, next_table, wanted, restore, notes={}, rng=np.random.default_rng(5))
    after = replace(ledger_of(Evidence(release, next_table, wanted)), key=ledger.key)
    [left] = [cells for persons, _, cells in listed(after, "s") if persons == [1]]
    assert [(value, weight) for value, weight, _ in left] == [("a", 1.0), ("c", 1.0)]
    assert [expected for _, _, expected in left] == [0.666667, 0.666667]


def test_round_trip(tmp_path):
    """What is written and read again puts the next table beside the same groups."""
    values = list("1234123412")
    rows = [(person, "xyz"[person % 3], "uv"[person % 2], person % 3, "a") for person in range(10)]
    wanted, ledgers, folders = policy(), [], []
    for number in range(2):
        release, table, _ = generation(values, rows[number:], "slice", {number + 4}, ledgers, wanted)
        ledger = ledger_of(Evidence(release, table, wanted))
        ledgers.append(replace(ledger, key=ledgers[0].key) if ledgers else ledger)
        folder = tmp_path / f"q{number}"
        release.save(folder)
        private_folder(folder).mkdir(exist_ok=True)
        after = tuple(read_ledger(own, private_folder(own))[1] for own in folders)
        write_ledger(replace(ledgers[-1], after=after), folder, private_folder(folder))
        folders.append(folder)
    frame = pl.DataFrame({"p": range(10), "s": values})
    held, _ = hold(frame.with_columns(q=pl.lit("x"), r=pl.lit("u"), c=pl.lit("a")), wanted)
    read = chain_of(folders).beside(held, wanted).earlier
    kept = Chain((), tuple(ledgers), ()).beside(held, wanted).earlier
    for name in ("persons", "groups", "release_of", "is_shown"):
        assert np.array_equal(getattr(read, name), getattr(kept, name))
    for name, own in read.held.items():
        for what in ("groups", "codes", "weights", "expected"):
            assert np.array_equal(getattr(own, what), getattr(kept.held[name], what))
    assert read.hashes.equals(kept.hashes)


def test_a_value_of_another_kind_is_gone():
    """Where only earlier releases have a value that is no number, the policy is to say the kind."""
    frame = pl.DataFrame({"p": [1, 2], "q": ["x", "x"], "r": ["u", "u"], "s": ["1", "2"], "c": ["a", "b"]})
    wanted = policy("numeric")
    table, _ = hold(frame, wanted)
    wide, codes = widened(table["s"], ("7",), wanted)
    assert [wide.texts[code] for code in codes] == ["1", "2", "7"]
    with pytest.raises(PolicyError, match="earlier releases have values that are not numeric"):
        widened(table["s"], ("x5",), wanted)
