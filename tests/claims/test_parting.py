"""Rows cut at the top: parts share no value of the column they were parted by, and each keeps every promise."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from manyveils.errors import PolicyError
from manyveils.methods import Work, read_options
from manyveils.methods.parting import Cut, Cuts, Parting
from manyveils.policy.guarantees import KAnonymity
from manyveils.table import Streams, hold, resolve
from tests.kit import sealed
from tests.kit.compact import compact_table
from tests.kit.reading import broken_promises
from tests.kit.strategies import Case, cases

MONDRIAN = {"method": "generalize", "recoding": "mondrian"}
some = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
LABELS = st.sampled_from(["auto", "ranges", "sets", "hierarchy"])


@st.composite
def several_cuts(draw):
    """Codes of a few columns, and cuts of parts that are there when they are cut."""
    n_rows, sizes = draw(st.integers(0, 30)), {"p": draw(st.integers(1, 5)), "q": draw(st.integers(1, 5))}
    codes = {
        name: np.array(draw(st.lists(st.integers(0, n - 1), min_size=n_rows, max_size=n_rows)), dtype=int)
        for name, n in sizes.items()
    }
    cuts = []
    for new in range(1, draw(st.integers(0, 6)) + 1):
        column = draw(st.sampled_from(sorted(sizes)))
        left = draw(st.lists(st.booleans(), min_size=sizes[column], max_size=sizes[column]))
        cuts.append(Cut(draw(st.integers(0, new - 1)), new, column, np.array(left)))
    return codes, n_rows, Cuts(tuple(cuts))


def part_of(row, cuts):
    """The part of one row: cut after cut, as they were made."""
    part = 0
    for cut in cuts.each:
        if part == cut.part and not cut.left[row[cut.column]]:
            part = cut.new
    return part


@some
@given(several_cuts())
def test_the_part_of_every_row(found):
    """Rows go where the cuts send them one by one."""
    codes, n_rows, cuts = found
    rows = [{name: each[place] for name, each in codes.items()} for place in range(n_rows)]
    assert cuts.parts_of(codes, n_rows).tolist() == [part_of(row, cuts) for row in rows]
    assert cuts.n_parts == 1 + len(cuts.each)


def assert_parted(codes, parts):
    """Rows of two parts differ in a column of which no value stands in both."""
    for one in range(parts.max(initial=-1) + 1):
        for other in range(one):
            apart = [set(each[parts == one]) & set(each[parts == other]) for each in codes.values()]
            assert not all(apart), (one, other)


@some
@given(several_cuts())
def test_parts_share_no_value_of_some_column(found):
    """Whatever is cut in whatever order, two parts share no value of some column."""
    codes, n_rows, cuts = found
    assert_parted(codes, cuts.parts_of(codes, n_rows))


def work_of(case):
    """The work of a case, or nothing to be tried if its promises do not fit the data."""
    table, _ = hold(case.frame, case.policy)
    try:
        return Work(case.policy, table, resolve(case.policy, table), read_options(case.policy), Streams(1))
    except PolicyError:
        assume(False)


def by_rows(work):
    """Counts in parts, from rows that stand for one person each."""
    ones = np.ones(work.table.n_rows, dtype=np.int64)
    columns = {name: replace(each, weights=ones) for name, each in work.table.attributes.items()}
    return by_table(replace(work.table, attributes=columns, weights=ones))


def by_table(table):
    """Counts in parts, from one table whose rows have weights."""
    return lambda names, cuts: (table, parts_in(table, cuts))


def parts_in(table, cuts):
    """The part of every row of a table."""
    return cuts.parts_of({name: table[name].codes for name in cuts.columns}, table.n_rows)


def by_question(work):
    """Counts in parts, with no more columns than were asked for, as a cluster counts them."""

    def counted(names, cuts):
        beside = replace(work.table, attributes={name: work.table[name] for name in (*names, *cuts.columns)})
        table = compact_table(beside)
        parts = parts_in(table, cuts)
        return replace(table, attributes={name: table[name] for name in names}), parts

    return counted


def described(cuts):
    """Cuts as plain values."""
    return [(cut.part, cut.new, cut.column, cut.left.tolist()) for cut in cuts.each]


@some
@given(case=cases(MONDRIAN, largest=40), most=st.integers(1, 12), labels=LABELS)
def test_counts_decide_as_rows_do(case, most, labels):
    """Distinct rows with counts, and counts of only what is asked, are cut as plain rows are."""
    work = work_of(case)
    ways = [by_rows(work), by_table(compact_table(work.table)), by_question(work)]
    rows, counts, asked = (described(Parting(work, labels, work.sensitive, most, way).cuts()) for way in ways)
    assert rows == counts == asked


@some
@given(case=cases(MONDRIAN, largest=40), most=st.integers(1, 12), labels=LABELS)
def test_parts_keep_every_promise(case, most, labels):
    """By the oracle every part keeps every promise as a group of its own, and parts share no value of some column."""
    work = work_of(case)
    parts = parts_in(work.table, Parting(work, labels, work.sensitive, most, by_rows(work)).cuts())
    assert_parted({name: work.table[name].codes for name in work.quasi}, parts)
    if not parts.any():
        return
    release, table = sealed(
        case.frame, case.policy, columns=[work.quasi, work.sensitive], buckets=parts.tolist()
    )
    promises = [each for each in work.promises if not isinstance(each.guarantee, KAnonymity)]
    assert not list(broken_promises(release, table, case.policy, tuple(promises)))
    for promise in work.promises:
        if isinstance(promise.guarantee, KAnonymity):
            assert np.bincount(parts).min() >= promise.guarantee.k


def nearest_cut(codes, least):
    """Where a column is cut: between two values, nearest to the middle, with enough rows on both sides."""
    values, n = sorted(codes), len(codes)
    ends = [place for place, (one, next_) in enumerate(pairwise(values), 1) if one != next_]
    ends = [end for end in ends if min(end, n - end) >= least]
    return min(ends, key=lambda end: abs(2 * end - n), default=None)


@pytest.mark.parametrize("k", [1, 3])
@some
@given(data=st.data(), most=st.integers(1, 12), labels=st.sampled_from(["ranges", "sets"]))
def test_parts_are_small_where_cuts_exist(k, data, most, labels):
    """A part that is larger than asked has no column whose middle cut leaves enough rows on both sides."""
    case = data.draw(cases(MONDRIAN, smallest=3, largest=40))
    work = work_of(replace(case, sections={**case.sections, "guarantee": {"k": k}}))
    parts = parts_in(work.table, Parting(work, labels, work.sensitive, most, by_rows(work)).cuts())
    for part in range(parts.max(initial=0) + 1):
        inside = parts == part
        for name in work.quasi if inside.sum() > most else ():
            codes = work.table[name].codes[inside].tolist()
            end = nearest_cut(codes, max(most // 4, 1))
            assert end is None or min(end, len(codes) - end) < k


def test_a_promise_stops_a_cut():
    """Rows are cut where both sides stay diverse, and nowhere else."""
    frame = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3], "job": ["x", "y"] * 3, "ill": ["a", "b"] * 3})
    sections = {
        "attributes": {
            "age": {"role": "quasi", "kind": "numeric"},
            "job": {"role": "quasi", "kind": "categorical"},
            "ill": {"role": "sensitive", "kind": "categorical"},
        },
        "guarantee": {"l": 2},
        "publish": MONDRIAN,
    }
    work = work_of(Case(frame, sections))
    parts = parts_in(work.table, Parting(work, "sets", work.sensitive, 2, by_rows(work)).cuts())
    groups = {tuple(sorted(frame["age"].filter(parts == part))) for part in set(parts.tolist())}
    assert groups == {(1, 1), (2, 2), (3, 3)}
