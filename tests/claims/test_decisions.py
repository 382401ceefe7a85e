"""The maker decides every guarantee as the oracle does, group by group."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    Disclosure,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    KAnonymity,
    Likeness,
    Linkability,
    NumericSpread,
    Proximity,
    RecursiveDiversity,
)
from manyveils.promises.keeping import count_for, kept, watch
from manyveils.table import hold
from tests.kit.oracles import holds
from tests.kit.reading import levels_of

TREE = {"low": ["10", "11", "12"], "high": ["20", "21"]}
VALUES = [10, 11, 12, 20, 21]


def share():
    """Thresholds as people write them."""
    return st.integers(1, 20).map(lambda twentieths: Fraction(twentieths, 20))


GUARANTEES = {
    "k": st.builds(KAnonymity, st.integers(1, 6)),
    "distinct": st.builds(DistinctDiversity, st.integers(1, 5)),
    "frequency": st.builds(FrequencyDiversity, st.integers(1, 5)),
    "entropy": st.builds(EntropyDiversity, st.integers(1, 5)),
    "recursive": st.builds(
        RecursiveDiversity,
        st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)]),
        st.integers(1, 4),
    ),
    "t equal": st.builds(Closeness, share(), st.just("equal")),
    "t ordered": st.builds(Closeness, share(), st.just("ordered")),
    "t hierarchical": st.builds(Closeness, share(), st.just("hierarchical")),
    "alpha": st.builds(CappedShare, share(), st.sampled_from([(), ("10",), ("20", "11")])),
    "linkability": st.builds(Linkability, share()),
    "beta": st.builds(Likeness, share().map(lambda x: x * 4)),
    "delta": st.builds(Disclosure, share().map(lambda x: x * 3)),
    "spread": st.builds(
        NumericSpread, st.sampled_from([Fraction(1), Fraction(2), Fraction(10), Fraction(11)])
    ),
    "proximity": st.builds(
        Proximity, st.sampled_from([Fraction(0), Fraction(1), Fraction(8)]), st.integers(1, 4)
    ),
}


def policy(**more):
    """One numeric sensitive attribute with a hierarchy, another beside it."""
    return Policy(
        attributes={
            "pay": {"role": "sensitive", "kind": "numeric", "hierarchy": {"tree": TREE}},
            "ill": {"role": "sensitive", "kind": "categorical"},
        },
        **more,
    )


@pytest.mark.parametrize("strategy", GUARANTEES.values(), ids=GUARANTEES.keys())
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_each_guarantee(strategy, data):
    """A guarantee is decided as its definition says, for values that may be missing or need no protection."""
    n = data.draw(st.integers(1, 14))
    values = data.draw(st.lists(st.sampled_from([*VALUES, None]), min_size=n, max_size=n))
    groups = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    groups = np.unique(groups, return_inverse=True)[1]
    insensitive = data.draw(st.sampled_from([frozenset(), frozenset({"11"}), frozenset({"10", "20"})]))
    guarantee = data.draw(strategy)
    table, _ = hold(pl.DataFrame({"pay": pl.Series(values, dtype=pl.Int64), "ill": ["x"] * n}), policy())
    subject = () if isinstance(guarantee, KAnonymity) else ("pay",)
    watches = watch((Promise(guarantee, (), subject, insensitive),), table, ("pay", "ill"))
    sizes = np.bincount(groups)
    fine = kept(watches[0], count_for(watches, groups, sizes.size)[0], sizes)
    texts = ["" if value is None else str(value) for value in values]
    for group in range(sizes.size):
        members = [text for text, each in zip(texts, groups, strict=True) if each == group]
        expected = holds(
            guarantee,
            members,
            texts,
            insensitive=insensitive,
            domain=table["pay"].texts,
            levels=levels_of(table["pay"]),
        )
        assert fine[group] == expected, (members, texts)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_conditional_and_joint(data):
    """Conditional promises are decided inside every combination of the rest, joint ones on combinations."""
    n = data.draw(st.integers(1, 14))
    pay = data.draw(st.lists(st.sampled_from(VALUES), min_size=n, max_size=n))
    ill = data.draw(st.lists(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n))
    groups = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    guarantee = data.draw(st.one_of(GUARANTEES["distinct"], GUARANTEES["frequency"], GUARANTEES["entropy"]))
    table, _ = hold(pl.DataFrame({"pay": pay, "ill": ill}), policy())
    promises = (Promise(guarantee, (), ("pay",), conditional=True), Promise(guarantee, (), ("pay", "ill")))
    watches = watch(promises, table, ("pay", "ill"))
    sizes = np.bincount(groups)
    counted = count_for(watches, groups, sizes.size)
    conditional, joint = (kept(each, entries, sizes) for each, entries in zip(watches, counted, strict=True))
    rows = list(zip(pay, ill, groups, strict=True))
    for group in range(sizes.size):
        members = [(str(p), i) for p, i, g in rows if g == group]
        units = [[p for p, i in members if i == known] for known in {i for _, i in members}]
        assert conditional[group] == all(holds(guarantee, unit, []) for unit in units)
        assert joint[group] == holds(guarantee, [p + i for p, i in members], [])


@settings(max_examples=200, deadline=None)
@given(
    st.one_of(*GUARANTEES.values()).filter(lambda g: g.merging_keeps),
    st.lists(st.sampled_from(["10", "11", "20"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["10", "11", "20"]), min_size=1, max_size=8),
    st.lists(st.sampled_from(["10", "11", "20"]), max_size=8),
)
def test_merging_keeps(guarantee, one, other, rest):
    """Where a guarantee says that merging keeps it, two groups that keep it keep it as one; healing needs but one."""
    table = one + other + rest
    levels = [
        {v: v for v in ("10", "11", "20")},
        {"10": "low", "11": "low", "20": "high"},
        dict.fromkeys(("10", "11", "20"), "*"),
    ]
    parts = [holds(guarantee, part, table, domain=["10", "11", "20"], levels=levels) for part in (one, other)]
    merged = holds(guarantee, one + other, table, domain=["10", "11", "20"], levels=levels)
    if all(parts):
        assert merged
    if guarantee.one_part_heals and any(parts):
        assert merged
