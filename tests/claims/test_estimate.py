"""The distribution a release implies: its definition, sums over it, bounds, and rows drawn from it."""

from itertools import product
from math import prod

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.reading import Reading
from manyveils.reading.counting import bounds, share
from manyveils.release import Draft, Recoding, seal
from manyveils.table import hold
from tests.kit.conformance import CONFIGURATIONS, attempt
from tests.kit.strategies import cases

every_method = pytest.mark.parametrize("publish", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


def text(value):
    """A cell as a text."""
    return "" if value is None else str(value)


def view_probability(release, view, values):
    """P of some attributes' originals in one view, row by row, from the definition."""
    buckets = {}
    for file in view.files:
        for row in release.frames[file.table].iter_rows(named=True):
            buckets.setdefault(row.get("bucket", 0), {}).setdefault(file.table, []).append(row)
    total = 0.0
    for columns in buckets.values():
        size = len(next(iter(columns.values())))
        factors = []
        for file in view.files:
            asked = [name for name in file.attributes if name in values]
            if asked:
                taken = sum(
                    prod(taken_of(release, view, name, row[name], values[name]) for name in asked)
                    for row in columns[file.table]
                )
                factors.append(taken / size)
        total += size / view.rows * prod(factors)
    return total


def taken_of(release, view, name, label, original):
    """The share of a label's weight that falls on an original."""
    recoding = release.recodings.get((view.name, name))
    if recoding is None:
        return float(text(label) == original)
    covered = [text(o) for p, o in recoding.iter_rows() if text(p) == text(label)]
    covered = covered or [text(label)]
    return (original in covered) / len(covered)


def probability(release, estimate, values):
    """p̂ of a tuple: view after view, new attributes given those known."""
    views = {view.name: view for view in release.views}
    result = 1.0
    for step in estimate.steps:
        view = views[step.view.name]
        both = view_probability(release, view, {n: values[n] for n in (*step.new, *step.known)})
        if step.known:
            known = view_probability(release, view, {n: values[n] for n in step.known})
            alone = view_probability(release, view, {n: values[n] for n in step.new})
            both = both / known if known > 0 else alone
        result *= both
    return result


def all_tuples(estimate):
    """Every combination of originals, as codes."""
    names = [name for step in estimate.steps for name in step.new]
    grid = np.array(
        list(product(*(range(len(estimate.domains[name].texts)) for name in names))), dtype=np.int64
    )
    return {name: grid[:, place] for place, name in enumerate(names)}, len(grid)


@every_method
@few
@given(data=st.data())
def test_probabilities(publish, data):
    """p̂ sums to one, is what its definition says, and a predicate's share is the sum over the tuples it holds for."""
    release = attempt(data.draw(cases(publish, smallest=2, largest=12)))
    if release is None or release.rows == 0:
        return
    reading = Reading(release)
    estimate = reading.estimate
    tuples, n_tuples = all_tuples(estimate)
    found = estimate.probability(tuples, n_tuples)
    assert found.sum() == pytest.approx(1)
    for place in data.draw(st.lists(st.integers(0, n_tuples - 1), min_size=3, max_size=3)):
        values = {name: estimate.domains[name].texts[codes[place]] for name, codes in tuples.items()}
        assert found[place] == pytest.approx(probability(release, estimate, values), abs=1e-12)
    masks = {
        name: np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        for name, n in ((name, len(estimate.domains[name].texts)) for name in tuples)
        if data.draw(st.booleans())
    }
    fits = np.logical_and.reduce(
        [np.ones(n_tuples, dtype=bool), *(mask[tuples[n]] for n, mask in masks.items())]
    )
    assert share(estimate, masks) == pytest.approx(found[fits].sum(), abs=1e-9)


@every_method
@few
@given(data=st.data())
def test_bounds_hold(publish, data):
    """The true count lies within the bounds, and so does the estimate."""
    case = data.draw(cases(publish, smallest=2))
    release = attempt(case)
    if release is None or release.rows == 0:
        return
    reading = Reading(release)
    domains = reading.estimate.domains
    masks, fits = {}, pl.Series([True] * case.frame.height)
    for name in (each for each in domains if each not in release.manifest.secret):
        if data.draw(st.booleans()):
            chosen = data.draw(st.lists(st.sampled_from(domains[name].texts), unique=True))
            masks[name] = np.array([value in chosen for value in domains[name].texts])
            fits &= case.frame[name].cast(pl.String).fill_null("").is_in(chosen)
    counted = reading.count_of(masks)
    assert counted.low <= int(fits.sum()) <= counted.high
    assert counted.low <= counted.estimate <= counted.high
    if not release.suppressed:
        within = bounds(reading.estimate, masks, release.rows)
        assert (within.low, within.high) == (counted.low, counted.high)


@pytest.mark.parametrize(
    "publish",
    [CONFIGURATIONS[name] for name in ("mondrian, automatic labels", "anatomize", "slice", "codip")],
)
def test_drawn_rows(publish):
    """Rows drawn from p̂ have every single value about as often as p̂ says, and pairs of values too."""
    case = mv.datasets.hospital(200)
    release = mv.publish(case, mv.datasets.hospital_policy(publish=publish), seed=1)
    reading = Reading(release)
    drawn = reading.sample(20_000, seed=1)
    assert set(drawn.columns) == {name for view in release.views for name in view.attributes}
    for names in (["sex"], ["insurance"], ["sex", "insurance"], ["sex", "diagnosis=Flu"]):
        for values, rows in drawn.group_by(names):
            masks = {
                name: np.array([t == text(value) for t in reading.estimate.domains[name].texts])
                for name, value in zip(names, values, strict=True)
            }
            assert rows.height / 20_000 == pytest.approx(share(reading.estimate, masks), abs=0.02)
    assert drawn.equals(reading.sample(20_000, seed=1))


def test_values_that_a_recoding_does_not_list_stand_for_themselves():
    """Where a group replaces some cells only, the other cells count as the values they are."""
    policy = mv.Policy(attributes={"ill": {"role": "sensitive"}})
    table, restore = hold(pl.DataFrame({"ill": ["Depression", "Depression", "Mania", "Headache"]}), policy)
    labels = ("Depression", "Affective", "Headache")
    covers = (np.array([1, 1]), ("Depression", "Mania"))
    recoding = Recoding(np.array([0, 1, 1, 2], dtype=np.int32), labels, covers)
    draft = Draft("main", (("ill",),), np.arange(4), recodings={"ill": recoding})
    release = seal([draft], table, policy, restore, notes={}, rng=np.random.default_rng(1))
    counts = {ill: release.count(f"ill = '{ill}'") for ill in ("Depression", "Mania", "Headache")}
    assert {ill: (c.estimate, c.low, c.high) for ill, c in counts.items()} == {
        "Depression": (2.0, 1, 3),
        "Mania": (1.0, 0, 2),
        "Headache": (1.0, 1, 1),
    }
