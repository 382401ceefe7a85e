"""What the judge compiles says what its NumPy form says, and what a plain reading of the definition says."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.audits.combining import multiplied
from manyveils.audits.matched import n_matched
from manyveils.audits.members import first_alike
from manyveils.reading.keys import combined, combined_together, firsts_of, without_gaps
from manyveils.reading.persons import are_labelled
from manyveils.table.order import digit_by_digit

FORMS = ("compiled", "few")
in_both_forms = pytest.mark.parametrize("form", FORMS)
small = st.integers(0, 4)


def whole(numbers):
    return np.array(list(numbers), dtype=np.int64)


def starts_of(lists):
    return whole(np.cumsum([0, *map(len, lists)]))


def largest_matching(holders):
    """The size of a largest matching between values and their holders, by trying everything."""
    persons = sorted({person for own in holders for person in own})
    seats = [*persons, *[None] * len(holders)]
    return max(
        (
            sum(person in own for own, person in zip(holders, order, strict=False))
            for order in permutations(seats, len(holders))
        ),
        default=0,
    )


@in_both_forms
@given(st.lists(st.lists(st.sets(st.integers(0, 3), min_size=1), max_size=4), max_size=3), st.integers(1, 5))
def test_matchings(form, groups, enough):
    """Of each group as many values as have different persons, or enough."""
    values = [
        sorted(5 * number + person for person in own) for number, group in enumerate(groups) for own in group
    ]
    found = getattr(n_matched, form)(
        starts_of(groups), starts_of(values), whole(person for own in values for person in own), enough
    )
    assert found.tolist() == [min(largest_matching(group), enough) for group in groups]


@in_both_forms
def test_a_path_that_takes_values_from_others(form):
    """The last value finds a person only if all before it move on; one too many finds none."""
    n = 200
    chain = [[person, person + 1] for person in range(n)]
    holders = [*chain, [0], [0]]
    found = getattr(n_matched, form)(
        whole([0, n + 2]), starts_of(holders), whole(person for own in holders for person in own), n + 2
    )
    assert found.tolist() == [n + 1]


@in_both_forms
def test_a_path_after_another(form):
    """Who gave a value up has another one, over which the next search goes on."""
    holders = [[0, 1], [2, 3], [0, 2], [0]]
    found = getattr(n_matched, form)(
        whole([0, 4]), starts_of(holders), whole(person for own in holders for person in own), 4
    )
    assert found.tolist() == [4]


@in_both_forms
@given(st.lists(st.lists(small, max_size=5), max_size=5))
def test_leaders(form, lines):
    """The first line of the same person with the same number leads."""
    numbers, starts = whole(number for own in lines for number in own), starts_of(lines)
    found = getattr(first_alike, form)(starts, numbers)
    assert found.tolist() == [
        start + own.index(number) for start, own in zip(starts, lines, strict=False) for number in own
    ]


@in_both_forms
@given(
    st.lists(st.lists(small, min_size=1, max_size=3), max_size=5),
    st.lists(st.lists(small, min_size=3, max_size=3), min_size=5, max_size=5),
)
def test_beliefs_from_several_groups(form, seen, gains):
    """Shares go with the product of what is known before and of what every group gains; where nothing is possible, nothing is believed."""
    prior, table = np.array([0.5, 0.25, 0.25]), np.array(gains, dtype=float)
    with np.errstate(divide="ignore"):
        found = getattr(multiplied, form)(
            np.log(table), starts_of(seen), whole(group for own in seen for group in own), np.log(prior)
        )
    for shares, own in zip(found, seen, strict=True):
        weights = prior * np.prod(table[own], axis=0)
        assert shares == pytest.approx(weights / weights.sum() if weights.any() else weights)


@in_both_forms
@given(st.lists(st.integers(0, 30), max_size=20))
def test_numbers_without_gaps_and_their_firsts(form, numbers):
    """Numbers are numbered in their order; each is first where it stands first, and counted."""
    key, ordered = whole(numbers), sorted({*numbers})
    assert getattr(without_gaps, form)(key, 31).tolist() == [ordered.index(number) for number in numbers]
    first, counts = getattr(firsts_of, form)(key, 31)
    assert counts.tolist() == [numbers.count(number) for number in range(31)]
    assert [first[number] for number in ordered] == [numbers.index(number) for number in ordered]


@in_both_forms
@given(st.lists(st.integers(0, 3) | st.integers(0, 2**17) | st.integers(0, 2**62), max_size=30))
def test_order(form, keys):
    """Equal numbers keep their order."""
    assert (
        getattr(digit_by_digit, form)(whole(keys)).tolist() == np.argsort(whole(keys), kind="stable").tolist()
    )


@in_both_forms
@given(st.lists(st.tuples(small, small), max_size=8))
def test_labels_of_rows(form, told):
    """Rows are labelled rightly only if every one is."""
    label_of, codes = whole([0, 0, 1, 1, 2]), np.array([code for code, _ in told], dtype=np.int32)
    labels = whole(label for _, label in told)
    found = getattr(are_labelled, form)(label_of, codes, np.arange(codes.size), labels)
    assert found == all(label_of[code] == label for code, label in told)


@given(st.lists(st.tuples(small, small), max_size=8), st.integers(1, 2**40))
def test_rows_of_several_tables_have_one_numbering(rows, factor):
    """Rows are equal where their numbers are, in one table or in two, however large numbers are and of whatever width."""
    first, second = ([row[place] * factor for row in rows] for place in (0, 1))
    cut = len(rows) // 2
    parts = [(whole(column[:cut]), whole(column[cut:])) for column in (first, second, first)]
    together = combined_together(parts)
    apart = combined([whole(first), whole(second), np.array([row[0] for row in rows], dtype=np.uint8)])
    for numbers in (together, apart):
        assert len({*numbers.tolist()}) == len({*rows})
        assert len({*zip(rows, numbers.tolist(), strict=True)}) == len({*rows})
