"""Random tables on Spark: neither the order of rows nor their partitions leave a trace, and the local engine agrees."""

import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.errors import ManyveilsError, PolicyError
from tests.kit.conformance import CONFIGURATIONS
from tests.kit.engines import seen_by_both
from tests.kit.strategies import cases

FROM_COUNTS = (
    "full-domain, loss",
    "codip",
    "separate",
    "grade",
    "grade, then generalize",
    "guardian, generalized",
)
FROM_ROWS = (
    "anatomize",
    "guardian",
    "grade, then anatomize",
    "mondrian, automatic labels",
    "mondrian, sets, strict",
    "slice, two columns, generalized",
    "alpha-beta-k",
)
# An example takes seconds, and so would every smaller one.
few = settings(
    max_examples=2,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
N_PARTITIONS = st.integers(1, 7)


def drawn(data, name, **sizes):
    """A table for a method, whose policy says nothing that contradicts itself."""
    case = data.draw(cases(CONFIGURATIONS[name], **sizes))
    try:
        assert case.policy
    except PolicyError:
        assume(False)
    return case


def here(case):
    """The release of the local engine, or what it refuses."""
    try:
        return mv.publish(case.frame, case.policy, seed=1), ""
    except ManyveilsError as error:
        return None, f"{type(error).__name__}: {error}"


def cells(release):
    """All cells of a release, in order, with the types of its columns."""
    return {name: (frame.schema, frame.rows()) for name, frame in release.frames.items()}


@pytest.mark.parametrize("name", FROM_COUNTS)
@few
@given(data=st.data(), n_partitions=N_PARTITIONS, shuffled=st.integers(1, 99))
def test_counts_decide_as_locally(publish, name, data, n_partitions, shuffled):
    """Release, manifest, notes and audit are those of the local engine, and so is a refusal, word for word."""
    case = drawn(data, name, smallest=5, largest=40)
    there = publish(case.frame, case.policy, n_partitions, shuffled=shuffled)
    release, refused = here(case)
    assert there.refused == refused
    if release is not None:
        assert there.tables == cells(release)
        assert there.release.manifest == release.manifest
        assert there.notes == dict(release.notes)
        assert (
            seen_by_both(there.audit).describe()
            == seen_by_both(mv.audit(release, case.frame, case.policy)).describe()
        )


@pytest.mark.parametrize("name", FROM_ROWS)
@few
@given(data=st.data(), ways=st.lists(N_PARTITIONS, min_size=2, max_size=2, unique=True))
def test_rows_are_made_alike_anywhere(publish, name, data, ways):
    """From other partitions and in another order the release is the same, and the local audit finds promises kept."""
    case = drawn(data, name, smallest=10, largest=60)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("MANYVEILS_PART_ROWS", "8")
        one, other = (publish(case.frame, case.policy, n, shuffled=n) for n in ways)
    assert one.refused == other.refused
    if one.release is None:
        assert "InfeasibleError" in one.refused or one.refused == here(case)[1]
        return
    assert one.tables == other.tables
    assert (one.release.manifest, one.notes) == (other.release.manifest, other.notes)
    found = mv.audit(one.release, case.frame, case.policy)
    assert found.kept
    assert (
        seen_by_both(one.audit).describe()
        == seen_by_both(other.audit).describe()
        == seen_by_both(found).describe()
    )
