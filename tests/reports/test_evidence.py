"""Evidence for reviewers: what answers their questions, told by results that are there, and never a verdict in law."""

import json
import re

import pytest

from manyveils.policy import Policy
from manyveils.profiling.safe_harbor import safe_harbor


@pytest.fixture
def evidence(hospital):
    """A desk with a published release, the report with evidence, and what the command told."""
    out = hospital.published()
    words = ("--policy", hospital.folder / "policy.toml", "--only", "linkage", "--only", "homogeneity")
    told = hospital.run("report", out, *words, "--evidence", "--key", hospital.folder / "owner.pem", "--json")
    assert told.status == 0, told.said
    return hospital, told.document


def find(document, place):
    for step in place.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        document = document[int(step) if isinstance(document, list) else step]
    return document


def test_every_answer_is_there(evidence):
    """Every pointer leads to a result of the same document, and what has none says so."""
    _, document = evidence
    questions = document["evidence"]["questions"]
    assert [question["question"] for question in questions] == ["singling out", "linkability", "inference"]
    for question in questions:
        assert (question["status"] == "answered") == bool(question["answers"])
        for answer in question["answers"]:
            found = find(document, answer["at"])
            assert not isinstance(found, dict) or ("kept" in found or found["applies"])
    assert [question["status"] for question in questions] == ["answered", "not answered", "answered"]
    categories = document["evidence"]["categories"]
    assert [category["category"] for category in categories] == list("ABCDEFGHIJKLMNOPQR")
    for category in categories:
        assert (category["at"] == "not answered") == (not category["columns"])
        assert category["at"] == "not answered" or all(find(document, place) for place in category["at"])
        if category["status"] in ("present", "coarsened"):
            assert category["at"][0].startswith("/manifest/views/")


def test_page_says_no_law(evidence):
    """The page has the chapter and says that no law is spoken of; nothing in it claims that one is complied with."""
    desk, document = evidence
    page = re.sub(r"<[^>]+>", "", (desk.folder / "out.private/report.html").read_text())
    assert "Nothing here says that a law is complied with" in page
    words = page.replace("Nothing here says that a law is complied with", "") + json.dumps(document)
    assert not re.search(r"compl(y|ies|ian)|anonymous under|lawful|de-identified", words, re.IGNORECASE)


def test_verify_on_the_command_line(evidence):
    """The report's digest verifies with status 0; with one byte of the release changed, with 1."""
    desk, _ = evidence
    words = ("verify", desk.out, "--policy", desk.folder / "policy.toml")
    key = ("--public-key", desk.folder / "owner.pub.pem")
    told = desk.run(*words, *key)
    assert (told.status, "is what" in told.said or "are what" in told.said) == (0, True)
    table = desk.out / "tables/main.csv"
    table.write_bytes(table.read_bytes().replace(b"0", b"1", 1))
    told = desk.run(*words, *key, "--json")
    assert told.status == 1
    assert [problem["where"] for problem in told.document["problems"]] == ["release: tables/main.csv"]


def test_refusals(hospital):
    """Evidence without a key, a key for nothing, a key in the release, and a file that is no key are refused."""
    out, policy = hospital.published(), hospital.folder / "policy.toml"
    words = ("report", out, "--policy", policy)
    assert "--key" in hospital.refused(*words, "--evidence")
    assert "--evidence" in hospital.refused(*words, "--key", "owner.pem")
    assert "replaces" in hospital.refused(
        *words, "--evidence", "--key", out.with_name("out.private") / "o.pem"
    )
    assert "cannot be opened" in hospital.refused(*words, "--evidence", "--key", policy)
    hospital.data("", "lost.pub.pem")
    assert "another key" in hospital.refused(*words, "--evidence", "--key", hospital.folder / "lost.pem")
    assert "--public" in hospital.refused("report", out, "--public", "--evidence", "--key", "owner.pem")
    verify = ("verify", out, "--policy", policy, "--public-key")
    assert "does not exist" in hospital.refused(*verify, hospital.folder / "none.pem")
    assert "public Ed25519 key" in hospital.refused(*verify, policy)


def manifest(recoded=()):
    names = ["city", "age", "photo", "illness"]
    return {
        "views": [{"name": "main", "columns": [{"attributes": names}]}],
        "recodings": [{"view": "main", "attribute": name} for name in recoded],
    }


def test_categories_by_name():
    """Columns fall into categories by their names; present, coarsened, removed and not looked at are told apart."""
    roles = {
        "city": "quasi",
        "age": "quasi",
        "photo": "neutral",
        "illness": "sensitive",
        "email": "identifier",
    }
    policy = Policy(attributes={name: {"role": role} for name, role in roles.items()})
    told = {line["category"]: line for line in safe_harbor(policy, manifest(["age"]), [])}
    statuses = {letter: line["status"] for letter, line in told.items() if line["columns"]}
    assert statuses == {"B": "present", "C": "coarsened", "F": "removed", "Q": "present"}
    assert {told[letter]["status"] for letter in "ADEGHIJKLMNOPR"} == {"not looked at"}
    assert len(told) == 18


def test_table_from_elsewhere(desk):
    """Of a table with names in it, their category is present and the finding about them says how many there are."""
    desk.policy(attributes={"name": {"role": "identifier"}}, guarantee={"k": 1, "l": None})
    policy, table = desk.folder / "policy.toml", desk.folder / "people.csv"
    words = ("report", table, "--policy", policy, "--data", table, "--only", "linkage", "--json")
    told = desk.run(*words, "--evidence", "--key", desk.folder / "owner.pem")
    assert told.status == 0, told.said
    evidence = told.document["evidence"]
    names = evidence["categories"][0]
    assert (names["category"], names["status"]) == ("A", "present")
    assert find(told.document, names["at"][-1])["promise"] == "not-exposed"
    assert "not-exposed of name (release, promised): not kept; 12 faults" in str(evidence["questions"][0])
    verify = ("verify", table, "--policy", policy, "--public-key", desk.folder / "owner.pub.pem")
    assert desk.run(*verify).status == 0
    desk.data(table.read_bytes() + b"\n")
    assert desk.run(*verify).status == 1


def test_exposed_is_present():
    """An identifier that stands in a table from elsewhere is present, although the policy removes it."""
    policy = Policy(attributes={"email": {"role": "identifier"}, "age": {"role": "quasi"}})
    told = {line["category"]: line["status"] for line in safe_harbor(policy, manifest(), ["email"])}
    assert told["F"] == "present"
