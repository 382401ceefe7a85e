"""A judge in another language, written from the documents, beside ours."""

import json
import random
from pathlib import Path

import pytest

import manyveils as mv
from tests.golden.cases import CASES, FOLDER, table

duckdb = pytest.importorskip("duckdb")
JUDGE = Path(__file__).with_name("judge.sql").read_text(encoding="utf-8")
KINDS = {"k-anonymity": "k", "distinct-l-diversity": "l", "t-closeness": "t"}
GUARANTEE = {"k": 2, "l": 2, "t": 0.95, "ground": "equal"}
WAYS = {
    "generalize": {"method": "generalize"},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize"},
    "separate": {"method": "separate"},
}


def judged(folder, known, protected):
    """What the foreign judge derives, by view and attribute."""
    with duckdb.connect() as connection:
        for name, value in (("folder", str(folder)), ("known", known), ("protected", protected)):
            connection.execute(f"SET VARIABLE {name} = $value", {"value": value})
        found = connection.execute(JUDGE)
        names = [column[0] for column in found.description]
        rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
    return {(row["view"], row["attribute"]): row for row in rows}


def ours(folder, data, policy):
    """What our audit measures of k, l and t in the marginal reading, by kind, view and attribute."""
    found = {}
    for finding in mv.audit(folder, data, policy).findings:
        if finding.promise in KINDS and finding.reading == "marginal":
            found[KINDS[finding.promise], finding.view, finding.attribute] = finding.measured
    return found


def compare(folder, data, policy, kinds="klt"):
    """Hold both judges against each other; gives how many numbers agree."""
    theirs = judged(folder, [*policy.quasi], [*policy.sensitive])
    assert not any(row["disagrees"] for row in theirs.values())
    n_equal = 0
    for (kind, view, attribute), measured in ours(folder, data, policy).items():
        rows = [theirs[view, attribute]] if attribute else [theirs[key] for key in theirs if key[0] == view]
        if kind not in kinds or not rows:
            continue
        own = max(row[kind] for row in rows) if kind == "t" else min(row[kind] for row in rows)
        assert own == pytest.approx(measured, abs=1e-9), (kind, view, attribute)
        n_equal += 1
    return n_equal


def odd_table(seed, n=80):
    """Draw a table with quotes, delimiters, line ends, missing cells and labels as values."""
    draw = random.Random(seed)
    ills = ["flu", 'so "called"', "a,b", "*", "[1, 2]", "é\nü", "0", "00", ""]
    rows = ["age,town,ill,blood,hobby"]
    for _ in range(n):
        ill = draw.choice(ills[: draw.randint(3, 9)]).replace('"', '""')
        cells = [draw.randint(1, 40), draw.choice(["X", "y", "X,y", ""]), f'"{ill}"', draw.choice("AB0")]
        rows.append(",".join([str(cells[0]), f'"{cells[1]}"', *map(str, cells[2:]), str(draw.randint(0, 3))]))
    return "\n".join(rows) + "\n"


def odd_policy(data, publish):
    return mv.Policy(
        data={"source": str(data)},
        attributes={
            "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20]}},
            "town": {"role": "quasi", "kind": "categorical"},
            "ill": {"role": "sensitive", "kind": "categorical"},
            "blood": {"role": "sensitive", "kind": "categorical"},
            "hobby": {"role": "neutral"},
        },
        guarantee=GUARANTEE,
        publish=publish,
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("seed", range(4))
def test_judges_agree(tmp_path, seed, way):
    """On tables of odd texts both judges derive the same k, l and t, from the files alone."""
    data = tmp_path / "people.csv"
    data.write_text(odd_table(seed), encoding="utf-8")
    policy = odd_policy(data, WAYS[way])
    mv.publish(data, policy, seed=seed).save(tmp_path / "out")
    assert compare(tmp_path / "out", data, policy) >= (4 if way == "separate" else 5)


@pytest.mark.parametrize(
    "name",
    ["generalize", "generalize-suppressed", "mondrian", "mondrian-sets", "anatomize", "anatomize-several"],
)
def test_judges_agree_on_golden_releases(tmp_path, name):
    """Both judges derive the same k and l from the golden releases."""
    data = tmp_path / "people.csv"
    data.write_text(table(), encoding="utf-8")
    policy = mv.Policy(**{**CASES[name], "data": {"source": str(data), "person": "row"}})
    assert compare(FOLDER / name, data, policy, kinds="kl") >= 1


def test_both_see_a_group_that_falls_short(tmp_path):
    """Where somebody is made to stand alone, both judges see it, and rows that are gone are seen by the foreign one."""
    data = tmp_path / "people.csv"
    data.write_text(odd_table(9), encoding="utf-8")
    policy = odd_policy(data, WAYS["mondrian"])
    mv.publish(data, policy, seed=1).save(tmp_path / "out")
    file = tmp_path / "out" / "tables" / "main.csv"
    lines = file.read_text(encoding="utf-8").split("\n")
    # The last record moves into a town of its own.
    last = max(place for place, line in enumerate(lines) if line.startswith('"['))
    lines[last] = lines[last].replace(lines[last].split('",')[1].split(",")[0], "Z", 1)
    file.write_text("\n".join(lines), encoding="utf-8")
    assert min(row["k"] for row in judged(tmp_path / "out", ["age", "town"], ["blood"]).values()) == 1
    file.write_text("\n".join(lines[:last]) + "\n", encoding="utf-8")
    assert all(row["disagrees"] for row in judged(tmp_path / "out", ["age", "town"], ["blood"]).values())


def test_buckets_that_disagree_are_seen(tmp_path):
    """A value that is moved to another bucket is seen by the foreign judge."""
    data = tmp_path / "people.csv"
    data.write_text(odd_table(3), encoding="utf-8")
    policy = odd_policy(data, WAYS["anatomize"])
    mv.publish(data, policy, seed=1).save(tmp_path / "out")
    file = tmp_path / "out" / "tables" / "main.blood.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("\n0,", "\n1,", 1), encoding="utf-8")
    assert judged(tmp_path / "out", ["age", "town"], ["blood"])["main", "blood"]["disagrees"]


def test_the_judge_reads_what_the_page_says():
    """The page on the format names every key that a manifest can have."""
    from manyveils.release.release import COLUMN_KEYS, MANIFEST_KEYS, PROMISE_KEYS, RECODING_KEYS, VIEW_KEYS

    page = (Path(__file__).parents[2] / "docs" / "release-format.md").read_text(encoding="utf-8")
    keys = {*COLUMN_KEYS, *MANIFEST_KEYS, *PROMISE_KEYS, *RECODING_KEYS, *VIEW_KEYS}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == []
    listed = {key for path in FOLDER.glob("*/release.json") for key in json.loads(path.read_text())}
    assert listed <= {*MANIFEST_KEYS}
