"""What people get wrong about who is who, and the message they get."""

import pytest

MARK = "Zq7"
# Whose row it is: three persons, one of whom has no number.
OWNERS = ["a", "a", "a", "b", "b", "c", "d", "e", "f", "g", "h", ""]


def visits(owners=OWNERS, blood=None):
    """Write a row for each owner: a number of the visit, the owner, an age, a city, an illness, a blood group."""
    blood = blood or [f"{MARK}{owner}" for owner in owners]
    rows = [
        f"{MARK}v{i},{owner and MARK + owner},{20 + i % 4},{MARK}city{i % 2},{MARK}ill{i % 4},{blood[i]}"
        for i, owner in enumerate(owners)
    ]
    return "\n".join(["visit,owner,age,city,illness,blood", *rows]) + "\n"


@pytest.fixture
def several(desk):
    """A desk where owners have several visits, and the policy does not say who is who."""
    desk.data(visits())
    desk.document["attributes"] = {
        "visit": {"role": "identifier"},
        "owner": {"role": "identifier"},
        "age": {"role": "quasi"},
        "city": {"role": "quasi"},
        "illness": {"role": "sensitive"},
        "blood": {"role": "neutral"},
    }
    desk.document["accept"] = ["neutral-unique: blood"]
    desk.policy()
    return desk


def test_repeated_identifier(several):
    """An identifier that repeats is refused with the rows, the values and both remedies."""
    message = several.refused()
    assert (
        "policy.toml: data.person: is not set, and the identifier 'owner' repeats: 11 rows have 8 different values "
        "of it, and 1 rows have none." in message
    )
    assert 'Write person = "owner" in [data] if it tells persons apart' in message
    assert 'or person = "row" if every row is a person of its own.' in message
    assert "'visit' has no value twice." in message


@pytest.mark.parametrize("command", ["audit", "attack", "measure", "plan"])
def test_every_command_refuses(several, command):
    """Whoever reads the data asks who is who."""
    several.policy(data={"person": "row"})
    release = several.published()
    policy = several.policy()
    words = (policy,) if command == "plan" else (release, "--policy", policy)
    assert "the identifier 'owner' repeats" in several.refused(command, *words)


def test_both_remedies(several):
    """With either remedy the table is published, and the audit says by what persons are counted."""
    several.policy(data={"person": "row"})
    rows = several.publish("--json").document["audit"]["persons"]
    assert (rows["counted_by"], rows["n"], rows["rows"]) == ("rows", 12, 12)
    several.policy(data={"person": "owner"})
    planned = several.run("plan", several.folder / "policy.toml", "--json").document["persons"]
    assert (planned["counted_by"], planned["n"], planned["rows"]) == (["owner"], 9, 12)


def test_several_identifiers_repeat(several):
    """Each identifier that repeats is named, and a list of them is offered."""
    several.data(visits().replace(f"{MARK}v1,", f"{MARK}v0,"))
    message = several.refused()
    assert "'visit' repeats: 12 rows have 11 different values of it." in message
    assert "'owner' repeats: 11 rows have 8 different values" in message
    assert "or a list of identifiers that do" in message


def test_missing_ones_are_no_repeats(several):
    """Identifiers that are missing, blank or a marker are nobody's twice."""
    several.data(visits(["a", "", "?", " ", "b", "", "c", "d", "e", "f", "g", "h"]).replace(f"{MARK}?", "?"))
    several.policy(data={"missing_markers": ["?"]})
    several.published()


def test_a_constant_identifier(several):
    """An identifier with one value tells nobody apart, so it is not offered."""
    several.data(visits(["a"] * 12))
    message = several.refused()
    assert "12 rows have 1 different value of it." in message
    assert 'person = "owner"' not in message


@pytest.mark.parametrize(
    ("person", "what"),
    [
        ([], "data.person: is an empty list."),
        (["owner", "owner"], "data.person: 'owner' is there 2 times. Name it once."),
        ("ownr", "data.person: attribute 'ownr' is not described. Did you mean 'owner'?"),
        ("age", "data.person: 'age' has the role 'quasi', but what tells persons apart is an identifier"),
        (3, 'data.person: must be "row", the name of an identifier, or a list of such names.'),
        (["owner", 3], 'data.person: must be "row", the name of an identifier, or a list of such names.'),
        (["row"], "data.person: attribute 'row' is not described."),
    ],
)
def test_person_in_the_policy(several, person, what):
    """What is no identifier, or nothing, or there twice tells no persons apart."""
    several.policy(data={"person": person})
    assert what in several.refused()


def test_all_at_once(several):
    """A person who is named in rules, combinations and dependencies is refused in all of them at once."""
    several.policy(
        data={"person": ["owner", "age"]},
        guarantee={"joint": [["owner", "illness"]]},
        rules=[{"given": ["owner"], "protect": "illness"}],
        dependencies=[{"from": ["owner"], "to": "city"}],
        attributes={"visit": {"constant": True}},
    )
    message = several.refused()
    for part in (
        "data.person: 'age' has the role 'quasi'",
        "guarantee.joint: 'owner' is not sensitive.",
        "rules[1]: 'owner' is never published.",
        "dependencies[1]: 'owner' tells persons apart and is never published",
        "attributes.visit.constant: the role 'identifier' is never published",
    ):
        assert part in message


def test_absent_from_the_data(several):
    """A person attribute that the data lack is a missing column."""
    several.document["attributes"]["number"] = {"role": "identifier"}
    several.policy(data={"person": "number"})
    assert "attributes.number: the data have no such column." in several.refused()


def test_one_person_in_all(several):
    """A key that is the same in all rows is refused as such, not as promises that cannot be kept."""
    several.data(visits(["a"] * 12))
    several.policy(data={"person": "owner"})
    assert "data.person: all 12 rows are one person's. Name what differs" in several.refused()


def test_nobody_has_a_number(several):
    """A key without any value would make persons of rows in silence."""
    several.data(visits([""] * 12))
    several.policy(data={"person": "owner"})
    assert "data: owner: every cell is missing, so it tells no persons apart." in several.refused()


def test_a_unique_key(several):
    """A key without repeats makes rows persons, and other identifiers may repeat."""
    several.policy(data={"person": "visit"})
    persons = several.publish("--json").document["audit"]["persons"]
    assert (persons["counted_by"], persons["n"]) == (["visit"], 12)
    assert persons["note"] == "Persons are told apart by visit; no two rows are of one person."


def test_more_than_there_are_persons(several):
    """Both k and l are compared with the number of persons, not of rows."""
    several.policy(data={"person": "owner"}, guarantee={"k": 10, "l": None})
    message = several.refused()
    assert "guarantee.k: k = 10 but there are 9 persons in 12 rows. Lower k." in message
    several.data(visits(list("aaaaaabbbbbb")))
    several.policy(data={"person": "owner"}, guarantee={"k": None, "l": 3})
    assert "l = 3 but there are 2 persons in 12 rows" in several.refused()


def test_an_attribute_that_changes(several):
    """What is said to be constant and changes for some persons is refused, with how many."""
    blood = [f"{MARK}{owner}" for owner in OWNERS]
    several.data(visits(blood=[*blood[:2], f"{MARK}x", f"{MARK}b", "", *blood[5:]]))
    several.policy(data={"person": "owner"}, attributes={"blood": {"role": "sensitive", "constant": True}})
    message = several.refused()
    assert "attributes.blood.constant: changes for 2 of 9 persons; for 1 of them only because" in message
    assert "Correct or fill in the data, or drop constant" in message


def test_several_values_that_change(several):
    """A multi-valued attribute is constant if every row of a person has the same values, in any order."""
    cells = [f"{MARK}x|{MARK}y", f"{MARK}y|{MARK}x", *[f"{MARK}x"] * 10]
    several.data(visits(blood=cells))
    attributes = {"blood": {"role": "sensitive", "constant": True, "multivalued": "|"}}
    several.policy(data={"person": "owner"}, attributes=attributes)
    assert "attributes.blood.constant: changes for 1 of 9 persons." in several.refused()


@pytest.mark.parametrize("data", [{"person": "row"}, {}])
def test_constant_without_persons(several, data):
    """Where nothing tells persons apart, nobody has an attribute that could change."""
    if not data:
        for name in ("visit", "owner"):
            several.document["attributes"][name] = {"role": "neutral"}
    several.policy(data=data, attributes={"blood": {"constant": True}})
    message = several.refused()
    assert "attributes.blood.constant: nothing tells persons apart, so nobody is seen twice." in message


def test_an_identifier_called_row(several):
    """As a text "row" means rows; a list that names it means the attribute."""
    several.data(visits().replace("owner", "row"))
    several.document["attributes"]["row"] = several.document["attributes"].pop("owner")
    for person, n in (("row", 12), (["row"], 9)):
        several.policy(data={"person": person})
        planned = several.run("plan", several.folder / "policy.toml", "--json")
        assert planned.document["persons"]["n"] == n


def test_rows_are_taken_as_persons(desk):
    """Where no attribute is an identifier, publish, plan, audit and report say that rows are taken as persons."""
    desk.document["attributes"]["name"] = {"role": "neutral"}
    desk.document["accept"] = ["neutral-unique: name"]
    policy = desk.policy()
    line = (
        "Every row is taken as a person of its own: the policy names no identifier that tells persons apart."
    )
    assert line in desk.run("plan", policy).stdout
    assert line in desk.publish().stdout
    assert line in desk.run("audit", desk.out, "--policy", policy).stdout
    assert desk.run("report", desk.out, "--policy", policy).status == 0
    assert line in (desk.folder / "out.private" / "report.html").read_text(encoding="utf-8")
    manifest = (desk.out / "release.json").read_text(encoding="utf-8")
    assert "person" not in manifest


def test_a_matter_of_course(desk):
    """Where an identifier has no value twice, nothing is printed about persons."""
    assert "person" not in desk.publish().stdout


def test_control_group_with_repeats(desk):
    """A control group in which an identifier repeats is refused by its name."""
    policy, release = desk.folder / "policy.toml", desk.published()
    rows = "".join(f"{MARK}same,{30 + i},{MARK}city1,{MARK}ill1\n" for i in range(4))
    control = desk.data(f"name,age,city,illness\n{rows}", "control.csv")
    message = desk.refused("attack", release, "--policy", policy, "--control", control)
    assert "control: policy.toml: data.person" in message
