"""Why not: a refusal carries the change that mends it, and the change is enough."""

import tomllib

import pytest

from manyveils.errors import Change, ManyveilsError
from manyveils.run import publish
from manyveils.studio import document

TEXT = """[data]
source = "people.csv"

[attributes.age]
role = "quasi"

[attributes.illness]
role = "sensitive"

[guarantee]
k = 2

[publish]
method = "{method}"
"""
ROWS = "age,illness\n" + "\n".join(f"{20 + row},{'flu' if row < 9 else f'ill {row}'}" for row in range(12))


def refusal(folder, text):
    """The problems of publishing under a text, contradictions among them, and nothing if there are none."""
    (folder / "people.csv").write_text(ROWS + "\n")
    try:
        publish(None, document.policy_of(text, folder, "policy.toml"), seed=1)
    except ManyveilsError as error:
        return error.problems
    return ()


@pytest.mark.parametrize("method", ["generalize", "anatomize"])
@pytest.mark.parametrize(
    ("keys", "suggested"),
    [
        ({"k": 13}, {"k"}),
        ({"l": 3}, {"k", "l"}),
        ({"k": 8, "l": 5}, {"l"}),
        ({"k": 3, "l": 2, "l_kind": "frequency"}, {"suppression"}),
        ({"k": 3, "l": 3, "l_kind": "entropy"}, {"l"}),
        ({"alpha": 0.5}, {"alpha"}),
    ],
)
def test_each_change_that_is_offered_is_enough(tmp_path, method, keys, suggested):
    """After any one of the changes of a refusal, the promise is kept, or is refused for something else."""
    text = TEXT.format(method=method)
    for key, value in keys.items():
        text = document.with_key(text, "guarantee", key, value)
    problems = refusal(tmp_path, text)
    changes = {change.key: change for problem in problems for change in problem.changes}
    if not (method == "generalize" and suggested == {"suppression"}):
        assert suggested <= set(changes)
    for change in changes.values():
        again = refusal(tmp_path, document.with_change(text, change))
        assert not {problem.what for problem in problems} & {problem.what for problem in again}


def test_an_attributes_own_promise_is_changed_where_it_stands():
    """A promise of the attribute's own is changed there; one for all in [guarantee]; roles and methods in their places."""
    own = TEXT.format(method="generalize") + "\n[attributes.illness.guarantee]\nl = 5  # strict\n"
    changed = document.with_change(own, Change("guarantee", "l", 3, "illness"))
    assert tomllib.loads(changed)["attributes"]["illness"]["guarantee"] == {"l": 3}
    assert "# strict" in changed
    assert document.change_in_words(own, Change("guarantee", "l", 3, "illness")) == "Set l = 3 of illness"
    plain = TEXT.format(method="generalize")
    assert (
        tomllib.loads(document.with_change(plain, Change("guarantee", "l", 3, "illness")))["guarantee"]["l"]
        == 3
    )
    role = document.with_change(plain, Change("attributes", "role", "neutral", "illness"))
    assert tomllib.loads(role)["attributes"]["illness"]["role"] == "neutral"
    method = document.with_change(plain, Change("publish", "method", "anatomize"))
    assert tomllib.loads(method)["publish"] == {"method": "anatomize"}
