"""The API as it describes itself: whatever fits or does not fit its description, the server is not at fault."""

import hypothesis
import pytest

schemathesis = pytest.importorskip("schemathesis")

from manyveils.server.accounts import Proof, add_user  # noqa: E402

PASSWORD = "a long enough password"
KEPT = ("/me/password", "/users/{name}", "/token")


@pytest.fixture
def tested(door, hand_made):
    """A server with a release and a grant, and its description."""
    release = door.house.release(hand_made)
    door.house.grant(release)
    proof = Proof(PASSWORD, "here")
    add_user(door.house.keeper, door.house.owner, "tester", PASSWORD, "owner", proof=proof)
    schema = schemathesis.openapi.from_url(f"{door.url}/api/v1/openapi.json")
    return door, schema, release


@pytest.mark.parametrize("name", ["owner", None])
def test_nothing_sent_is_a_fault(tested, name):
    """Generated requests get only answers that the description declares, and never a 5xx."""
    door, schema, _ = tested
    with door.as_(name) as client:
        headers = dict(client.headers) if name else {}
        operations = [result.ok() for result in schema.get_all_operations()]
        assert len(operations) >= 20
        for operation in operations:
            if name and (operation.path.endswith(KEPT) or operation.method == "delete"):
                continue
            examine(operation, {key: headers[key] for key in headers if key == "authorization"})


def examine(operation, headers):
    """Send a few generated requests of both kinds to one operation."""

    @hypothesis.given(case=operation.as_strategy())
    @hypothesis.settings(
        max_examples=4,
        database=None,
        derandomize=True,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    def run(case):
        response = case.call(headers=headers)
        assert response.status_code < 500, (operation.label, response.status_code)
        case.validate_response(
            response,
            checks=[
                schemathesis.checks.not_a_server_error,
                *(
                    schemathesis.checks.CHECKS.get_one(check)
                    for check in (
                        "status_code_conformance",
                        "content_type_conformance",
                        "response_schema_conformance",
                    )
                ),
            ],
        )

    run()
