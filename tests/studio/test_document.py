"""The policy as text: what a click changes, and what it leaves as it is."""

import tomllib

import pytest

from manyveils.errors import PolicyError
from manyveils.studio import document, methods
from manyveils.studio.promises import OFFERS, own_promises, with_promise

TEXT = """# Why all this.
[data]
source = "people.csv"  # here

[attributes.name]
# It repeats.
role = "identifier"

[attributes."home town"]
role = "quasi"

[attributes.illness]
role = "sensitive"

[attributes.illness.guarantee]
l = 3

[guarantee]
k = 3  # enough
l = 2
l_kind = "frequency"

[publish]
# The usual one.
method = "slice"
columns = 3
suppression = 0.02
"""


def test_a_role_changes_and_comments_stay():
    """Another role is marked as chosen by hand; every comment and every other line stays."""
    text = document.with_role(TEXT, "home town", "neutral")
    changed = 'role = "neutral" # chosen in the studio'
    assert text == TEXT.replace('role = "quasi"', changed)
    assert document.role_of(document.sections_of(text), "home town") == "neutral"
    assert document.with_role(text, "home town", "neutral") == text


def test_a_column_that_the_policy_does_not_name_gets_a_role():
    """A column without a section has the role ? until it is given one."""
    assert document.role_of(document.sections_of(TEXT), "age") == "?"
    text = document.with_role(TEXT, "age", "quasi")
    assert document.having(document.sections_of(text), "quasi") == ("home town", "age")


@pytest.mark.parametrize(
    ("names", "written"), [([], "row"), (["name"], "name"), (["name", "birth"], ["name", "birth"])]
)
def test_the_person_key_is_written_as_policies_write_it(names, written):
    """No name means that every row is a person, one is a name, several are a list."""
    text = document.with_person(TEXT, names)
    assert tomllib.loads(text)["data"]["person"] == written
    assert document.person_in(tomllib.loads(text)) == tuple(names)


def test_a_promise_is_set_and_taken_back():
    """A number takes the place of another; an empty field takes the promise away with what belongs to it."""
    assert tomllib.loads(with_promise(TEXT, "t", 0.2))["guarantee"]["t"] == 0.2
    without = tomllib.loads(with_promise(TEXT, "l", None))["guarantee"]
    assert without == {"k": 3}
    assert "k = 5  # enough" in with_promise(TEXT, "k", 5)


def test_another_method_leaves_none_of_the_keys_of_the_one_before():
    """Keys of the method before would be refused by the next one; what may be left out stays."""
    text = document.with_method(TEXT, "generalize", {"recoding": "mondrian"})
    publish = tomllib.loads(text)["publish"]
    assert publish == {"method": "generalize", "recoding": "mondrian", "suppression": 0.02}
    assert methods.chosen(publish) == "generalize:mondrian"
    assert text.startswith(TEXT[: TEXT.index("[publish]")])


def test_every_way_is_a_policy_and_found_again():
    """Each way that is offered can be written into the text, and is the one that is then shown."""
    for name, (method, keys) in methods.offered().items():
        publish = tomllib.loads(document.with_method(TEXT, method, keys))["publish"]
        found = methods.chosen(publish)
        assert methods.offered()[found] == (method, keys), name


def test_every_promise_that_is_offered_is_a_key_of_policies(tmp_path):
    """Each field of the page writes a key that the policy knows, and says a sentence about it."""
    for offer in OFFERS:
        value = 3 if offer.entered == "whole" else 0.5
        text = with_promise(TEXT, offer.key, value)
        policy = document.policy_of(text, tmp_path, "policy.toml")
        assert getattr(policy.guarantee, offer.key) == value
        assert offer.means.endswith(".")


def test_promises_of_single_attributes_are_told():
    """What comes before the promise for all is not hidden."""
    assert own_promises(tomllib.loads(TEXT)) == {"illness": {"l": 3}}


def test_contradictions_are_said_at_once_with_remedies(tmp_path):
    """All problems of a text are told together, each with where it stands, and what would be right."""
    text = with_promise(with_promise(TEXT, "k", 1), "t", 2.0).replace('"slice"', '"slcie"')
    with pytest.raises(PolicyError) as refused:
        document.policy_of(text, tmp_path, "policy.toml")
    places = [problem.where for problem in refused.value.problems]
    assert any("guarantee.t" in place for place in places)
    assert any("publish.method" in place for place in places)


@pytest.mark.parametrize("text", ["k = ", "[guarantee\nk = 3", "_folder = 'x'\n[attributes.a]\nrole='quasi'"])
def test_what_is_no_policy_is_refused(tmp_path, text):
    """Texts that cannot be read are refused with a remedy, and no text sets what is the policy's own."""
    with pytest.raises(PolicyError) as refused:
        document.policy_of(text, tmp_path, "policy.toml")
    assert all(problem.remedy for problem in refused.value.problems)
