"""Where persons have several rows, buckets hold whole persons and every promise counts persons."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.errors import InfeasibleError, ManyveilsError, PolicyError
from manyveils.methods import drafts_of, method_of, work_of
from manyveils.methods.guardian import refuse_sightings
from manyveils.methods.guardian.pieces import Piece
from manyveils.policy import Policy, guarantees
from manyveils.table import Streams, Table
from tests.kit.people import held_by
from tests.kit.persons import keeps, withstands
from tests.kit.strategies import Case, cases

l = st.integers(1, 3)
PROMISES = st.one_of(
    st.fixed_dictionaries({"k": st.integers(1, 4)}),
    st.fixed_dictionaries({"k": st.integers(3, 4), "l": l}),
    st.fixed_dictionaries({"l": l, "l_kind": st.sampled_from(["distinct", "frequency", "entropy"])}),
    st.fixed_dictionaries(
        {"l": l, "l_kind": st.just("recursive"), "c": st.sampled_from([0.5, 1.0, 1.5, 3.0])}
    ),
    st.fixed_dictionaries({"t": st.sampled_from([0.2, 0.35, 0.5, 0.8]), "ground": st.just("equal")}),
    st.fixed_dictionaries({"k": st.integers(2, 3), "t": st.just(0.5), "ground": st.just("equal")}),
    st.fixed_dictionaries({"alpha": st.sampled_from([0.3, 0.5, 0.75])}),
    st.fixed_dictionaries({"beta": st.sampled_from([0.5, 1.0, 2.0])}),
    st.fixed_dictionaries({"delta": st.sampled_from([0.5, 1.0, 2.0])}),
    st.fixed_dictionaries({"epsilon_link": st.sampled_from([0.4, 0.6])}),
)

LEVELED = st.sampled_from(["distinct", "frequency", "entropy"]).map(
    lambda kind: {"l": 2, "l_level": 1, "l_kind": kind}
)


@dataclass(frozen=True, repr=False)
class Crowd:
    """A table in which persons have several rows, and a policy for it."""

    case: Case
    persons: list[int]

    def drafted(self):
        """The publication and its views; nothing if it is refused."""
        try:
            work = work_for(self.case.frame, self.persons, self.case.policy)
            return work, drafts_of(work, method_of(work.policy).plan(work)).views
        except ManyveilsError:
            return None

    def __repr__(self) -> str:
        return f"{self.case!r} {self.persons}"


def work_for(frame: pl.DataFrame, persons: Any, policy: Policy, seed: int = 1):
    """The publication of a table whose rows are these persons'."""
    return work_of(policy, held_by(frame, policy, persons), Streams(seed))


@st.composite
def crowds(draw: st.DrawFn, publish: dict[str, Any], promised: Any = PROMISES) -> Crowd:
    """A random table of persons with one to many rows each, and any promises."""
    case = draw(cases(publish, smallest=2, promised=promised))
    n = case.frame.height
    numbers = draw(st.lists(st.integers(0, draw(st.integers(0, n - 1))), min_size=n, max_size=n))
    if len({*numbers}) == n:
        numbers[-1] = numbers[0]
    return Crowd(case, numbers)


def groups_of(table: Table, draft) -> dict[int, list[int]]:
    """The rows of every bucket; a view without buckets is one."""
    buckets = np.zeros(draft.rows.size, dtype=int) if draft.buckets is None else draft.buckets
    return {int(bucket): draft.rows[buckets == bucket].tolist() for bucket in np.unique(buckets).tolist()}


def kept_by(promise, work, rows: list[int], company: tuple[str, ...] = ()) -> bool:
    """Whether some rows keep a promise, by the definition in plain Python; `company` are the columns beside."""
    table, guarantee = work.table, promise.guarantee
    persons = table.persons.tolist()
    [name] = promise.protects or [None]
    # A level of the hierarchy is counted by its labels, of which those whose values are all harmless are harmless.
    values = table[name] if name else None
    column = values.at_level(guarantee.level) if values else None
    spared = (
        {text for code, text in enumerate(column.texts) if spares(promise, values, code)} if column else set()
    )
    texts = [column.texts[code] for code in column.codes.tolist()] if column else [""] * table.n_rows
    domain = column.texts if column else ("",)
    every = list(zip(persons, texts, strict=True))
    if isinstance(guarantee, guarantees.Elimination):
        others = [table[other] for other in guarantee.ruled_out if other in company]
        beside = [tuple(other.texts[other.codes[row]] for other in others) for row in rows]
        listed = [(*every[row], values) for row, values in zip(rows, beside, strict=True)]
        return withstands(listed, guarantee.eliminations, spared)
    return keeps(guarantee, [every[row] for row in rows], every, domain, spared)


def spares(promise, values, label: int) -> bool:
    """Whether all values under a label need no protection."""
    level = min(promise.guarantee.level, values.levels.highest)
    labels = values.levels[level].label_of if level else np.arange(values.n_values)
    under = [text for text, own in zip(values.texts, labels.tolist(), strict=True) if own == label]
    return all(text in promise.insensitive for text in under)


def assert_whole(work, rows: np.ndarray) -> None:
    """Published persons have all their rows published, and no more persons are left out than may be."""
    persons = work.table.persons
    published = np.bincount(persons[rows], minlength=work.table.n_persons)
    assert set(np.flatnonzero(published != np.bincount(persons)).tolist()) == set(
        np.flatnonzero(published == 0).tolist()
    )
    assert (published == 0).sum() <= work.limit


def assert_one_bucket_each(work, draft) -> None:
    """No person has rows in two buckets."""
    if draft.buckets is not None:
        pairs = {*zip(work.table.persons[draft.rows].tolist(), draft.buckets.tolist(), strict=True)}
        assert len(pairs) == len({person for person, _ in pairs})


@settings(max_examples=400, deadline=None)
@given(crowd=crowds({"method": "anatomize"}))
def test_every_bucket_keeps_every_promise(crowd):
    """Anatomy puts a person into one bucket, leaves out whole persons, and every bucket keeps what is promised."""
    drafted = crowd.drafted()
    if drafted is None:
        return
    work, [draft] = drafted
    assert_whole(work, draft.rows)
    assert_one_bucket_each(work, draft)
    for rows in groups_of(work.table, draft).values():
        for promise in work.promises:
            assert kept_by(promise, work, rows), promise.guarantee.kind


def numeric(draw) -> tuple[pl.DataFrame, list[int]]:
    """A table of pays, and whose they are."""
    n = draw(st.integers(2, 20))
    pays = draw(st.lists(st.sampled_from([1.0, 2.0, 3.5, 8.0, None]), min_size=n, max_size=n))
    persons = draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n))
    return pl.DataFrame({"zip": [str(row % 3) for row in range(n)], "pay": pays}), persons


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_numbers_are_spread_over_persons(data):
    """Spread and proximity hold in every bucket, whichever row of a person is meant."""
    frame, persons = numeric(data.draw)
    asked = data.draw(
        st.sampled_from([{"k": 2, "e": 2}, {"epsilon": 1, "m": 2}, {"k": 2, "epsilon": 0.5, "m": 2}])
    )
    policy = Policy(
        attributes={
            "zip": {"role": "quasi", "kind": "categorical"},
            "pay": {"role": "sensitive", "kind": "numeric"},
        },
        guarantee=asked,
        publish={"method": "anatomize", "suppression": data.draw(st.sampled_from([0.0, 0.3]))},
    )
    checked(frame, persons, policy)


def checked(frame: pl.DataFrame, persons: Any, policy: Policy) -> int:
    """How many buckets there are, each of which was judged; 0 where the publication is refused."""
    try:
        work = work_for(frame, persons, policy)
        [draft] = drafts_of(work, method_of(policy).plan(work)).views
    except ManyveilsError:
        return 0
    assert_whole(work, draft.rows)
    assert_one_bucket_each(work, draft)
    groups = groups_of(work.table, draft)
    for rows in groups.values():
        for promise in work.promises:
            assert kept_by(promise, work, rows), promise.guarantee.kind
    return len(groups)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_sets_of_values_are_held_by_persons(data):
    """A value of a multi-valued attribute is held by who has it in any row, in every bucket."""
    n = data.draw(st.integers(2, 24))
    cells = data.draw(st.lists(st.sets(st.sampled_from("abcdef"), max_size=3), min_size=n, max_size=n))
    persons = data.draw(st.lists(st.integers(0, n // 2), min_size=n, max_size=n))
    frame = pl.DataFrame(
        {"zip": [str(row % 3) for row in range(n)], "ills": [";".join(sorted(cell)) for cell in cells]}
    )
    policy = Policy(
        attributes={
            "zip": {"role": "quasi", "kind": "categorical"},
            "ills": {"role": "sensitive", "kind": "categorical", "multivalued": ";"},
        },
        guarantee=data.draw(
            st.sampled_from(
                [{"l": 2, "l_kind": "frequency"}, {"alpha": 0.6}, {"k": 3}, {"t": 0.5}, {"beta": 1.0}]
            )
        ),
        publish={"method": "anatomize", "suppression": 0.2},
    )
    checked(frame, persons, policy)


@settings(max_examples=100, deadline=None)
@given(crowd=crowds({"method": "anatomize"}, LEVELED))
def test_labels_are_counted_by_persons(crowd):
    """Where l counts labels, so it does for persons."""
    checked(crowd.case.frame, crowd.persons, crowd.case.policy)


@pytest.mark.parametrize(
    "columns", ["auto", [["age", "job"], ["sex", "ill"]], [["age", "job", "sex"], ["ill"]]]
)
@pytest.mark.parametrize("partition", ["mondrian", "random", "membership"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_every_slice_keeps_every_promise(partition, columns, data):
    """Slicing puts a person into one bucket, in which every promise is kept for those who know values of the column."""
    crowd = data.draw(crowds({"method": "slice", "partition": partition, "bucket": 2, "columns": columns}))
    drafted = crowd.drafted()
    if drafted is None:
        return
    work, [draft] = drafted
    assert_whole(work, draft.rows)
    assert_one_bucket_each(work, draft)
    for column in draft.columns:
        if set(column) & set(work.sensitive):
            assert_column_keeps(work, draft, column)


def assert_column_keeps(work, draft, column: tuple[str, ...]) -> None:
    """Every part of a bucket in which what is known of a column is shown alike keeps every promise about it."""
    known = [name for name in column if name in work.quasi]
    shown = [
        draft.recodings[name].codes if name in draft.recodings else work.table[name].codes for name in known
    ]
    for rows in groups_of(work.table, draft).values():
        places = np.searchsorted(draft.rows, rows)
        keys = [tuple(int(codes[place]) for codes in shown) for place in places.tolist()]
        for key in {*keys}:
            part = [row for row, own in zip(rows, keys, strict=True) if own == key]
            for promise in work.promises:
                if set(promise.protects) <= set(column):
                    assert kept_by(promise, work, part, column), promise.guarantee.kind


@pytest.mark.parametrize("anonymizer", ["anatomize", "slice"])
@pytest.mark.parametrize("decompose", ["uad", "gd"])
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_every_guardian_keeps_its_promises(decompose, anonymizer, data):
    """Each table that guards a column has whole persons in its buckets, which keep every promise about that column."""
    crowd = data.draw(crowds({"method": "guardian", "decompose": decompose, "anonymizer": anonymizer}))
    drafted = crowd.drafted()
    for draft in drafted[1] if drafted else ():
        work = drafted[0]
        assert_whole(work, draft.rows)
        assert_one_bucket_each(work, draft)
        for column in draft.columns:
            if {*draft.attributes} & {*work.quasi} and {*column} & {*work.sensitive}:
                assert_column_keeps(work, draft, column)


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_the_whole_table_keeps_every_promise_where_attributes_are_apart(data):
    """Publishing attributes one by one is refused unless all persons as one group keep every promise."""
    crowd = data.draw(crowds({"method": "separate"}))
    drafted = crowd.drafted()
    for draft in drafted[1] if drafted else ():
        work = drafted[0]
        assert_whole(work, draft.rows)
        assert draft.buckets is None
        for promise in work.promises:
            if set(promise.protects) <= {*draft.attributes}:
                assert kept_by(promise, work, draft.rows.tolist()), promise.guarantee.kind


def twice_seen() -> pl.DataFrame:
    """Thirty persons with two rows each; s does not change."""
    rng = np.random.default_rng(3)
    changing = {name: rng.choice([*"abcdef"], 60) for name in "qt"}
    return pl.DataFrame(
        {"who": [*range(30), *range(30)], **changing, "s": np.tile(rng.choice([*"abcdef"], 30), 2)}
    )


@pytest.mark.parametrize(
    ("publish", "message"),
    [
        ({"method": "slice", "columns": [["q", "s"], ["t"]]}, "seen with it beside several values of q"),
        ({"method": "slice", "columns": [["q", "t"], ["s"]]}, None),
        ({"method": "anatomize"}, None),
        ({"method": "separate"}, None),
        ({"method": "grade"}, "seen in several groups with it"),
        ({"method": "grade", "then": "anatomize"}, "cannot be counted in buckets of codes"),
    ],
)
def test_a_constant_attribute_is_seen_in_one_group_or_refused(publish, message):
    """Who is seen several times with what does not change has all her rows in one group, or else it is refused."""
    frame = twice_seen()
    sections = {
        "data": {"person": "who"},
        "attributes": {
            "who": {"role": "identifier"},
            "q": {"role": "quasi", "kind": "categorical"},
            "t": {"role": "sensitive", "kind": "categorical"},
            "s": {"role": "sensitive", "kind": "categorical", "constant": True},
        },
        "guarantee": {"l": 2},
        "publish": publish,
    }
    if message is None:
        assert drafted_from(frame, Policy(**sections))
        return
    with pytest.raises(ManyveilsError, match=message):
        drafted_from(frame, Policy(**sections))


def drafted_from(frame: pl.DataFrame, policy: Policy):
    """The views of a table that names its persons."""
    work = work_for(frame, frame["who"], policy)
    return drafts_of(work, method_of(policy).plan(work)).views


def test_multi_sa_refuses_persons():
    """Multi-SA publishing chooses rows one by one, and says so where persons have several."""
    frame, persons = visits(20, 40, 5, 0.0)
    with pytest.raises(PolicyError, match="cannot keep those of a person together"):
        drafted(frame, persons, {"method": "multi-sa"}, l=2)


def test_tables_that_show_a_constant_attribute_twice_are_refused():
    """Guardian refuses to show a constant attribute of persons with several rows in two tables."""
    frame = twice_seen()
    sections = {
        "data": {"person": "who"},
        "attributes": {"who": {"role": "identifier"}}
        | {name: {"role": "neutral", "kind": "categorical", "constant": name == "s"} for name in "qst"},
        "rules": [{"given": ["q"], "protect": name, "l": 2} for name in "st"],
        "publish": {"method": "guardian", "decompose": "gd"},
    }
    work = work_for(frame, frame["who"], Policy(**sections))
    apart = (Piece(frozenset("qs"), "s"), Piece(frozenset("t")))
    refuse_sightings(work, apart)
    with pytest.raises(PolicyError, match="2 tables show it"):
        refuse_sightings(work, (*apart, Piece(frozenset("ts"))))
    rows = work_of(work.policy, replace(work.table, persons=None), Streams(1))
    refuse_sightings(rows, (*apart, Piece(frozenset("ts"))))


def visits(n_persons: int, n_rows: int, n_codes: int, skew: float, seed: int = 1):
    """A table of visits, and whose they are: everybody has one at least, and codes are the rarer the later."""
    rng = np.random.default_rng(seed)
    persons = np.append(np.arange(n_persons), rng.integers(0, n_persons, n_rows - n_persons))
    shares = 1 / np.arange(1, n_codes + 1) ** skew
    codes = rng.choice(n_codes, n_rows, p=shares / shares.sum())
    frame = pl.DataFrame({"zip": rng.integers(0, 9, n_rows), "code": [f"c{code}" for code in codes]})
    return frame, persons


def policy_for(frame: pl.DataFrame, publish: dict[str, Any], **guarantee: Any) -> Policy:
    """The first attribute is known, the others are sensitive."""
    known, *sensitive = frame.columns
    roles = {known: "quasi"} | dict.fromkeys(sensitive, "sensitive")
    return Policy(
        attributes={name: {"role": role, "kind": "categorical"} for name, role in roles.items()},
        guarantee=guarantee,
        publish=publish,
    )


def drafted(frame: pl.DataFrame, persons: Any, publish: dict[str, Any], seed: int = 1, **guarantee: Any):
    """The publication of visits and the buckets of its first view, which are checked one by one."""
    work = work_for(frame, persons, policy_for(frame, publish, **guarantee), seed)
    draft = drafts_of(work, method_of(work.policy).plan(work)).views[0]
    assert_whole(work, draft.rows)
    assert_one_bucket_each(work, draft)
    groups = groups_of(work.table, draft)
    for rows in groups.values():
        assert all(kept_by(promise, work, rows) for promise in work.promises)
    return work, groups


@pytest.mark.parametrize(
    ("n_persons", "n_rows", "n_codes", "skew", "most"),
    [(300, 1000, 700, 0.3, 4), (300, 1000, 40, 0.0, 12), (200, 1000, 30, 0.0, 80), (60, 900, 700, 0.3, 20)],
)
def test_buckets_are_small(n_persons, n_rows, n_codes, skew, most):
    """Buckets are no larger than the values of the persons in them ask for."""
    frame, persons = visits(n_persons, n_rows, n_codes, skew)
    work, groups = drafted(frame, persons, {"method": "anatomize"}, l=2, l_kind="frequency")
    sizes = [len({*work.table.persons[rows].tolist()}) for rows in groups.values()]
    assert np.median(sizes) <= most


@pytest.mark.parametrize("persons", [[0] * 6, [0, 0, 0, 0, 0, 1]])
def test_one_person_is_no_crowd(persons):
    """All rows of one person, or of one and another, keep nothing that asks for three."""
    frame = pl.DataFrame({"zip": ["1"] * 6, "code": [*"abcdef"]})
    for asked in ({"k": 3}, {"l": 3}, {"l": 3, "l_kind": "frequency"}):
        with pytest.raises(ManyveilsError):
            drafted(frame, persons, {"method": "anatomize", "suppression": 0.5}, **asked)


@pytest.mark.parametrize("asked", [{"l": 2}, {"l": 2, "l_kind": "frequency"}, {"k": 3}])
def test_the_order_of_rows_and_what_is_known_decide_nothing(asked):
    """Another order of rows leaves it as it is who meets whom, and other zips which codes of persons meet."""
    frame, persons = visits(60, 150, 12, 0.3)
    apart = frame.with_columns(zip=pl.Series(np.random.default_rng(9).integers(0, 9, 150)))
    order = np.random.default_rng(5).permutation(150)
    people, kinds = [], []
    for other, owners in ((frame, persons), (frame[order], persons[order]), (apart, persons)):
        _, groups = drafted(other, owners, {"method": "anatomize"}, **asked)
        people.append({frozenset(owners[rows].tolist()) for rows in groups.values()})
        kinds.append(sorted(kinds_met(other["code"].to_list(), owners, rows) for rows in groups.values()))
    assert people[0] == people[1] != people[2]
    assert kinds[0] == kinds[1]
    if "l_kind" in asked:
        assert kinds[0] == kinds[2]


def kinds_met(codes: list[str], owners: np.ndarray, rows: list[int]) -> list[list[str]]:
    """The codes of each person of a bucket, without saying who it is."""
    held: dict[int, set[str]] = {}
    for row in rows:
        held.setdefault(int(owners[row]), set()).add(codes[row])
    return sorted(map(sorted, held.values()))


def test_chance_decides_who_of_equals_meets_whom():
    """Persons with equal codes are in another bucket with another seed."""
    frame, persons = visits(60, 150, 4, 0.0)
    frame = frame.with_columns(code=pl.Series([f"c{person % 4}" for person in persons]))
    drawn = set()
    for seed in range(1, 5):
        _, groups = drafted(frame, persons, {"method": "anatomize"}, seed, l=2, l_kind="frequency")
        drawn.add(tuple(sorted(tuple(rows) for rows in groups.values())))
    assert len(drawn) == 4


def test_linked_attributes_are_judged_together():
    """Whoever knows the attribute that is linked finds fewer persons, and these keep the promise too."""
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"zip": ["1"] * 80, **{name: [f"{x}" for x in rng.integers(0, 4, 80)] for name in ("code", "drug")}}
    )
    persons = np.append(np.arange(40), np.arange(40))
    sections = {"method": "anatomize", "link": [["code", "drug"]]}
    policy = policy_for(frame, sections, l=2, conditional=True)
    work = work_for(frame, persons, policy)
    [draft] = drafts_of(work, method_of(policy).plan(work)).views
    for rows in groups_of(work.table, draft).values():
        for known, name in (("drug", "code"), ("code", "drug")):
            [promise] = [promise for promise in work.promises if promise.protects == (name,)]
            for code in {*work.table[known].codes[rows].tolist()}:
                part = [row for row in rows if work.table[known].codes[row] == code]
                assert kept_by(promise, work, part)


def test_ten_visits_of_three_patients_are_refused():
    """Ten visits of three patients are no crowd of four, and the refusal says how many persons there are."""
    frame = pl.DataFrame({"zip": ["1"] * 10, "code": [*"abcabcabca"]})
    patients = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    for method in ("anatomize", "slice", "guardian", "separate"):
        with pytest.raises(PolicyError, match="k = 4 but there are 3 persons in 10 rows"):
            drafted(frame, patients, {"method": method}, k=4, l=3)
        with pytest.raises(InfeasibleError, match=r"held by 3 of 3 persons; with l = 3 .* at most 1"):
            drafted(frame, patients, {"method": method}, k=3, l=3, l_kind="frequency")


def test_who_has_thousands_of_rows_gets_a_larger_bucket():
    """One person with 5,000 rows of 700 codes shares a bucket with enough others, who keep small ones among themselves."""
    frame, persons = visits(2000, 4000, 700, 0.3)
    heavy, _ = visits(1, 5000, 700, 0.3, seed=2)
    both = pl.concat([frame, heavy])
    work, groups = drafted(
        both, np.append(persons, np.full(5000, 2000)), {"method": "anatomize"}, l=3, l_kind="frequency"
    )
    sizes = Counter(len({*work.table.persons[rows].tolist()}) for rows in groups.values())
    assert sum(size * times for size, times in sizes.items()) == 2001
    assert sizes[3] + sizes[4] > 600
