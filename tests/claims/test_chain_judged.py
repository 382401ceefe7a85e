"""What releases of a chain tell together of persons is what the definition says, with nothing but files and ledgers."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import polars as pl
from hypothesis import event, given, settings
from hypothesis import strategies as st

from manyveils.audits.chain import ledger_of
from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from manyveils.reading.chain import Chain
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, seal
from manyveils.release.ledger import hashed
from manyveils.table import hold
from manyveils.table.persons import names_of
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
        ledger = ledger_of(release, table, wanted)
        ledgers.append(replace(ledger, key=ledgers[0].key) if ledgers else ledger)
        made.append((release, table, about))
    return made, ledgers


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


@settings(deadline=None, max_examples=200)
@given(drawn=releases())
def test_ledgers(drawn):
    """A ledger has the groups that a release shows and lets derive, with what they have and what was to be expected."""
    values, generations = drawn
    made, ledgers = published(values, generations, policy())
    known = oracle.chain([about for _, _, about in made])
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
    known = oracle.chain([about for _, _, about in made])
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


@settings(deadline=None, max_examples=300)
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
