"""Ruling out values: the kernel, the maker's decision and the audit find the leaks that plain Python finds."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.kernels.eliminations import NO_LEAK, find_leak, withstand
from manyveils.policy import Promise
from manyveils.policy.guarantees import Elimination
from manyveils.promises.keeping import count_for, kept, watch
from manyveils.release import Draft, seal
from manyveils.table import hold
from tests.kit.oracles import leaks

NAMES = ("ill", "pay", "job")


@st.composite
def tables(draw):
    """Rows of a group number and three sensitive values."""
    n = draw(st.integers(1, 14))
    codes = st.integers(0, 3)
    return draw(st.lists(st.tuples(st.integers(0, 2), codes, codes, codes), min_size=n, max_size=n))


def policy(**more):
    """One quasi-identifier, the group, and three sensitive attributes."""
    attributes = {"group": {"role": "quasi", "kind": "categorical"}}
    attributes |= {name: {"role": "sensitive", "kind": "categorical"} for name in NAMES}
    return mv.Policy(attributes=attributes, **more)


def frame_of(rows):
    """The rows as texts."""
    return pl.DataFrame([[f"{cell}" for cell in row] for row in rows], schema=["group", *NAMES], orient="row")


def groups_of(rows):
    """The sensitive values of every group as texts."""
    return {
        g: [tuple(map(str, row[1:])) for row in rows if row[0] == g] for g in sorted({r[0] for r in rows})
    }


@settings(max_examples=300, deadline=None)
@given(
    rows=tables(),
    most=st.integers(1, 3),
    harmless=st.sets(st.integers(0, 3), max_size=1),
    bits=st.sets(st.integers(1, 2)),
)
def test_kernel_finds_a_leak(rows, most, harmless, bits):
    """The kernel finds a leak exactly where there is one, and what it rules out is one of the oracle's."""
    codes = np.array([row[1:] for row in rows], dtype=np.int32).T.copy()
    ruled_attributes, ruled_values = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    flags = np.array([code in harmless for code in range(4)])
    silent = np.array([0 if place in bits else -1 for place in range(3)])
    depth = find_leak(
        codes, np.arange(len(rows)), 0, np.array([1, 2]), silent, flags, most, ruled_attributes, ruled_values
    )
    expected = leaks([tuple(map(str, row[1:])) for row in rows], most, {str(code) for code in harmless}, bits)
    if depth == NO_LEAK:
        assert not expected
    else:
        found = zip(ruled_attributes[:depth].tolist(), ruled_values[:depth].tolist(), strict=True)
        assert frozenset((place, str(value)) for place, value in found) in expected


@settings(max_examples=25, deadline=None)
@given(rows=tables(), most=st.integers(1, 2))
def test_groups_are_judged_one_by_one(rows, most):
    """Groups that are runs of one list are told apart."""
    ordered = sorted(rows)
    codes = np.array([row[1:] for row in ordered], dtype=np.int32).T.copy()
    groups = groups_of(rows)
    starts = np.cumsum([0, *(len(group) for group in groups.values())])
    fine = withstand(
        codes, np.arange(len(rows)), starts, 0, np.array([1, 2]), np.full(3, -1), np.zeros(4, bool), most
    )
    assert fine.tolist() == [not leaks(group, most) for group in groups.values()]


@pytest.mark.parametrize("ruled_out", [("pay", "job"), ("job",)])
@settings(max_examples=25, deadline=None)
@given(rows=tables(), most=st.integers(1, 3), insensitive=st.sets(st.sampled_from("0123"), max_size=1))
def test_makers_decide_as_the_oracle(ruled_out, rows, most, insensitive):
    """Counts of different rows are enough to decide."""
    table, _ = hold(frame_of(rows), policy())
    promise = Promise(Elimination(most, ruled_out), ("group",), ("ill",), frozenset(insensitive))
    watches = watch((promise,), table, NAMES)
    owners = table["group"].codes.astype(np.int64)
    n_groups = table["group"].n_values
    [entries] = count_for(watches, owners, n_groups)
    fine = kept(watches[0], entries, np.bincount(owners, minlength=n_groups))
    places = [NAMES.index(name) for name in ("ill", *ruled_out)]
    for code, group in enumerate(table["group"].texts):
        held = [tuple(row[place] for place in places) for row in groups_of(rows)[int(group)]]
        assert fine[code] == (not leaks(held, most, insensitive))


@settings(max_examples=25, deadline=None)
@given(rows=tables(), most=st.integers(1, 3), insensitive=st.sets(st.sampled_from("0123"), max_size=1))
def test_audit_measures_as_the_oracle(rows, most, insensitive):
    """The audit finds how many eliminations the weakest group withstands, and how many groups fall short."""
    asked = policy(guarantee={"eliminations": most})
    sections = asked.model_dump(exclude_unset=True)
    sections["attributes"]["ill"]["insensitive"] = sorted(insensitive)
    asked = mv.Policy(**sections)
    table, restore = hold(frame_of(rows), asked)
    draft = Draft("main", (("group", *NAMES),), np.arange(len(rows)))
    release = seal([draft], table, asked, restore, notes={}, rng=np.random.default_rng(1))
    findings = mv.audit(release, frame_of(rows), asked).findings
    [finding] = [each for each in findings if each.promise == "elimination" and each.attribute == "ill"]
    groups = groups_of(rows).values()
    broken = [group for group in groups if leaks(group, most, insensitive)]
    assert finding.groups_short == len(broken)
    assert finding.kept == (not broken)
    smallest = [
        min((len(ruled) for ruled in leaks(group, most, insensitive)), default=most + 1) for group in groups
    ]
    assert finding.measured == max(min(smallest) - 1, 0)


@settings(max_examples=200, deadline=None)
@given(rows=tables(), most=st.integers(1, 3), insensitive=st.sets(st.sampled_from("0123"), max_size=1))
def test_merging_keeps_it(rows, most, insensitive):
    """Two groups that leak nothing leak nothing as one."""
    groups = list(groups_of(rows).values())
    if not any(leaks(group, most, insensitive) for group in groups):
        assert not leaks([row for group in groups for row in group], most, insensitive)


@settings(max_examples=25, deadline=None)
@given(rows=tables(), most=st.integers(1, 2))
def test_several_values_in_a_cell(rows, most):
    """Of a multi-valued attribute only having a value can be ruled out: makers, audit and oracle agree."""
    sections = policy(guarantee={"eliminations": most}).model_dump(exclude_unset=True)
    sections["attributes"]["job"]["multivalued"] = "|"
    asked = mv.Policy(**sections)
    frame = frame_of(rows).with_columns(job=pl.col("job") + "|" + pl.col("pay"))
    table, restore = hold(frame, asked)
    bits = table.expand(("job",))
    names = ("ill", "pay", *bits)
    texts = {name: [table[name].texts[code] for code in table[name].codes] for name in ("group", *names)}
    held = {g: [] for g in table["group"].texts}
    for place, group in enumerate(texts["group"]):
        held[group].append(tuple(texts[name][place] for name in names))
    leaky = {g: bool(leaks(rows, most, (), range(2, len(names)))) for g, rows in held.items()}
    promise = Promise(Elimination(most, ("pay", "job")), ("group",), ("ill",))
    watches = watch((promise,), table, names)
    owners = table["group"].codes.astype(np.int64)
    [entries] = count_for(watches, owners, len(held))
    fine = kept(watches[0], entries, np.bincount(owners, minlength=len(held)))
    assert [not leaky[g] for g in table["group"].texts] == fine.tolist()
    draft = Draft("main", (("group", *names),), np.arange(len(rows)))
    release = seal([draft], table, asked, restore, notes={}, rng=np.random.default_rng(1))
    findings = mv.audit(release, frame, asked).findings
    [finding] = [each for each in findings if each.promise == "elimination" and each.attribute == "ill"]
    assert finding.groups_short == sum(leaky.values())
