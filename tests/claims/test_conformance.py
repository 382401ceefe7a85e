"""Every method, through the same gate."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import hospital, hospital_policy, hospital_sections
from tests.kit.conformance import (
    CONFIGURATIONS,
    check_nothing_lost,
    check_order_is_hidden,
    check_promises,
    check_same_bytes,
    impossible,
)
from tests.kit.strategies import cases, kinds_of_l

every_method = pytest.mark.parametrize("publish", CONFIGURATIONS.values(), ids=CONFIGURATIONS.keys())
some = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
few = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))


@every_method
@some
@given(data=st.data())
def test_promises_hold(publish, data):
    """Whatever is published keeps every promise in every group, by the oracle."""
    check_promises(data.draw(cases(publish)))


@every_method
@some
@given(data=st.data())
def test_l_of_labels_and_of_single_values_holds(publish, data):
    """Whatever counts labels, or asks more of some values, is kept by the oracle, or nothing is published."""
    check_promises(data.draw(cases(publish, smallest=8, promised=kinds_of_l())))


@every_method
@few
@given(data=st.data())
def test_nothing_is_lost(publish, data):
    """Whatever is published keeps the multiset of unrecoded attributes, up to the declared suppression."""
    check_nothing_lost(data.draw(cases(publish)))


@every_method
@few
@given(data=st.data())
def test_order_and_identifiers_leave_no_trace(publish, data):
    """Shuffled rows with other identifiers and the same seed give the same release."""
    case = data.draw(cases(publish))
    check_order_is_hidden(case, data.draw(st.permutations(range(case.frame.height))))


@every_method
def test_same_seed_same_bytes(publish, tmp_path):
    """The same seed writes the same bytes."""
    policy = hospital_policy(publish=publish)
    if publish["method"] == "multi-sa":
        # Incomes are too many to be diverse for those who know diagnosis and insurance.
        policy = policy.replaced(guarantee={"k": 2})
    if publish["method"] == "grade":
        # A cell must be one value, and grading alone promises nothing.
        attributes = hospital_sections(whole_cells=True)["attributes"]
        policy = policy.replaced(attributes=attributes, guarantee={"k": 2} if "then" in publish else {})
    check_same_bytes(policy, hospital(300), tmp_path)


@every_method
def test_an_impossible_promise_is_refused(publish):
    """A promise that no release can keep is refused with a message that says by how much."""
    case = impossible(publish)
    with pytest.raises(mv.InfeasibleError, match=r"fills (9|10) of 12 rows|12 of 12 groups"):
        mv.publish(case.frame, case.policy)


@every_method
def test_unknown_keys_are_refused(publish):
    """A key that the method does not know is a policy error."""
    with pytest.raises(mv.PolicyError, match="unknown key"):
        mv.publish(hospital(100), hospital_policy(publish={**publish, "colums": 3}))
