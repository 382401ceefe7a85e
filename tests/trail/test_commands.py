"""Whole runs from the command line: plan, publish, audit, measure, for every method and both forms."""

import json

import pytest

METHODS = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.02},
    "separate": {"method": "separate"},
}
HIDDEN = ("name", "record", "choice")
TOP_KEYS = ["format", "method", "rows", "suppressed", "promises", "views", "recodings", "derived", "kinds"]


@pytest.fixture(params=METHODS)
def method(request, hospital):
    """A desk with the hospital table and a policy for one method."""
    hospital.policy(publish=None)
    hospital.document["publish"] = METHODS[request.param]
    hospital.policy()
    return hospital


def contents(folder):
    """Read every file of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def manifest_of(folder):
    """Read the manifest."""
    return json.loads((folder / "release.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_trail(method, form):
    """What is published passes an audit and can be measured, and the folder holds what its manifest lists."""
    out = method.published("--format", form, "--seed", 1)
    manifest = manifest_of(out)
    check_manifest(manifest, method.document, form)
    listed = {column["file"] for view in manifest["views"] for column in view["columns"]}
    listed |= {entry["file"] for entry in manifest["recodings"]}
    assert set(contents(out)) == listed | {"release.json"}
    rest = (out, "--policy", method.folder / "policy.toml", "--json")
    audit = method.run("audit", *rest)
    assert audit.status == 0
    assert audit.document["kept"] is True
    utility = method.run("measure", *rest)
    assert utility.status == 0
    assert {"loss", "discernibility", "average_class_size", "precision", "suppressed_share"} <= set(
        utility.document
    )


def check_manifest(manifest, document, form):
    """Check the manifest against the contract, key by key."""
    assert list(manifest) == TOP_KEYS
    assert manifest["format"] == "manyveils-release/1"
    assert manifest["method"] == document["publish"]["method"]
    assert manifest["rows"] + manifest["suppressed"] == 400
    assert {promise["kind"] for promise in manifest["promises"]} >= {"k-anonymity", "distinct-l-diversity"}
    assert all({"kind", "parameters"} <= set(promise) for promise in manifest["promises"])
    for view in manifest["views"]:
        assert {"name", "bucketed", "rows", "columns", "enforces"} == set(view)
        for column in view["columns"]:
            assert column["file"].endswith(f".{form}")
            assert not set(column["attributes"]) & {*HIDDEN, "diagnosis"}
    published = {
        name for view in manifest["views"] for column in view["columns"] for name in column["attributes"]
    }
    assert set(manifest["derived"]) == {"diagnosis"}
    assert "diagnosis=Flu" in manifest["derived"]["diagnosis"]
    assert set(manifest["derived"]["diagnosis"]) <= published


def test_readable(method):
    """Without --json every command prints tables and sentences, and nothing on stderr."""
    published = method.publish()
    assert "Every promise is kept." in published.stdout
    assert "Published" in published.stdout
    rest = (method.out, "--policy", method.folder / "policy.toml")
    for outcome in (method.run("audit", *rest), method.run("measure", *rest), published):
        assert (outcome.status, outcome.stderr) == (0, "")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_json_of_publish(method, form):
    """With --json publishing prints one document: where things are, the manifest, the audit and the plan."""
    outcome = method.publish("--json", "--format", form)
    assert outcome.status == 0
    assert set(outcome.document) == {"folder", "private", "manifest", "audit", "plan", "chain"}
    assert outcome.document["manifest"] == manifest_of(method.out)


def test_plan_writes_nothing(method):
    """A plan shows views, levels, expected utility and inferred kinds, and writes nothing."""
    before = method.listing()
    outcome = method.run("plan", method.folder / "policy.toml", "--json")
    assert outcome.status == 0
    shown = {"method", "rows", "suppressed", "views", "notes", "utility", "inferred_kinds", "promises"}
    assert shown | {"persons"} == set(outcome.document)
    plain = method.run("plan", method.folder / "policy.toml")
    assert plain.status == 0
    assert "Nothing was written." in plain.stdout
    assert "sex categorical" in plain.stdout
    assert method.listing() == before


def test_plan_is_what_happens(method):
    """With the same seed publishing does what the plan said."""
    plan = method.run("plan", method.folder / "policy.toml", "--json", "--seed", 3).document
    published = method.publish("--json", "--seed", 3).document
    assert plan["rows"] == published["manifest"]["rows"]
    assert plan["suppressed"] == published["manifest"]["suppressed"]
    assert plan["notes"] == published["plan"]
    assert [view["name"] for view in plan["views"]] == [
        view["name"] for view in published["manifest"]["views"]
    ]


def test_private_folder(method):
    """Private things are in a folder that only its owner may enter, beside the release or where one says."""
    method.published("--seed", 5)
    private = method.folder / "out.private"
    assert private.stat().st_mode & 0o777 == 0o700
    own = {"audit.json", "plan.json", "seed.json", "release.sha256", "placements.parquet", "ledger.zip"}
    assert set(contents(private)) == own
    assert json.loads((private / "seed.json").read_text()) == {"seed": 5}
    assert json.loads((private / "audit.json").read_text())["kept"] is True
    other = method.folder / "elsewhere" / "secret"
    assert method.publish("--force", "--private", other).status == 0
    assert other.stat().st_mode & 0o777 == 0o700


def test_same_seed_same_bytes(method):
    """The same seed gives the same files, and another seed or none still gives a release that passes."""
    first = contents(method.published("--seed", 7))
    assert method.publish("--seed", 7, "--force").status == 0
    assert contents(method.out) == first
    assert method.publish("--seed", 8, "--force").status == 0
    assert method.publish("--force").status == 0


def test_order_of_rows_does_not_matter(method):
    """The same rows in another order give the same files under the same seed: order leaks nothing."""
    first = contents(method.published("--seed", 7))
    source = method.folder / "hospital.csv"
    header, *rows = source.read_text().splitlines()
    source.write_text("\n".join([header, *reversed(rows)]) + "\n")
    assert method.publish("--seed", 7, "--force").status == 0
    assert contents(method.out) == first


def test_nothing_private_is_published(method):
    """Names, record numbers and choices are in no file of the release, nor is the seed."""
    header, *rows = (method.folder / "hospital.csv").read_text().splitlines()
    place = {name: header.split(",").index(name) for name in HIDDEN}
    cells = {row.split(",")[place[name]] for row in rows for name in ("name", "record")}
    published = b"\n".join(contents(method.published("--seed", 987654321)).values()).decode()
    assert not [cell for cell in cells if cell in published]
    assert "choice" not in published
    assert "987654321" not in published


def test_levels(hospital):
    """An audit can be asked how many rows fall short of another level; that is no broken promise."""
    hospital.published()
    rest = ("audit", hospital.out, "--policy", hospital.folder / "policy.toml", "--json")
    findings = hospital.run(*rest, "--level", "k=20", "--level", "l=5").document["findings"]
    asked = [
        finding for finding in findings if finding["promise"] == "k-anonymity" and not finding["promised"]
    ]
    assert [finding["required"] for finding in asked] == [20]
    assert any(finding["required"] == 5 and not finding["promised"] for finding in findings)


def test_data_elsewhere(hospital):
    """--data overrides the source of the policy, for every command."""
    moved = (hospital.folder / "hospital.csv").rename(hospital.folder / "moved.csv")
    assert hospital.publish().status == 2
    out = hospital.published("--data", moved)
    for command in ("audit", "measure"):
        words = (command, out, "--policy", hospital.folder / "policy.toml")
        assert hospital.run(*words).status == 2
        assert hospital.run(*words, "--data", moved).status == 0
    assert hospital.run("plan", hospital.folder / "policy.toml", "--data", moved).status == 0


def test_rules(hospital):
    """Rules between arbitrary attributes are kept by a method that can."""
    rules = [{"given": ["sex", "job"], "protect": "zipcode", "l": 3}]
    hospital.policy(rules=rules, publish={"method": "separate", "suppression": None})
    manifest = manifest_of(hospital.published())
    assert any(promise.get("rule") for promise in manifest["promises"])
