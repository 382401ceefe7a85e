"""Seams: every bucket, and everybody whom it may hold, is on one side."""

from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.methods.seams import Boxes, seams_of

some = settings(max_examples=150, deadline=None)


@st.composite
def buckets(draw):
    """Buckets with the lowest and highest code of one to three columns, and their rows."""
    sizes = {name: draw(st.integers(1, 6)) for name in draw(st.sampled_from(["p", "pq", "pqr"]))}
    n = draw(st.integers(1, 10))
    low, high = {}, {}
    for name, size in sizes.items():
        ends = [sorted(draw(st.tuples(*[st.integers(0, size - 1)] * 2))) for _ in range(n)]
        low[name], high[name] = (np.array([end[side] for end in ends]) for side in (0, 1))
    rows = np.array(draw(st.lists(st.integers(1, 5), min_size=n, max_size=n)))
    return Boxes(low, high, rows, sizes)


def parts_of_buckets(boxes, cuts):
    """The part of every bucket, told by its highest codes as the engine tells it."""
    return cuts.parts_of(boxes.high, boxes.rows.size)


@some
@given(buckets(), st.integers(1, 12))
def test_a_bucket_lies_in_one_part(boxes, most):
    """Whichever of the codes between its ends are taken, a bucket falls into the same part."""
    cuts = seams_of(boxes, most)
    assert (cuts.parts_of(boxes.low, boxes.rows.size) == parts_of_buckets(boxes, cuts)).all()


@some
@given(buckets(), st.integers(1, 12))
def test_people_are_where_their_buckets_are(boxes, most):
    """A person whose every value lies inside a bucket's ends is in the part of that bucket."""
    cuts = seams_of(boxes, most)
    people = list(product(*(range(size) for size in boxes.sizes.values())))
    codes = {name: np.array([person[place] for person in people]) for place, name in enumerate(boxes.sizes)}
    homes = cuts.parts_of(codes, len(people))
    for bucket, part in enumerate(parts_of_buckets(boxes, cuts)):
        held = [
            all(boxes.low[name][bucket] <= value <= boxes.high[name][bucket] for name, value in each)
            for each in (zip(boxes.sizes, person, strict=True) for person in people)
        ]
        assert (homes[held] == part).all()


@some
@given(buckets(), st.integers(1, 12))
def test_buckets_that_touch_stay_together(boxes, most):
    """Two buckets that have a value in common in every column are never parted."""
    parts = parts_of_buckets(boxes, seams_of(boxes, most))
    for one, other in combinations(range(boxes.rows.size), 2):
        touching = [
            max(boxes.low[name][one], boxes.low[name][other])
            <= min(boxes.high[name][one], boxes.high[name][other])
            for name in boxes.sizes
        ]
        assert parts[one] == parts[other] or not all(touching)


def seam_exists(low, high):
    """Whether some value of a column has whole buckets before and after it, and none across."""
    return any(
        (high <= last).any() and (low > last).any() and ((high <= last) | (low > last)).all()
        for last in range(int(high.max()) + 1)
    )


@some
@given(buckets(), st.integers(1, 12))
def test_large_parts_have_no_seam(boxes, most):
    """A part with more rows than asked is one that no column has a seam in."""
    parts = parts_of_buckets(boxes, seams_of(boxes, most))
    for part in set(parts.tolist()):
        inside = parts == part
        if boxes.rows[inside].sum() > most:
            assert not any(
                seam_exists(boxes.low[name][inside], boxes.high[name][inside]) for name in boxes.sizes
            )


def test_few_rows_are_not_cut():
    """Where all buckets together are small enough, there is one part; with one row fewer allowed, there are two."""
    boxes = Boxes({"p": np.array([0, 2])}, {"p": np.array([1, 3])}, np.array([4, 4]), {"p": 4})
    assert seams_of(boxes, 8).n_parts == 1
    assert seams_of(boxes, 7).n_parts == 2


def test_the_most_even_seam_comes_first():
    """Of several seams the one that divides the rows best is cut first."""
    ends = np.arange(4)
    boxes = Boxes({"p": ends}, {"p": ends}, np.array([1, 1, 3, 3]), {"p": 4})
    assert parts_of_buckets(boxes, seams_of(boxes, 6)).tolist() == [0, 0, 0, 1]
