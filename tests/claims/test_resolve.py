"""What promises mean for the values of a multi-valued attribute, seen by maker, judge and oracle."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.policy.guarantees import Closeness, FrequencyDiversity, SupersetCloseness
from manyveils.table import encode, resolve
from tests.kit import sealed
from tests.kit.reading import broken_promises

ATTRIBUTES = {
    "q": {"role": "quasi", "kind": "categorical"},
    "m": {"role": "sensitive", "multivalued": "|", "insensitive": ["cold"]},
}
FRAME = pl.DataFrame(
    {"q": ["x"] * 4 + ["y"] * 4, "m": ["cold|flu", "cold", "cold|flu", "cold"] + ["flu", ""] * 2}
)


def policy(guarantee, **publish):
    """Protect a multi-valued attribute one of whose values is insensitive."""
    return mv.Policy(attributes=ATTRIBUTES, guarantee=guarantee, publish=publish)


@pytest.mark.parametrize(
    ("guarantee", "kind", "subjects"),
    [
        ({"t": 0.2}, Closeness, ["m=cold", "m=flu"]),
        ({"t": 0.2, "n": 3}, SupersetCloseness, ["m=cold", "m=flu"]),
        ({"l": 2}, FrequencyDiversity, ["m=flu"]),
    ],
)
def test_which_values_are_promised(guarantee, kind, subjects):
    """Closeness is promised of an insensitive value like of any other; diversity is not."""
    promises = resolve(policy(guarantee), encode(FRAME, policy(guarantee)))
    assert [promise.subject for promise in promises] == subjects
    assert all(isinstance(promise.guarantee, kind) for promise in promises)


@pytest.mark.parametrize(("t", "is_kept"), [(0.5, True), (0.49, False)])
def test_the_judge_measures_insensitive_values(t, is_kept):
    """Two groups that differ only in an insensitive value are a distance apart, as the oracle has it."""
    promised = policy({"t": t})
    release, table = sealed(FRAME, promised, columns=[("q", "m=cold", "m=flu")])
    findings = {finding.attribute: finding for finding in mv.audit(release, FRAME, promised).findings}
    assert findings["m=cold"].measured == pytest.approx(0.5)
    assert findings["m=cold"].kept is is_kept
    assert findings["m=flu"].measured == 0
    assert (not list(broken_promises(release, table, promised, resolve(promised, table)))) is is_kept


@pytest.mark.parametrize("method", ["generalize", "anatomize", "slice", "separate", "multi-sa", "codip"])
def test_makers_keep_insensitive_values_close(method):
    """A method that is asked for closeness hides that one group has an insensitive value and another has not."""
    promised = policy({"t": 0.4}, method=method)
    release = mv.publish(FRAME, promised, seed=1)
    table = encode(FRAME, promised)
    assert not list(broken_promises(release, table, promised, resolve(promised, table)))
    assert mv.audit(release, FRAME, promised).kept
