"""Policies that contradict themselves, and what one is told."""

import json

import pytest

import manyveils as mv
from manyveils import methods


def test_missing_policy(desk):
    """A policy file that is not there is named."""
    message = desk.refused("publish", desk.folder / "nowhere.toml", "--out", desk.out)
    assert "nowhere.toml: there is no such policy file." in message


def test_policy_is_a_folder(desk):
    """A folder in place of a policy is refused."""
    assert "cannot be read" in desk.refused("plan", desk.folder)


@pytest.mark.parametrize(
    ("name", "content"), [("p.toml", "[data\n"), ("p.json", "{"), ("p.toml", "a = 1\na = 2\nb = 3")]
)
def test_syntax(desk, name, content):
    """What is not TOML or JSON is refused with the place."""
    assert "line" in desk.refused("plan", desk.data(content, name))


@pytest.mark.parametrize(
    ("name", "content"), [("p.toml", "a = " + "9" * 5000), ("p.json", '{"a": ' + "9" * 5000 + "}")]
)
def test_endless_number(desk, name, content):
    """A number that is too long to be read is refused in the policy's words."""
    message = desk.refused("plan", desk.data(content, name))
    assert "has a number that is too long" in message
    assert "999" not in message


@pytest.mark.parametrize("key", ["_folder", "_name", "_lines"])
@pytest.mark.parametrize(("name", "content"), [("p.toml", '{} = "x"\n'), ("p.json", '{{"{}": "x"}}')])
def test_private_sections(desk, name, content, key):
    """What a policy keeps for itself cannot be set by a file."""
    assert f"{name}: {key}: is not a section." in desk.refused("plan", desk.data(content.format(key), name))


def test_not_utf8(desk):
    """A policy is UTF-8 text."""
    assert "cannot be read as UTF-8" in desk.refused("plan", desk.data(b"\xff", "p.toml"))


@pytest.mark.parametrize(
    ("name", "content"), [("p.toml", ""), ("p.json", "[]"), ("p.json", "{}"), ("p.json", '{"attributes": 3}')]
)
def test_nothing_described(desk, name, content):
    """A policy without attributes says nothing."""
    assert desk.refused("plan", desk.data(content, name))


def test_unknown_section(desk):
    """A section that does not exist is refused with the nearest that does."""
    desk.policy(guarentee={"k": 5})
    assert "policy.toml: guarentee: unknown section. Did you mean 'guarantee'?" in desk.refused()


def test_unknown_key(desk):
    """A misspelt key is refused with the nearest one, in its own table."""
    desk.policy(
        attributes={"age": {"knd": "numeric", "hierarchy": {"width": [5]}}},
        data={"misssing": "drop"},
        guarantee={"lkind": "entropy"},
    )
    message = desk.refused()
    assert "attributes.age.knd: unknown key. Did you mean 'kind'?" in message
    assert "attributes.age.hierarchy.width: unknown key. Did you mean 'widths'?" in message
    assert "data.misssing: unknown key. Did you mean 'missing'?" in message
    assert "guarantee.lkind: unknown key. Did you mean 'l_kind'?" in message


def test_hopeless_key(desk):
    """A key like no other is answered with the list."""
    desk.policy(rules=[{"given": ["city"], "protect": "age", "zzz": 1}], publish={"method": "separate"})
    assert "rules[1].zzz: unknown key. Known are given, protect, l, guarantee." in desk.refused()


def test_unknown_method(desk):
    """A method that does not exist is answered with those that do."""
    desk.policy(publish={"method": "generalise"})
    message = desk.refused()
    assert "publish.method: 'generalise' is not a method." in message
    assert "generalize" in message


def test_unknown_option(desk):
    """A method's own keys are checked by the method."""
    desk.policy(publish={"recodng": "mondrian", "objective": "los"})
    message = desk.refused()
    assert "publish.recodng: unknown key. Did you mean 'recoding'?" in message
    assert "publish.objective: must be one of" in message
    assert "Did you mean 'loss'?" in message


@pytest.mark.parametrize("role", ["quazi", "Quasi", ["quasi"]])
def test_misspelt_role(desk, role):
    """A misspelt role is refused with the nearest one."""
    desk.policy(attributes={"age": {"role": role}})
    message = desk.refused()
    assert (
        "attributes.age.role: must be one of 'identifier', 'quasi', 'sensitive', 'neutral', 'choice' or 'drop'."
        in message
    )
    assert "Did you mean 'quasi'?" in message


def test_role_missing(desk):
    """Every attribute has a role."""
    desk.policy(attributes={"age": {"role": None}})
    assert "attributes.age.role: is missing." in desk.refused()


def test_several_problems_at_once(desk):
    """Every problem of a policy is in one message."""
    desk.policy(
        data={"misssing": "drop"},
        attributes={"age": {"role": "quazi"}, "city": {"hierarchy": {"file": "nowhere.csv"}}},
        guarantee={"l": 5, "t": 1.5},
        publish={"suppression": 2},
    )
    message = desk.refused()
    for part in (
        "data.misssing",
        "attributes.age.role",
        "nowhere.csv",
        "guarantee.l:",
        "guarantee.t:",
        "publish.suppression",
    ):
        assert part in message


def test_attribute_twice_in_toml(desk):
    """An attribute that is described twice is refused, not overwritten."""
    path = desk.policy()
    path.write_text('[attributes.age]\nrole = "quasi"\n[attributes.age]\nrole = "neutral"\n')
    assert "twice" in desk.refused()


def test_attribute_twice_in_json(desk):
    """JSON would let the last one win; here it is refused too."""
    text = json.dumps(desk.document).replace('"city":', '"age":')
    assert "p.json: age: is there twice." in desk.refused("plan", desk.data(text, "p.json"))


def test_bucket(desk):
    """The name that releases use themselves is not for attributes."""
    desk.policy(attributes={"bucket": {"role": "quasi"}})
    assert "attributes.bucket: the name 'bucket' is taken" in desk.refused()


@pytest.mark.parametrize("method", ["generalize", "anatomize"])
def test_rules_that_a_method_cannot_keep(desk, method):
    """A method that knows no rules refuses them instead of forgetting them."""
    desk.policy(rules=[{"given": ["city"], "protect": "age"}], publish={"method": method})
    assert f"rules: method '{method}' cannot keep rules" in desk.refused()


def test_rules_about_nobody(desk):
    """Rules speak of published attributes, and do not protect what they give."""
    desk.policy(
        rules=[{"given": ["town"], "protect": "age"}, {"given": ["age", "name"], "protect": "age"}],
        publish={"method": "separate"},
    )
    message = desk.refused()
    assert "rules[1]: attribute 'town' is not described." in message
    assert "rules[2]: 'name' is never published." in message
    assert "rules[2]: protects an attribute that it gives." in message


def test_keys_of_sensitive_attributes(desk):
    """Keys that only make sense for sensitive attributes are refused elsewhere."""
    desk.policy(attributes={"city": {"insensitive": ["x"], "guarantee": {"l": 2}, "order": ["x"]}})
    message = desk.refused()
    assert (
        "attributes.city.insensitive: belongs to attributes that are sensitive or that a rule protects."
        in message
    )
    assert "attributes.city.guarantee: belongs to sensitive attributes only." in message
    assert "attributes.city.order: goes with kind" in message


def test_whole_table_keys(desk):
    """What holds for the whole table is not set for one attribute."""
    desk.policy(attributes={"illness": {"guarantee": {"k": 3}}})
    assert "attributes.illness.guarantee.k: holds for the whole table." in desk.refused()


@pytest.mark.parametrize(
    "joint", [5, "illness", [["illness"]], [["illness", "city"]], [["illness", "town"]], [5]]
)
def test_joint(desk, joint):
    """A combination is a list of two sensitive attributes or more."""
    desk.policy(guarantee={"joint": joint})
    assert "guarantee.joint" in desk.refused()


def test_nothing_to_publish(desk):
    """A policy that publishes nothing is refused."""
    desk.document["attributes"] = {"name": {"role": "identifier"}}
    desk.policy()
    assert "nothing is left to publish" in desk.refused()


def test_two_choices(desk):
    """There is one column of choices at most."""
    desk.policy(attributes={"age": {"role": "choice"}, "city": {"role": "choice"}})
    assert "2 attributes have the role choice" in desk.refused()


def test_from_python(desk):
    """From Python the same mistakes are one PolicyError with a list of problems."""
    with pytest.raises(mv.PolicyError) as caught:
        mv.Policy(attributes={"age": {"role": "quazi"}}, guarantee={"t": 2}, nonsense={})
    assert len(caught.value.problems) == 3
    with pytest.raises(mv.InputError):
        mv.publish(desk.folder / "people.csv", desk.folder / "nowhere.toml")
    with pytest.raises(mv.PolicyError, match="is not a method"):
        mv.publish(desk.folder / "people.csv", desk.document | {"publish": {"method": "magic"}})


def test_keys_are_checked_once(desk, monkeypatch):
    """The method's keys are checked once per publication, and before the data are read."""
    checked, check = [], methods.method_problems

    def counted(section, name):
        checked.append(section["method"])
        return check(section, name)

    monkeypatch.setattr(methods, "method_problems", counted)
    desk.published()
    mv.publish(desk.folder / "people.csv", desk.folder / "policy.toml")
    assert checked == ["generalize", "generalize"]
    desk.policy(publish={"recodng": "mondrian"})
    (desk.folder / "people.csv").unlink()
    assert "Did you mean 'recoding'?" in desk.refused("plan", desk.folder / "policy.toml")
