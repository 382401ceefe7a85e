"""Distinct rows with counts are judged like the rows that they stand for."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from manyveils.arguments import Order, licence_of
from manyveils.audits import audit
from manyveils.audits.content import loss_findings
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy import Policy
from manyveils.reading import blocks
from manyveils.reading.evidence import Coded, Evidence
from manyveils.reading.secrets import as_published
from manyveils.release import Release
from manyveils.run import make
from manyveils.table import hold, resolve
from tests.kit import sealed
from tests.kit.compact import compact_release, compact_table
from tests.kit.conformance import CONFIGURATIONS
from tests.kit.strategies import ILLS, JOBS, Case, attributes, cases

MADE = {
    **{name: CONFIGURATIONS[name] for name in CONFIGURATIONS if name != "full-domain, class size"},
    "grade, then slice": {"method": "grade", "then": "slice"},
}
LEVELS = {"k": 3, "l": 2, "t": 0.3, "alpha": 0.4, "beta": 0.7, "delta": 0.8, "e": 10, "eliminations": 1}
some = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
more = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))

about_all = st.fixed_dictionaries(
    {},
    optional={
        "k": st.integers(1, 4),
        "alpha": st.sampled_from([0.3, 0.5, 0.75]),
        "beta": st.sampled_from([0.5, 2.0]),
        "delta": st.sampled_from([0.5, 2.0]),
        "epsilon_link": st.sampled_from([0.4, 0.6]),
        "conditional": st.booleans(),
    },
)
diversity = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"l": st.just(2), "l_kind": st.sampled_from(["distinct", "frequency", "entropy"])}),
    st.just({"l": 2, "l_kind": "recursive", "c": 1.5}),
)
closeness = st.one_of(
    st.just({}),
    st.fixed_dictionaries(
        {"t": st.sampled_from([0.2, 0.5]), "ground": st.sampled_from(["equal", "hierarchical"])},
        optional={"n": st.integers(2, 8)},
    ),
)
about_pay = st.sampled_from([{}, {"e": 10}, {"epsilon": 5, "m": 2}, {"t": 0.3, "ground": "ordered"}])


@st.composite
def questions(draw, policy):
    """A policy that asks for many promises, whatever was published."""
    guarantee = draw(about_all) | draw(diversity) | draw(closeness)
    described = {name: each.model_dump(exclude_unset=True) for name, each in policy.attributes.items()}
    if "pay" in described:
        described["pay"] = {**described["pay"], "guarantee": draw(about_pay)}
        guarantee |= draw(st.sampled_from([{}, {"joint": [["ill", "pay"]]}, {"eliminations": 1}]))
        if guarantee.get("conditional"):
            guarantee.pop("joint", None)
    try:
        return policy.replaced(guarantee=guarantee, attributes=described)
    except PolicyError:
        return policy


@st.composite
def crowded(draw, publish):
    """A case in which people look alike."""
    case = draw(cases(publish, largest=10))
    n = case.frame.height
    times = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    # Each of them is a person, whatever the name.
    sections = case.sections | {"data": {"person": "row"}}
    return Case(case.frame[np.repeat(np.arange(n), times).tolist()], sections)


@st.composite
def tampered(draw, release):
    """A release in which some rows of a table are lost, doubled or have another's cell."""
    frames = dict(release.frames)
    name = draw(st.sampled_from(sorted(frames)))
    frame = frames[name]
    if frame.height and draw(st.booleans()):
        rows = draw(st.lists(st.integers(0, frame.height - 1), max_size=frame.height + 2))
        column = draw(st.sampled_from(frame.columns))
        changed = frame[rows].with_columns(frame[column][[*rows[1:], *rows[:1]]])
        frames[name] = changed.sort(changed.columns, nulls_last=True)
    return Release(release.manifest, frames, release.recodings)


def assert_alike(found, expected):
    """Finding by finding, numbers within rounding; what needs whole rows is looked at only where all are at hand."""
    found, expected = (
        [own for own in told if own.promise != "rows-true" and own.reading != "everybody"]
        for told in (found, expected)
    )
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        mine, others = one.describe(), other.describe()
        measured, wanted = one.measured, other.measured
        is_close = (
            measured is not None and wanted is not None and math.isclose(measured, wanted, rel_tol=1e-9)
        )
        if is_close and measured != int(measured if math.isfinite(measured) else 0):
            # Two groups of equal measure differ by rounding, and either may be called the worst.
            mine.pop("worst_group_size"), others.pop("worst_group_size")
        if is_close:
            mine.pop("measured"), others.pop("measured")
        assert mine == others


def published(case):
    """What a method makes, audited or not; nothing if it refuses."""
    try:
        table, restore = hold(case.frame, case.policy)
        return make(Order(None, case.policy, seed=1), table, restore), table
    except (InfeasibleError, PolicyError):
        assume(False)


def can_be_asked(policy, release, table):
    """Whether a policy speaks of a table at all."""
    try:
        return bool(resolve(policy, as_published(release, table))) or True
    except PolicyError:
        return False


@pytest.mark.parametrize("publish", MADE.values(), ids=MADE.keys())
@some
@given(data=st.data())
def test_distinct_rows_with_counts_are_judged_like_all_rows(publish, data):
    """The audit of a compact release with a compact original is that of the plain ones, whatever is asked."""
    case = data.draw(crowded(publish))
    made, table = published(case)
    policy = data.draw(questions(case.policy))
    release = data.draw(tampered(made))
    assume(can_be_asked(policy, release, table))
    plain = audit(release, table, policy, licence=licence_of(policy), levels=LEVELS)
    compact = audit(
        compact_release(release), compact_table(table), policy, licence=licence_of(policy), levels=LEVELS
    )
    assert_alike(compact.findings, plain.findings)


@st.composite
def bucketed(draw):
    """A table of random people in random buckets of random columns."""
    names = ["age", "job", "sex", "ill", "pay"]
    n = draw(st.integers(1, 16))
    values = {
        "age": [20, 31, None],
        "job": [leaf for leaves in JOBS.values() for leaf in leaves][:3],
        "sex": ["f", "m"],
        "ill": [leaf for leaves in ILLS.values() for leaf in leaves],
        "pay": [10, 20, 25],
    }
    frame = pl.DataFrame(
        {name: draw(st.lists(st.sampled_from(values[name]), min_size=n, max_size=n)) for name in names},
        schema={"age": pl.Int64, "job": pl.String, "sex": pl.String, "ill": pl.String, "pay": pl.Int64},
    ).with_columns(name=pl.lit("somebody"))
    homes = [draw(st.integers(0, 2)) for _ in names]
    columns = [tuple(name for name, home in zip(names, homes, strict=True) if home == at) for at in range(3)]
    buckets = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    return frame, [column for column in columns if column], buckets


@pytest.mark.parametrize("fewest_pairs", [0, 1_000_000])
@more
@given(data=st.data())
def test_buckets_with_counts_are_judged_like_all_rows(fewest_pairs, data):
    """Any view in buckets is judged alike as rows and as distinct rows, by blocks and by pairs of targets."""
    frame, columns, buckets = data.draw(bucketed())
    rows_are_persons = Policy(data={"person": "row"}, attributes=attributes(n_sensitive=2))
    policy = data.draw(questions(rows_are_persons))
    release, table = sealed(frame, policy, columns=columns, buckets=buckets)
    release = data.draw(tampered(release))
    assume(can_be_asked(policy, release, table))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "FEWEST_PAIRS", fewest_pairs)
        plain = audit(release, table, policy, licence=licence_of(policy), levels=LEVELS)
        compact = audit(
            compact_release(release), compact_table(table), policy, licence=licence_of(policy), levels=LEVELS
        )
    assert_alike(compact.findings, plain.findings)


class Marginal(Evidence):
    """Evidence that has counts of single fields and no row."""

    def people(self, file):
        """The published rows."""
        return self.counts(file, file.attributes[0]).sum()

    def coded(self, file, name):
        """The different values of a field."""
        values = self.release.notes[file.table][name][name]
        return Coded(np.arange(len(values)), values)

    def counts(self, file, name):
        """How often each of them is published."""
        return self.release.notes[file.table][name]["count"].cast(pl.Int64).to_numpy()


@pytest.mark.parametrize("publish", [MADE["mondrian, sets, strict"], MADE["anatomize"], MADE["grade"]])
@some
@given(data=st.data())
def test_losses_need_no_rows(publish, data):
    """What is lost is found from counts of single fields, with tables that have no row."""
    case = data.draw(crowded(publish))
    made, table = published(case)
    release = data.draw(tampered(made))
    shown = as_published(release, table)
    marginals = {
        name: {field: frame[field].value_counts() for field in frame.columns}
        for name, frame in release.frames.items()
    }
    empty = {name: frame.clear() for name, frame in release.frames.items()}
    bare = Release(release.manifest, empty, release.recodings, notes=marginals)
    found = loss_findings(Marginal(bare, compact_table(table) if shown is table else shown, case.policy))
    assert tuple(found) == tuple(loss_findings(Evidence(release, shown, case.policy)))
