"""A release that lies about itself: the judge derives what it says, and believes none of it."""

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import manyveils as mv

ILLNESSES = ("Flu", "Asthma", "Ulcer", "Colic")
GUARANTEES: list[dict[str, Any]] = [
    {"l": 3, "l_kind": "frequency"},
    {"l": 3, "l_kind": "entropy"},
    {"t": 0.1},
    {"beta": 0.5},
    {"delta": 0.5},
    {"epsilon_link": 0.4},
    {"k": 3},
]


def rows() -> list[dict[str, str]]:
    """People of whom most are alone with their age and home."""
    return [
        {"age": str(20 + number % 30), "home": f"H{number % 7}", "ill": ILLNESSES[number % 4]}
        for number in range(60)
    ]


def write(path: Path, header: list[str], lines: list[list[str]], separator: str = ",") -> None:
    """Write a csv file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerows([header, *lines])


def policy(folder: Path, guarantee: dict[str, Any], method: str = "generalize", **publish: Any) -> mv.Policy:
    """Ages and homes are known, illnesses are not to be learnt."""
    return mv.Policy(
        data={"source": str(folder / "people.csv")},
        attributes={
            "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
            "home": {"role": "quasi"},
            "ill": {"role": "sensitive"},
        },
        guarantee=guarantee,
        publish={"method": method, **publish},
    )


def manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a release."""
    document: dict[str, Any] = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    return document


def lied(folder: Path, document: dict[str, Any]) -> None:
    """Put another manifest in its place."""
    text = json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    (folder / "release.json").write_text(text, encoding="utf-8")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The original, in a file."""
    people = rows()
    write(tmp_path / "people.csv", list(people[0]), [list(row.values()) for row in people])
    return tmp_path


def publish(folder: Path, wanted: mv.Policy) -> Path:
    """A sound release in a folder, which keeps everything."""
    release = mv.publish(None, wanted, seed=1)
    out = release.save(folder / "out")
    assert mv.audit(out, None, wanted).kept
    return out


def bare(out: Path, document: dict[str, Any]) -> None:
    """Replace the table by the original with illnesses in lower case, and let the files say that it is recoded."""
    people = sorted([row["age"], row["home"], row["ill"].lower()] for row in rows())
    write(out / "tables" / "main.csv", ["age", "home", "ill"], people)
    (out / "recodings").mkdir(exist_ok=True)
    for name in ("age", "home", "ill"):
        labels = sorted({row[("age", "home", "ill").index(name)] for row in people})
        originals = sorted({row[name] for row in rows()})
        write(
            out / "recodings" / f"main.{name}.csv",
            ["published", "original"],
            [[label, original] for label in labels for original in originals],
            ";",
        )
    document["recodings"] = [
        {"view": "main", "attribute": name, "file": f"recodings/main.{name}.csv"}
        for name in ("age", "home", "ill")
    ]
    document["views"][0]["columns"][0]["types"] = {"age": "text", "home": "text", "ill": "text"}
    document["views"][0]["enforces"] = {"given": [], "protect": "x", "l": 1}


@pytest.mark.parametrize("guarantee", GUARANTEES, ids=lambda guarantee: "-".join(map(str, guarantee)))
def test_false_recodings_hide_nothing(data: Path, guarantee: dict[str, Any]) -> None:
    """The original itself, dressed up as labels that cover everything, breaks the promise and is told as untrue."""
    out = publish(data, policy(data, guarantee))
    document = manifest(out)
    bare(out, document)
    lied(out, document)
    audit = mv.audit(out, None, policy(data, guarantee))
    broken = {finding.promise for finding in audit.broken}
    assert broken >= {"recodings-true", "nothing-lost", "nothing-but-listed"}
    promised = [finding for finding in audit.findings if finding.promise not in broken and finding.view]
    assert {"order-tells-nothing"} >= {finding.promise for finding in promised if finding.promised}


def test_a_false_recoding_of_quasi_identifiers_does_not_spread_a_slice(data: Path) -> None:
    """Whom a published value may be is decided by the value, whatever the recoding file of a slice says."""
    wanted = policy(data, {"l": 2}, "slice", columns=[["age"], ["home", "ill"]])
    out = publish(data, wanted)
    document = manifest(out)
    homes = sorted({row["home"] for row in rows()})
    (out / "recodings").mkdir(exist_ok=True)
    write(
        out / "recodings" / "main.home.csv",
        ["published", "original"],
        [[label, original] for label in homes for original in homes],
        ";",
    )
    document["recodings"] = [{"view": "main", "attribute": "home", "file": "recodings/main.home.csv"}]
    before = {
        (found.promise, found.reading): found.measured
        for found in mv.audit(out_copy(out), None, wanted).findings
    }
    lied(out, document)
    audit = mv.audit(out, None, wanted)
    assert "recodings-true" in {finding.promise for finding in audit.broken}
    for finding in audit.findings:
        if finding.attribute == "ill":
            assert finding.measured == before[finding.promise, finding.reading]


def out_copy(out: Path) -> Path:
    """The folder without what was put into it after publishing."""
    target = out.with_name("copy")
    shutil.copytree(out, target)
    shutil.rmtree(target / "recodings")
    return target


@pytest.mark.parametrize("names", [["ill"], ["age"], ["age", "ill"]])
def test_nothing_is_secret_unless_the_method_makes_secrets(data: Path, names: list[str]) -> None:
    """A manifest that calls attributes secret is not believed, and nothing raises."""
    wanted = policy(data, {"k": 3, "l": 2})
    out = publish(data, wanted)
    lied(out, manifest(out) | {"secret": names})
    audit = mv.audit(out, None, wanted)
    assert {finding.promise for finding in audit.broken} - {"canonical-form"} == {"nothing-but-listed"}


def test_a_quasi_identifier_is_never_secret(data: Path) -> None:
    """Even where the method makes secrets, only sensitive attributes can be."""
    wanted = policy(data, {"k": 1}, "grade")
    out = publish(data, wanted)
    document = manifest(out)
    lied(out, document | {"secret": ["age", *document["secret"]]})
    audit = mv.audit(out, None, wanted)
    assert {finding.promise for finding in audit.broken} == {"nothing-but-listed"}


def test_only_guardians_enforce(data: Path) -> None:
    """A rule that a view of another method claims to enforce is not believed."""
    wanted = policy(data, {"k": 3, "l": 2})
    out = publish(data, wanted)
    document = manifest(out)
    document["views"][0]["enforces"] = {"given": ["age"], "protect": "home", "l": 2}
    lied(out, document)
    audit = mv.audit(out, None, wanted)
    assert {finding.promise for finding in audit.broken} == {"nothing-but-listed"}


@pytest.mark.parametrize("claim", [{"given": "age"}, 7, {"given": [], "protect": 3, "l": 1}, ["a"]])
def test_a_claim_of_another_form_is_no_manifest(data: Path, claim: object) -> None:
    """What is no rule is refused as a damaged manifest."""
    out = publish(data, policy(data, {"k": 3}))
    document = manifest(out)
    document["views"][0]["enforces"] = claim
    lied(out, document)
    with pytest.raises(mv.DataError, match="is not a manifest of this format"):
        mv.audit(out, None, policy(data, {"k": 3}))


def more(out: Path, attributes: list[str], *, buckets: bool = False) -> None:
    """Add a view of exact values, listed as it should be."""
    lines = sorted([row[name] for name in attributes] for row in rows())
    field = ["bucket"] if buckets else []
    numbered = [[str(number), *line] if buckets else line for number, line in enumerate(lines)]
    file = f"tables/more.{'+'.join(attributes)}.csv" if buckets else "tables/more.csv"
    write(out / file, [*field, *attributes], numbered)
    document = manifest(out)
    types = {name: "integer" if name == "age" else "text" for name in attributes}
    document["views"].append(
        {
            "name": "more",
            "bucketed": buckets,
            "rows": len(lines),
            "columns": [{"attributes": attributes, "file": file, "types": types}],
            "enforces": None,
        }
    )
    lied(out, document)


@pytest.mark.parametrize("buckets", [False, True], ids=["plain", "in buckets of one"])
def test_k_holds_in_views_without_a_sensitive_attribute(data: Path, buckets: bool) -> None:
    """A view of exact quasi-identifiers beside a sound one breaks k."""
    wanted = policy(data, {"k": 3, "l": 2})
    out = publish(data, wanted)
    more(out, ["age", "home"], buckets=buckets)
    audit = mv.audit(out, None, wanted)
    assert [(finding.promise, finding.view) for finding in audit.broken] == [("k-anonymity", "more")]


def test_a_list_of_frequencies_has_no_rows_to_tell_apart(data: Path) -> None:
    """A view of a single attribute says how often its values occur, and k is not asked of it."""
    wanted = policy(data, {"k": 3, "l": 2})
    out = publish(data, wanted)
    more(out, ["age"])
    assert mv.audit(out, None, wanted).kept


SPELLINGS = ["Flu", "{Flu, a}", "{Flu}", "HIV", "{HIV}", "{HIV, b}"]


@pytest.mark.parametrize(
    "guarantee",
    [
        {"l": 2},
        {"l": 2, "l_kind": "frequency"},
        {"l": 2, "l_kind": "entropy"},
        {"alpha": 0.5, "alpha_values": ["HIV"]},
        {"beta": 0.5},
        {"epsilon_link": 0.6},
    ],
    ids=lambda guarantee: "-".join(map(str, guarantee.values())),
)
def test_one_value_is_one_value_however_it_is_written(tmp_path: Path, guarantee: dict[str, Any]) -> None:
    """Sets of one known member are that member: writing it in three ways makes no diversity."""
    people = [["x", "Flu"], ["x", "Flu"], ["x", "HIV"], ["y", "HIV"], ["y", "HIV"], ["y", "Flu"]]
    write(tmp_path / "people.csv", ["home", "ill"], people)
    wanted = mv.Policy(
        data={"source": str(tmp_path / "people.csv")},
        attributes={"home": {"role": "quasi"}, "ill": {"role": "sensitive"}},
        guarantee=guarantee,
        publish={"method": "generalize"},
    )
    out = publish(tmp_path, wanted)
    original = [["x", "Flu"]] * 3 + [["y", "HIV"]] * 3
    write(tmp_path / "people.csv", ["home", "ill"], original)
    document = manifest(out)
    document["views"][0]["columns"][0]["types"] = {"home": "text", "ill": "text"}
    document["recodings"] = []
    shutil.rmtree(out / "recodings", ignore_errors=True)
    rows_out = sorted([home, ill] for (home, _), ill in zip(original, SPELLINGS, strict=True))
    write(out / "tables" / "main.csv", ["home", "ill"], rows_out)
    lied(out, document)
    assert guarantee_of(wanted) in {finding.promise for finding in mv.audit(out, None, wanted).broken}


def guarantee_of(wanted: mv.Policy) -> str:
    """The kind of the one guarantee that a policy promises."""
    from manyveils.policy.promises import promises_of

    return promises_of(wanted)[0].guarantee.kind


def test_columns_stand_in_buckets(data: Path) -> None:
    """A view of several columns without buckets is refused: nothing would say which rows belong together."""
    out = publish(data, policy(data, {"k": 3, "l": 2}))
    document = manifest(out)
    view = document["views"][0]
    view["columns"].append(dict(view["columns"][0]))
    lied(out, document)
    with pytest.raises(mv.DataError, match="is not a manifest of this format"):
        mv.audit(out, None, policy(data, {"k": 3, "l": 2}))


@pytest.mark.parametrize("where", ["view", "column", "promise", "recoding"])
def test_a_manifest_has_no_room_for_messages(data: Path, where: str) -> None:
    """Keys that the format does not know are refused at every depth."""
    out = publish(data, policy(data, {"k": 3, "l": 2}))
    document = manifest(out)
    view = document["views"][0]
    entries = {
        "view": view,
        "column": view["columns"][0],
        "promise": document["promises"][0],
        "recoding": document["recodings"][0],
    }
    entries[where]["more"] = "the original"
    lied(out, document)
    with pytest.raises(mv.DataError, match="has 1 keys that the format does not know"):
        mv.audit(out, None, policy(data, {"k": 3, "l": 2}))


def test_what_is_not_known_stands_in_one_column(data: Path) -> None:
    """A sensitive attribute in two columns of a view would link their rows, and is found."""
    wanted = policy(data, {"k": 3, "l": 2}, "anatomize")
    out = publish(data, wanted)
    document = manifest(out)
    [column] = [entry for entry in document["views"][0]["columns"] if entry["attributes"] == ["ill"]]
    (out / "tables" / "main.more.csv").write_bytes((out / column["file"]).read_bytes())
    document["views"][0]["columns"].append({**column, "file": "tables/main.more.csv"})
    lied(out, document)
    assert "nothing-but-listed" in {finding.promise for finding in mv.audit(out, None, wanted).broken}
