"""The manifest's claims: each is judged as a promise, and what is edited upwards, invented or marked is found."""

import json
from pathlib import Path
from typing import Any

import pytest

import manyveils as mv
from manyveils.audits.claims import read_claim
from manyveils.policy.promises import promises_of
from manyveils.publishing import publish_to
from tests.golden.cases import CASES, FOLDER, table

PEOPLE = [
    {"age": 20 + number % 30, "home": f"H{number % 7}", "ill": ("flu", "gout", "cold", "ulcer")[number % 4]}
    for number in range(60)
]


def policy(**guarantee: Any) -> mv.Policy:
    """Ages and homes are known, illnesses are not to be learnt."""
    return mv.Policy(
        data={"person": "row"},
        attributes={
            "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
            "home": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        guarantee=guarantee,
        publish={"method": "generalize"},
    )


def frame() -> Any:
    """The people."""
    import polars as pl

    return pl.DataFrame(PEOPLE)


def claiming(out: Path, edit: Any) -> None:
    """Change the promises in a manifest, and write it as it is always written."""
    document = json.loads((out / "release.json").read_text())
    document["promises"] = edit(document["promises"])
    (out / "release.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def broken(out: Path, wanted: mv.Policy, **more: Any) -> set[str]:
    """What the audit finds broken."""
    return {finding.promise for finding in mv.audit(out, frame(), wanted, **more).broken}


def with_k(k: object) -> Any:
    """Claim another k."""
    return lambda promises: [{"kind": "k-anonymity", "parameters": {"k": k}}, *promises[1:]]


def added(*claims: dict[str, Any]) -> Any:
    """Claim more."""
    return lambda promises: [*promises, *claims]


LIES: dict[str, Any] = {
    "k edited upwards": with_k(99),
    "l edited upwards": lambda promises: [
        promises[0],
        {"kind": "distinct-l-diversity", "parameters": {"l": 9}, "attribute": "ill"},
    ],
    "another kind of promise": added(
        {"kind": "t-closeness", "parameters": {"t": 0, "ground": "equal"}, "attribute": "ill"}
    ),
    "a rule": added(
        {
            "kind": "frequency-l-diversity",
            "parameters": {"l": 60},
            "rule": {"given": ["age"], "protect": "ill"},
        }
    ),
    "a kind that is none": added({"kind": "differential-privacy", "parameters": {"epsilon": 1}}),
    "an attribute that is none": added(
        {"kind": "distinct-l-diversity", "parameters": {"l": 2}, "attribute": "wealth"}
    ),
    "a promise twice": added({"kind": "k-anonymity", "parameters": {"k": 3.0}}),
    "a message in a parameter": with_k("3"),
    "more parameters": added({"kind": "k-anonymity", "parameters": {"k": 3, "seen": 1}}),
    "parameters of another form": added({"kind": "k-anonymity", "parameters": {"k": {"a": 1}}}),
    "no parameters": added({"kind": "k-anonymity", "parameters": 3}),
    "a rule of another form": added(
        {"kind": "distinct-l-diversity", "parameters": {"l": 2}, "rule": {"given": [["age"]], "protect": {}}}
    ),
    "an attribute of another form": added(
        {"kind": "distinct-l-diversity", "parameters": {"l": 2}, "attribute": ["ill"]}
    ),
    "no kind": added({"parameters": {}}),
    "a population that nobody listed": added({"kind": "k-map", "parameters": {"k_map": 3}}),
    "a threshold of nothing": added(
        {"kind": "recursive-c-l-diversity", "parameters": {"c": 0, "l": 2}, "attribute": "ill"}
    ),
    "known items of nothing": added(
        {"kind": "k-m-anonymity", "parameters": {"k": 3, "known_items": 1, "attribute": "wealth"}}
    ),
    "known items of one value": added(
        {"kind": "k-m-anonymity", "parameters": {"k": 3, "known_items": 1, "attribute": "ill"}}
    ),
    "eliminations of nothing": added(
        {
            "kind": "elimination",
            "parameters": {"eliminations": 1, "ruled_out": ["wealth"]},
            "attribute": "ill",
        }
    ),
    "a key of nothing": added({"kind": "key-k-anonymity", "parameters": {"k": 2, "attributes": ["wealth"]}}),
    "a key too large": added({"kind": "key-k-anonymity", "parameters": {"k": 50, "attributes": ["home"]}}),
    "l of values": added(
        {"kind": "distinct-l-diversity", "parameters": {"l": 2, "l_of": {"flu": 60}}, "attribute": "ill"}
    ),
    "about no attribute": added({"kind": "linkability", "parameters": {"epsilon": 0.5}}),
    "a ground that is none": added(
        {"kind": "t-closeness", "parameters": {"t": 0.5, "ground": "Equal"}, "attribute": "ill"}
    ),
    "l below one": added({"kind": "entropy-l-diversity", "parameters": {"l": 0}, "attribute": "ill"}),
    "l far below one": added(
        {"kind": "frequency-l-diversity", "parameters": {"l": -(10**30)}, "attribute": "ill"}
    ),
    "l of values in another form": added(
        {"kind": "frequency-l-diversity", "parameters": {"l": 2, "l_of": ["flu"]}, "attribute": "ill"}
    ),
    "a message among values": added(
        {
            "kind": "distinct-l-diversity",
            "parameters": {"l": 2, "l_of": {"meet at noon": 9}},
            "attribute": "ill",
        }
    ),
    "a level that is none": added(
        {"kind": "distinct-l-diversity", "parameters": {"l": 2, "l_level": 1_000_000}, "attribute": "ill"}
    ),
    "k below one": with_k(-7),
    "t below nothing": added(
        {"kind": "t-closeness", "parameters": {"t": -1, "ground": "equal"}, "attribute": "ill"}
    ),
    "k of a rule": added(
        {"kind": "k-anonymity", "parameters": {"k": 3}, "rule": {"given": [], "protect": "ill"}}
    ),
    "k against who knows more": added({"kind": "k-anonymity", "parameters": {"k": 2}, "conditional": True}),
    "a condition": lambda promises: [
        *promises,
        {**promises[-1], "parameters": {"l": 30}, "conditional": True},
    ],
}


@pytest.mark.parametrize("lie", LIES)
def test_false_claims_are_found(tmp_path: Path, lie: str) -> None:
    """A claim that does not hold, or that cannot be read as a promise, is found, whatever policy the audit has."""
    wanted = policy(k=3, l=2)
    out = mv.publish(frame(), wanted, 1).save(tmp_path / "out")
    assert broken(out, wanted) == set()
    claiming(out, LIES[lie])
    assert "claims-true" in broken(out, wanted)
    assert "claims-true" in broken(out, policy(k=2))


def test_another_policy_is_said_and_binds_nobody(tmp_path: Path) -> None:
    """Under a weaker policy a release is kept, and under a stronger one what it breaks is; both say whose claims these are."""
    out = mv.publish(frame(), policy(k=3, l=2), 1).save(tmp_path / "out")
    weaker = mv.audit(out, frame(), policy(k=2))
    assert weaker.kept
    [said] = [finding for finding in weaker.findings if finding.promise == "claims-of-policy"]
    assert (said.promised, said.measured) == (False, 2)
    assert broken(out, policy(k=50)) == {"k-anonymity"}
    assert "claims-of-policy" not in {
        own.promise for own in mv.audit(out, frame(), policy(k=3, l=2)).findings
    }


def test_a_true_claim_is_no_lie_and_is_not_as_published(tmp_path: Path) -> None:
    """A k that was edited to what the groups have holds; where the private folder is at hand, the edit itself is found."""
    wanted, out = policy(k=3, l=2), tmp_path / "out"
    publish_to(wanted, out, data=frame(), seed=1)
    claiming(out, with_k(4))
    assert (
        min(own.measured for own in mv.audit(out, frame(), wanted).findings if own.promise == "k-anonymity")
        >= 4
    )
    assert broken(out, wanted) == {"as-published"}
    (tmp_path / "out.private" / "release.sha256").unlink()
    audit = mv.audit(out, frame(), wanted)
    assert audit.kept
    assert "claims-of-policy" in {finding.promise for finding in audit.findings}


def test_claims_of_a_release_as_published_bind_nobody_under_other_roles(tmp_path: Path) -> None:
    """A claim about those who know less is no lie: what was published with it was judged with it."""
    out = tmp_path / "out"
    publish_to(policy(k=3, l=2), out, data=frame(), seed=1)
    document = policy(k=1).model_dump(exclude_unset=True, by_alias=True)
    document["attributes"]["ill"] = {"role": "quasi"}
    other = mv.Policy(**document)
    audit = mv.audit(out, frame(), other)
    told = {finding.promise: finding for finding in audit.findings}
    assert told["claims-true"].measured
    assert audit.kept


@pytest.mark.parametrize("name", sorted(CASES))
def test_claims_are_read_back(tmp_path: Path, name: str) -> None:
    """Every claim of the golden releases is read back into the promise of which it was written."""
    source = tmp_path / "people.csv"
    source.write_text(table(), encoding="utf-8")
    wanted = mv.Policy(**{**CASES[name], "data": {**CASES[name].get("data", {}), "source": str(source)}})
    manifest = json.loads((FOLDER / name / "release.json").read_text())
    for claim in manifest["promises"]:
        promise = read_claim(claim, wanted)
        assert promise is not None
        assert promise.describe() == claim
    assert promises_of(wanted)


def test_claims_of_another_policy_that_hold(tmp_path: Path) -> None:
    """A value's own l, which another policy asks for, is judged by itself and holds."""
    out = tmp_path / "out"
    publish_to(policy(k=2, l=2, l_kind="frequency", l_of={"flu": 2}), out, data=frame())
    findings = mv.audit(out, frame(), policy(k=2)).findings
    assert [finding.kept for finding in findings if finding.promise == "claims-true"] == [True]
