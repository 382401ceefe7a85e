"""Roles that make a promise void, and what one is told."""

import json

import pytest

MARK = "Zq7"
OFFERED = ["no-quasi: k", "neutral-unique: name", "neutral-unique: age", "neutral-unique: zipcode"]


def rows(n=40):
    """A table in which nearly everybody is alone with age and zip code together."""
    lines = [
        f"{MARK}name{i},{20 + i % 19},{'mf'[i % 2]},{10_000 + i % 20},{MARK}ill{i % 5}" for i in range(n)
    ]
    return "\n".join(["name,age,sex,zipcode,illness", *lines]) + "\n"


@pytest.fixture
def careless(desk):
    """A desk where everything is neutral and three persons are promised."""
    desk.data(rows())
    names = ("name", "age", "sex", "zipcode", "illness")
    desk.document["attributes"] = {name: {"role": "neutral"} for name in names}
    desk.document["guarantee"] = {"k": 3}
    desk.policy()
    return desk


@pytest.mark.parametrize("command", ["publish", "plan"])
def test_everything_is_neutral(careless, command):
    """Names are not published because a policy calls them neutral: all doubts at once, with counts and no cell."""
    policy = careless.folder / "policy.toml"
    words = ("publish", policy, "--out", careless.out) if command == "publish" else ("plan", policy)
    message = careless.refused(*words)
    assert "policy.toml: guarantee.k: no attribute is quasi" in message
    assert (
        "policy.toml: attributes.name: it is published as it is, and 40 of 40 persons are the only ones"
        in message
    )
    assert (
        "policy.toml: attributes.age + zipcode: they are published as they are, and 40 of 40 persons"
        in message
    )
    assert f"accept = {json.dumps(OFFERED)}" in message


def test_lint_says_the_same(careless):
    """`lint` lists the doubts on its own, in words and as JSON, with exit status 2."""
    policy = careless.folder / "policy.toml"
    plain, document = careless.run("lint", policy), careless.run("lint", policy, "--json")
    assert plain.status == document.status == 2
    assert MARK not in plain.said + document.said
    codes = [finding["code"] for finding in document.document["findings"]]
    assert codes == ["no-quasi: k", "neutral-unique: name", "neutral-unique: age + zipcode"]
    assert document.document["refused"] == 3
    assert all(code in plain.stdout for code in codes)


def test_nothing_to_doubt(desk):
    """A sound policy has nothing to doubt, and exit status 0."""
    outcome = desk.run("lint", desk.folder / "policy.toml")
    assert (outcome.status, outcome.stdout) == (0, "Nothing to doubt: publish would not refuse a role.\n")


def test_the_line_that_is_offered_works(careless):
    """With the line that the message offers the table is published, and the audit and the report say what was accepted."""
    careless.document["accept"] = OFFERED
    policy = careless.policy()
    careless.published()
    audited = careless.run("audit", careless.out, "--policy", policy).stdout
    assert "Accepted by the policy (neutral-unique: name)" in audited
    assert "Accepted by the policy (neutral-unique: age + zipcode)" in audited
    assert careless.run("report", careless.out, "--policy", policy).status == 0
    page = (careless.folder / "out.private" / "report.html").read_text(encoding="utf-8")
    assert "neutral-unique: name" in page


@pytest.mark.parametrize(
    ("accept", "words"),
    [
        (["neutral-uniqe: name"], "accept[1]: is not a finding of lint. Did you mean 'neutral-unique'?"),
        ("neutral-unique: name", "accept: must be a list of texts."),
        ([1], "accept: must be a list of texts."),
    ],
)
def test_misspelt_acceptance(desk, accept, words):
    """What is accepted must be a list of findings that lint can make."""
    document = {**desk.document, "accept": accept}
    desk.data(json.dumps(document), "policy.json")
    assert words in desk.refused("plan", desk.folder / "policy.json")


def test_acceptance_in_the_wrong_place(desk):
    """In a section `accept` is an unknown key, and the message says where it belongs."""
    desk.policy(guarantee={"accept": ["no-quasi: k"]})
    assert (
        "guarantee.accept: unknown key. It stands above all sections, in the first line of the policy."
        in desk.refused()
    )
