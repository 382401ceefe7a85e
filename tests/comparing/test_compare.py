"""`manyveils compare` and `mv.compare`: the numbers of single runs, files that publish, and kind refusals."""

import json
import os
import pty
import re
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import manyveils as mv
from manyveils.comparing.trial import split

METHODS = ["slice", "anatomize", "generalize:mondrian", "grade"]
FEW = ("linkage", "homogeneity")


@pytest.fixture(scope="module")
def table():
    return mv.datasets.hospital(300)


@pytest.fixture(scope="module")
def found(table):
    """A comparison in this process, with parameters and with learning."""
    return mv.compare(
        table,
        mv.datasets.hospital_policy(),
        methods=METHODS,
        vary={"k": [5, 9]},
        attacks=FEW,
        learn="age",
        seed=3,
        workers=1,
    )


def scalars(utility):
    return {key: value for key, value in utility.items() if not isinstance(value, dict)}


@pytest.mark.parametrize("name", ["slice, k = 5", "anatomize, k = 9", "generalize:mondrian, k = 9"])
def test_the_numbers_of_single_runs(found, table, name):
    """A configuration run by itself with the same seed gives the numbers of the comparison."""
    result = found[name]
    policy = result.configuration.of(mv.datasets.hospital_policy())
    release = mv.publish(table, policy, seed=3)
    assert (release.rows, release.suppressed) == (result.rows, result.suppressed)
    alone = scalars(mv.measure(release, table, policy))
    assert alone == pytest.approx({key: result.utility[key] for key in alone}, rel=1e-12)
    attacked = mv.attack(release, table, policy, only=FEW, seed=3)
    for attack, outcome in attacked.items():
        assert result.attacks[attack]["success"] == pytest.approx(outcome.success, rel=1e-12)
        assert result.attacks[attack]["baseline"] == pytest.approx(outcome.baseline, rel=1e-12)


def test_learning_of_single_runs(found, table):
    """Learning in a comparison is that of a release of four fifths of the rows, tested on the last fifth."""
    result = found["slice, k = 5"]
    policy = result.configuration.of(mv.datasets.hospital_policy())
    taught, tested = split(table, policy, 3)
    assert (taught.height, tested.height) == (240, 60)
    assert pl.concat([taught, tested]).sort(table.columns).equals(table.sort(table.columns))
    release = mv.publish(taught, policy, seed=3)
    alone = mv.measure(release, taught, policy, learn="age", held_out=tested)
    for key in ("learning_baseline", "learning_original", "learning_release"):
        assert result.utility[key] == alone[key]


def test_refusals_are_listed(found):
    """A configuration that cannot be published has its first problem as a reason, and the others go on."""
    assert not found["grade, k = 5"].published
    assert "multivalued" in found["grade, k = 5"].refusal
    assert found["slice, k = 9"].published
    assert found.results[-1].name.startswith("grade")


def test_processes_give_the_same(found, table):
    """Parallel processes give the numbers of one process."""
    parallel = mv.compare(
        table, mv.datasets.hospital_policy(), methods=METHODS[:2], attacks=FEW, learn="age", seed=3, workers=2
    )
    for name in METHODS[:2]:
        one, other = found[f"{name}, k = 5"], parallel[name]
        assert scalars(other.utility) == pytest.approx(scalars(one.utility), rel=1e-12)
        assert other.gains == pytest.approx(one.gains, rel=1e-12)


@pytest.mark.parametrize("workers", [1, 2])
def test_results_are_told_as_they_come(table, workers):
    """Whoever asks hears of nothing first, then of every configuration when it has finished, refused ones too."""
    heard = []
    comparison = mv.compare(
        table,
        mv.datasets.hospital_policy(),
        methods=["separate", "codip:mondrian", "multi-sa"],
        attacks="none",
        prefer="suppressed",
        seed=3,
        workers=workers,
        so_far=lambda comparison, n: heard.append(({result.name for result in comparison.tried}, n)),
    )
    assert [(len(names), n) for names, n in heard] == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert all(fewer < more for (fewer, _), (more, _) in pairwise(heard))
    assert heard[-1][0] == {result.name for result in comparison.results}


def test_one_method_by_its_name(table):
    """A single method may be named without a list around it."""
    policy = mv.datasets.hospital_policy()
    comparison = mv.compare(table, policy, methods="separate", attacks="none", seed=1, workers=1)
    assert [result.name for result in comparison.results] == ["separate"]


def test_weaker_promises_are_told(table):
    """A configuration that promises less than the policy is told from one that keeps it, and is not recommended."""
    policy = mv.datasets.hospital_policy(guarantee={"k": 6, "l": 2})
    mixed = mv.compare(
        table, policy, methods=["generalize:mondrian"], vary=["k=2,6,12"], attacks=FEW, seed=1, workers=1
    )
    kept = {each.configuration.guarantee["k"]: each.keeps_policy for each in mixed.results}
    assert kept == {2: False, 6: True, 12: True}
    assert mixed.recommended.configuration.guarantee["k"] >= 6
    assert mixed.policy.guarantee.k == mixed.recommended.configuration.guarantee["k"]


def test_a_comparison_has_no_cell(found, table):
    """Neither the repr nor the description has a value of a sensitive attribute."""
    said = repr(found) + json.dumps(found.describe(), default=float)
    values = {part for cell in table["diagnosis"].to_list() if cell for part in cell.split("|")} - {"None"}
    values |= set(table["insurance"].to_list())
    assert not [value for value in values if value in said]


def compare(desk, *words):
    """Run `compare` in one process, with a seed."""
    return desk.run(
        "compare",
        desk.folder / "policy.toml",
        "--out",
        desk.folder / "cmp",
        "--seed",
        1,
        "--workers",
        1,
        *words,
    )


SOME = ("--methods", "slice,anatomize,generalize,grade", "--attacks", "homogeneity")


def test_files(hospital):
    """The folder has all numbers, the picture and a policy; nothing else is written."""
    before = set(hospital.listing())
    outcome = compare(hospital, *SOME)
    assert outcome.status == 0, outcome.said
    assert set(hospital.listing()) - before == {
        "cmp",
        "cmp/comparison.json",
        "cmp/frontier.svg",
        "cmp/policy.toml",
    }
    assert (hospital.folder / "cmp").stat().st_mode & 0o077 == 0
    document = json.loads((hospital.folder / "cmp/comparison.json").read_text(encoding="utf-8"))
    assert len(document["results"]) == 4
    assert document["recommendation"]["name"] in [each["name"] for each in document["results"]]
    picture = (hospital.folder / "cmp/frontier.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    assert "recommended" in picture


def test_the_policy_file_publishes_what_was_compared(hospital):
    """The written policy keeps the user's words but the chosen keys, and publishes the recommended release."""
    document = compare(hospital, *SOME, "--vary", "k=5,7", "--json").document
    text = (hospital.folder / "cmp/policy.toml").read_text(encoding="utf-8")
    was = (hospital.folder / "policy.toml").read_text(encoding="utf-8")
    changed = [line for line in text.splitlines() if line not in was.splitlines()]
    assert all(line.split(" = ")[0] in ("source", "method", "k") for line in changed), changed
    assert "# 37 → [35, 39]" in text
    chosen = next(each for each in document["results"] if each["name"] == document["recommendation"]["name"])
    release = mv.publish(None, hospital.folder / "cmp/policy.toml", seed=1)
    utility = mv.measure(release, None, hospital.folder / "cmp/policy.toml")
    assert utility["query_error"] == pytest.approx(chosen["utility"]["query_error"], rel=1e-12)


def test_paths_lead_where_they_led(desk):
    """Hierarchy files and data given by --data are found from the new policy."""
    desk.data("Zq7city0;here;*\nZq7city1;here;*\nZq7city2;there;*\n", "city.csv")
    desk.policy(attributes={"city": {"hierarchy": {"file": "city.csv"}}}, data={"source": "gone.csv"})
    outcome = compare(desk, "--methods", "generalize", "--data", desk.folder / "people.csv")
    assert outcome.status == 0, outcome.said
    written = tomllib.loads((desk.folder / "cmp/policy.toml").read_text(encoding="utf-8"))
    assert written["data"]["source"] == "../people.csv"
    assert written["attributes"]["city"]["hierarchy"]["file"] == "../city.csv"
    assert mv.publish(None, desk.folder / "cmp/policy.toml", seed=1).rows == 12


def test_policies_in_json_and_from_python(desk):
    """A policy that is no TOML file becomes one."""
    desk.data(json.dumps(desk.document), "policy.json")
    outcome = desk.run(
        "compare",
        desk.folder / "policy.json",
        "--out",
        desk.folder / "cmp",
        "--methods",
        "anatomize",
        "--workers",
        1,
    )
    assert outcome.status == 0, outcome.said
    assert mv.Policy.load(desk.folder / "cmp/policy.toml").publish.method == "anatomize"
    made = mv.compare(desk.folder / "people.csv", desk.document, methods=["anatomize"], workers=1)
    made.save(desk.folder / "other")
    assert mv.publish(None, desk.folder / "other/policy.toml").rows == 12


def test_table_and_words(desk):
    """People see a table, the refusals, the recommendation and what it ignores; no cell of the data."""
    outcome = compare(desk, "--methods", "generalize,anatomize,grade", "--vary", "k=2,3")
    assert outcome.status == 0, outcome.said
    assert "Recommended: " in outcome.stdout
    assert "attacks that were not tried: " in outcome.stdout
    assert "Zq7" not in outcome.said.replace(str(desk.folder), "")


def test_rows_appear_on_a_terminal(hospital, tmp_path):
    """On a terminal the table shows how many ways have finished, and in the end only what it shows elsewhere."""
    ours, its = pty.openpty()
    words = [
        "compare",
        str(hospital.folder / "policy.toml"),
        "--out",
        str(tmp_path / "out"),
        "--methods",
        "separate,slice",
    ]
    code = "import sys; from manyveils.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, *words, "--attacks", "none", "--prefer", "kl", "--workers", "1"]
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "140"}
    process = subprocess.Popen(command, stdout=its, stderr=subprocess.DEVNULL, env=environment)
    os.close(its)
    shown = _read_all(ours)
    assert process.wait() == 0
    counts = re.findall(r"(\d) of 2 ways have finished", shown)
    assert list(dict.fromkeys(counts)) == ["0", "1", "2"]
    assert "The same data in 2 ways" in shown.rpartition("have finished")[2]


def _read_all(terminal):
    """What a program writes to a terminal until it ends."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:
        # So a terminal says that nobody writes any more.
        pass
    finally:
        os.close(terminal)
    return b"".join(parts).decode()


def test_json_is_one_document(desk):
    """With --json there is one document, in the order of the preference."""
    outcome = compare(desk, "--methods", "generalize,separate,anatomize", "--prefer", "kl", "--json")
    values = [each["utility"]["kl"] for each in outcome.document["results"]]
    assert values == sorted(values)
    assert outcome.stderr == ""


def test_no_attacks_no_picture(desk):
    """Without attacks there is no risk to draw, and the words say that privacy was not weighed."""
    outcome = compare(desk, "--methods", "anatomize,separate", "--attacks", "none")
    assert outcome.status == 0, outcome.said
    assert not (desk.folder / "cmp/frontier.svg").exists()
    assert "no attack was tried" in outcome.stdout


def test_force_replaces_a_comparison_only(desk):
    """An existing folder is refused; --force replaces a comparison and nothing else."""
    words = ("--methods", "separate", "--attacks", "none")
    assert compare(desk, *words).status == 0
    again = ("compare", desk.folder / "policy.toml", "--out", desk.folder / "cmp", "--workers", 1, *words)
    assert "give --force" in desk.refused(*again)
    assert compare(desk, *words, "--force").status == 0
    (desk.folder / "cmp/mine.txt").write_text("mine", encoding="utf-8")
    assert "is there already" in desk.refused(*again, "--force")


def test_nothing_can_keep_the_promises(desk):
    """If no configuration keeps the promises the status is 1, with every reason, and nothing is written."""
    desk.policy(guarantee={"k": 2, "l": 2, "l_kind": "frequency", "t": 0.0})
    desk.data("name,age,city,illness\n" + "".join(f"Zq7n{i},{i},Zq7c,Zq7i{min(i, 2)}\n" for i in range(9)))
    words = ("--methods", "generalize,anatomize", "--workers", 1)
    said = desk.refused(
        "compare", desk.folder / "policy.toml", "--out", desk.folder / "cmp", *words, status=1
    )
    assert "No configuration can keep what policy.toml promises." in said
    assert "generalize: " in said
    assert "anatomize: " in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--methods", "slic"), "Did you mean 'slice'?"),
        (("--vary", "q=2"), "is neither a key of [guarantee] nor suppression"),
        (("--prefer", "beauty"), "is not a measure to prefer"),
        (("--prefer", "learning"), "learning needs a target"),
        (("--learn", "city2"), "Did you mean 'city'?"),
        (("--learn", "name"), "is never published"),
        (("--attacks", "magic"), "there is no attack 'magic'"),
        (("--risk", "2"), "must be a share from 0 to 1"),
        (("--data", "nowhere.csv"), "nowhere.csv"),
        (("--methods", ","), "none is named"),
    ],
)
def test_mistakes(desk, words, said):
    """Wrong arguments are status 2, with what would be right."""
    policy = desk.folder / "policy.toml"
    assert said in desk.refused("compare", policy, "--out", desk.folder / "cmp", "--workers", 1, *words)


def test_nothing_to_learn(desk):
    """If models of the original do not beat guessing there is nothing to prefer, and this is said."""
    words = ("--learn", "illness", "--prefer", "learning", "--methods", "separate", "--workers", 1)
    said = desk.refused("compare", desk.folder / "policy.toml", "--out", desk.folder / "cmp", *words)
    assert "there is no learning to keep; learn another attribute." in said


def test_relative_places(desk, monkeypatch):
    """A comparison in the folder one works in finds everything by relative paths."""
    monkeypatch.chdir(desk.folder)
    outcome = desk.run("compare", "policy.toml", "--out", "cmp", "--methods", "separate", "--workers", 1)
    assert outcome.status == 0, outcome.said
    assert mv.publish(None, Path("cmp/policy.toml")).rows == 12


def test_without_the_drawing_library(desk, monkeypatch):
    """Without the libraries for pictures everything else is written, and the way to get one is said."""
    monkeypatch.setattr("manyveils.comparing.comparison.can_draw", lambda: False)
    outcome = compare(desk, "--methods", "anatomize,separate")
    assert outcome.status == 0, outcome.said
    assert "manyveils[report]" in outcome.stdout
    assert {path.name for path in (desk.folder / "cmp").iterdir()} == {"comparison.json", "policy.toml"}
