"""The documents about themselves: examples run, links lead somewhere, every key and method has its words."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from manyveils.cli.app import COMMANDS
from manyveils.methods import METHODS, load
from manyveils.policy import Policy
from manyveils.policy import guarantees as promised
from manyveils.policy.sections import LISTS, SECTIONS, AttributeSection, Hierarchy
from manyveils.spark import limits, session

ROOT = Path(__file__).parents[2]
START = "docs/start.md"
COMMAND = [sys.executable, "-c", "from manyveils.cli import main; main()"]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
SECTION_MODELS = [model for name, model in SECTIONS.items() if name != "guarantee"]
MODELS = [*SECTION_MODELS, *LISTS.values(), AttributeSection, Hierarchy]


def name_of(page):
    return page.relative_to(ROOT).as_posix()


def blocks(page, language):
    """The fenced blocks of one language, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [body for found, body in FENCE.findall(text) if found == language]


def keys_of(model):
    return [field.alias or name for name, field in model.model_fields.items()]


def run(arguments, folder):
    done = subprocess.run(arguments, cwd=folder, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """A folder with the csv of docs/start.md and policy, and all that its commands and its Python print."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "patients.csv").write_text(blocks(START, "csv")[0], encoding="utf-8")
    (folder / "policy.toml").write_text(blocks(START, "toml")[0], encoding="utf-8")
    lines = [line for block in blocks(START, "sh") for line in block.splitlines()]
    lines = [line for line in lines if "spark" not in line]
    printed = [
        run([*COMMAND, *shlex.split(line)[1:]], folder) for line in lines if line.startswith("manyveils ")
    ]
    # What docs/start.md does with Spark is run by tests/spark.
    scripts = [block for block in blocks(START, "python") if "spark" not in block]
    printed += [run([sys.executable, "-c", script], folder) for script in scripts]
    return folder, "\n".join(printed)


def test_start_example_publishes(example):
    """The policy of docs/start.md publishes its table, keeps every promise, and leaves the folder it draws."""
    folder, printed = example
    assert "Every promise is kept." in printed
    drawn = re.findall(r"^  (\S+)", blocks(START, "text")[-1], re.MULTILINE)
    assert len(drawn) == 3
    assert all((folder / "release" / file).is_file() for file in drawn)
    private = {path.name for path in (folder / "release.private").iterdir()}
    assert all(name in blocks(START, "text")[-1] for name in private)


def test_start_shows_real_lines(example):
    """Every line of output that docs/start.md shows is in what its examples print or publish."""
    folder, printed = example
    real = printed + (folder / "release/tables/main.csv").read_text(encoding="utf-8")
    shown = [line for block in blocks(START, "text")[:-1] for line in block.splitlines()]
    assert len(shown) > 10
    assert [line for line in shown if line not in real] == []


def test_start_example_is_certain_for_ten(example):
    """The claim of docs/start.md holds: knowing the diagnosis makes ten of twelve insurances certain."""
    import manyveils as mv

    folder, _ = example
    audit = mv.audit(folder / "release", folder / "patients.csv", folder / "policy.toml")
    short = [f for f in audit.findings if (f.attribute, f.reading) == ("insurance", "conditional")]
    assert [finding.rows_short for finding in short] == [10]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_same_kind_goes_out(example, library):
    """Tables go out as the kind of dataframe that came in, as docs/start.md says."""
    import polars as pl

    import manyveils as mv

    folder, _ = example
    pytest.importorskip(library)
    frame = pl.read_csv(folder / "patients.csv", infer_schema=False)
    data = {"pandas": frame.to_pandas, "polars": frame.clone, "pyarrow": frame.to_arrow}[library]()
    release = mv.publish(data, folder / "policy.toml")
    assert {type(table) for table in release.tables.values()} == {type(data)}


def test_every_command_and_method_is_named():
    """docs/start.md names every command, and it and the README name every method."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = (ROOT / START).read_text(encoding="utf-8")
    both = readme + text
    assert [name for name in COMMANDS if f"manyveils {name}" not in both and f"make {name}" not in both] == []
    assert [name for name in METHODS if f"`{name}`" not in readme or f"`{name}`" not in text] == []


def test_the_readme_is_short_and_its_commands_run(tmp_path):
    """The README has less than 10 kB; its two commands publish its table, and its Python says that all is kept."""
    assert (ROOT / "README.md").stat().st_size < 10_000
    (tmp_path / "patients.csv").write_text(blocks("README.md", "csv")[0], encoding="utf-8")
    lines = [line for block in blocks("README.md", "sh") for line in block.splitlines()]
    commands = [line for line in lines if line.startswith("manyveils ")]
    assert len(commands) == 2
    printed = [run([*COMMAND, *shlex.split(line)[1:]], tmp_path) for line in commands]
    assert "Every promise is kept." in printed[1]
    assert (tmp_path / "release" / "release.json").is_file()
    [script] = blocks("README.md", "python")
    assert run([sys.executable, "-c", script], tmp_path).strip() == "kept: True"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    """Every relative link leads to a file, and every link to a heading to a heading of that file."""
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, heading = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.+)$", found.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_make_targets_exist(page):
    """Every make target that a document names is in the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_policies_are_toml(page):
    """Every TOML example parses."""
    for block in blocks(page, "toml"):
        assert tomllib.loads(block)


def test_policy_page_shows_a_policy():
    """The first example of docs/policy.md is a whole policy without a problem."""
    policy = Policy(**tomllib.loads(blocks("docs/policy.md", "toml")[0]))
    assert policy.publish.method in METHODS


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_policy_page_lists_every_key(model):
    """Every key of a policy's sections has a row in docs/policy.md."""
    text = (ROOT / "docs/policy.md").read_text(encoding="utf-8")
    assert [key for key in keys_of(model) if f"\n| `{key}` |" not in text] == []


def test_the_house_is_drawn_as_it_is():
    """docs/how-it-works.md lists every package and module at the top of the source, and nothing else."""
    text = (ROOT / "docs/how-it-works.md").read_text(encoding="utf-8")
    drawn = re.search(r"## The house\n\n```text\n(.*?)```", text, re.DOTALL)
    assert drawn is not None
    listed = [line.split()[0] for line in drawn[1].splitlines()]
    there = (ROOT / "src/manyveils").iterdir()
    names = {f"{path.name}/" if path.is_dir() else path.name for path in there if path.name[0] != "_"}
    assert sorted(listed) == sorted(names)


def test_promise_page_defines_every_guarantee():
    """Every kind of guarantee has a row in docs/promise.md, and the page names every key of [guarantee]."""
    text = (ROOT / "docs/promise.md").read_text(encoding="utf-8")
    unnamed = [
        key for key in keys_of(SECTIONS["guarantee"]) if f"`{key}`" not in text and f"`{key} =" not in text
    ]
    assert unnamed == []
    kinds = [guarantee.kind for guarantee in promised.GUARANTEES]
    assert len(kinds) >= 13
    assert [kind for kind in kinds if f"| `{kind}` |" not in text] == []


def test_measures_page_lists_every_measure():
    """Every key of a measured release has a row in docs/measures.md."""
    import manyveils as mv

    text = (ROOT / "docs/measures.md").read_text(encoding="utf-8")
    frame, found = mv.datasets.hospital(200), set()
    for publish in ({"method": "generalize", "suppression": 0.1}, {"method": "anatomize"}):
        policy = mv.datasets.hospital_policy(publish=publish)
        found |= set(mv.measure(mv.publish(frame, policy, seed=1), frame, policy))
    assert len(found) >= 20
    assert [key for key in sorted(found) if f"\n| `{key}` |" not in text] == []


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_page(method):
    """Every method has a page that lists all its own keys."""
    page = {"slice": "slicing"}.get(method, method)
    text = (ROOT / f"docs/methods/{page}.md").read_text(encoding="utf-8")
    options = import_module(f"manyveils.methods.{method.replace('-', '_')}").METHOD.options
    assert text.startswith(f"# {method}\n")
    assert [key for key in keys_of(options) if f"| `{key}` |" not in text] == []


def rows_below(page, header):
    """The rows of the table with this header, each as its cells."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    found = []
    for line in lines[lines.index(header) + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_spark_page_lists_every_gap():
    """docs/spark.md says of the same methods as the code that they are not on Spark, with the same reason."""
    found = {name.strip("`"): why for name, _, why in rows_below("docs/spark.md", "| method | when | why |")}
    gaps = {name: load(name).gap for name in METHODS}
    assert found == {name: gap.reason for name, gap in gaps.items() if gap}


def test_spark_page_says_how_every_method_goes():
    """Every method has a row in the table of docs/spark.md, and its own page tells how it goes on Spark."""
    header = "| method | on Spark | the release of the local engine? |"
    told = {
        name for row in rows_below("docs/spark.md", header) for name in re.findall(r"`([a-z-]+)`", row[0])
    }
    assert told == set(METHODS)
    pages = [ROOT / f"docs/methods/{'slicing' if name == 'slice' else name}.md" for name in METHODS]
    assert [page.name for page in pages if "\n## On Spark\n" not in page.read_text(encoding="utf-8")] == []


def test_spark_page_lists_limits_and_settings(monkeypatch):
    """The environment's variables with their defaults, and every setting of our own session, are in docs/spark.md."""
    for name in (limits.CELLS, limits.ROWS, limits.WHOLE):
        monkeypatch.delenv(name, raising=False)
    told = {
        row[0]: row[1] for row in rows_below("docs/spark.md", "| environment variable | default | means |")
    }
    assert told == {
        f"`{limits.CELLS}`": f"{limits.driver_cells():,}",
        f"`{limits.ROWS}`": f"{limits.part_rows():,}",
        f"`{limits.WHOLE}`": f"{limits.whole_cells():,}",
        f"`{session.LOG}`": "off",
    }
    rows = rows_below("docs/spark.md", "| setting | value | why |")
    assert {name for row in rows for name in re.findall(r"`([^`]+)`", row[0])} == {
        *session.SETTINGS,
        *session.settings_of_driver(works=True),
        *session.settings_here(),
    }


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_one_sentence_per_line(page):
    """Outside tables, lists and examples, a line holds one sentence."""
    prose = FENCE.sub("", page.read_text(encoding="utf-8"))
    lines = [line for line in prose.splitlines() if line and line[0] not in "|-#<" and not line[0].isdigit()]
    assert [line for line in lines if re.search(r"[a-z)`\"][.?!] [A-Z]", line)] == []
