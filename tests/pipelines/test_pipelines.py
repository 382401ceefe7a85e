"""Every example of docs/howto/pipeline.md, run by the tool that it is for; heavy tools by `make pipelines`."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.kit.postgresql import own_postgresql

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/howto/pipeline.md").read_text(encoding="utf-8")
POLICY = """
[attributes.age]
role = "quasi"
[attributes.zip]
role = "quasi"
[attributes.illness]
role = "sensitive"
[guarantee]
k = 2
l = 2
"""
HEADER = "age,zip,illness\n"
KEPT = HEADER + "30-39,47*,Zq7flu\n30-39,47*,Zq7cold\n40-49,48*,Zq7gout\n40-49,48*,\n"
# One row by itself, and a group with one illness.
BROKEN = KEPT + "50-59,49*,Zq7flu\n60-69,49*,Zq7gout\n60-69,49*,Zq7gout\n"
TABLES = pytest.mark.parametrize(
    ("table", "is_kept"), [(KEPT, True), (BROKEN, False)], ids=["kept", "broken"]
)


def block(mark):
    """The example of the page that has a mark in it."""
    return next(body for _, body in re.findall(r"```(\w+)\n(.*?)```", PAGE, re.DOTALL) if mark in body)


def tool(name):
    """A tool that `make pipelines` installs in an environment of its own; skipped without it."""
    folder = os.environ.get("MANYVEILS_PIPELINES")
    if folder is None:
        pytest.skip(f"{name} is installed and run by `make pipelines`")
    return Path(folder) / name / "bin" / name


def run(*words, folder, **variables):
    """Run a tool where the table is; what it said, and whether it succeeded."""
    environment = {**os.environ, "HOME": str(folder), **variables}
    path = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    arguments = [str(word) for word in words]
    done = subprocess.run(
        arguments, cwd=folder, capture_output=True, text=True, env={**environment, "PATH": path}
    )
    return done.stdout + done.stderr, done.returncode == 0


@pytest.fixture
def folder(tmp_path):
    """A folder with the policy."""
    (tmp_path / "policy.toml").write_text(POLICY)
    return tmp_path


@TABLES
def test_step(folder, table, is_kept):
    """The step of continuous integration succeeds if every promise is kept, and keeps the audit either way."""
    (folder / "published.csv").write_text(table)
    steps = yaml.safe_load(block("runs-on"))["jobs"]["judge"]["steps"]
    step = next(step["run"] for step in steps if "audit" in step.get("run", ""))
    _, succeeded = run("bash", "-e", "-c", step, folder=folder)
    assert succeeded == is_kept
    assert json.loads((folder / "audit.json").read_text())["kept"] == is_kept


@TABLES
def test_fixture(folder, table, is_kept):
    """The fixture is there without any setting up; it fails a test by promises and counts, without a cell."""
    (folder / "published.csv").write_text(table)
    (folder / "test_published.py").write_text(block("def test_published"))
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--showlocals", ".")
    said, succeeded = run(*words, folder=folder, PYTEST_ADDOPTS="")
    assert succeeded == is_kept, said
    assert ("promises are broken" in said and "k-anonymity" in said) == (not is_kept)
    assert "Zq7" not in said


def test_fixture_gives_the_audit(keeps_promises):
    """The fixture takes dataframes and gives the audit."""
    pl = pytest.importorskip("polars")
    policy = {
        "attributes": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
        "guarantee": {"k": 2, "l": 2},
    }
    audit = keeps_promises(pl.DataFrame({"age": ["1", "1"], "illness": ["a", "b"]}), policy)
    assert audit.kept


@TABLES
def test_hook(folder, table, is_kept):
    """The hook, installed by pre-commit from a repository of ours, refuses a commit of a broken table."""
    pre_commit = tool("pre-commit")
    ours = folder / "ours"
    ignored = shutil.ignore_patterns(
        ".venv*", ".git", "__pycache__", ".*_cache", "site", "build", "tests", "docs"
    )
    shutil.copytree(ROOT, ours, ignore=ignored)
    desk = folder / "desk"
    desk.mkdir()
    shutil.copy(folder / "policy.toml", desk)
    (desk / "published.csv").write_text(table)
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    for place in (ours, desk):
        for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "first")):
            assert run("git", *words, folder=place)[1]
    revision, _ = run("git", "rev-parse", "HEAD", folder=ours)
    config = yaml.safe_load(block(".pre-commit-config"))
    config["repos"][0] |= {"repo": str(ours), "rev": revision.strip()}
    (desk / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    run("git", "add", "-A", folder=desk)
    said, succeeded = run(
        pre_commit, "run", "--all-files", folder=desk, PRE_COMMIT_HOME=str(pre_commit.parents[1] / "hooks")
    )
    assert succeeded == is_kept, said
    assert "Every promise is kept" in said or "manyveils audit" in said
    assert ("BROKEN" in said) == (not is_kept)


def project(folder, table, profile):
    """A project of dbt with the table as a seed and a model, tested as the page says."""
    (folder / "models").mkdir()
    (folder / "seeds").mkdir()
    (folder / "seeds/raw.csv").write_text(table)
    (folder / "models/published.sql").write_text("select * from {{ ref('raw') }}")
    schema = yaml.safe_load(block("# models/schema.yml"))
    schema["models"][0]["data_tests"] += MORE
    (folder / "models/schema.yml").write_text(yaml.safe_dump(schema))
    packages = yaml.safe_load(block("packages.yml"))
    packages["packages"][0]["local"] = str(ROOT / "integrations/dbt")
    (folder / "packages.yml").write_text(yaml.safe_dump(packages))
    (folder / "dbt_project.yml").write_text("name: desk\nconfig-version: 2\nprofile: desk\n")
    profiles = {"desk": {"target": "here", "outputs": {"here": profile}}}
    (folder / "profiles.yml").write_text(yaml.safe_dump(profiles))


def tested(folder):
    """Which tests of the project failed, by dbt's own results."""
    dbt = tool("dbt")
    quiet = {"DBT_SEND_ANONYMOUS_USAGE_STATS": "false", "DBT_VERSION_CHECK": "false"}
    for words in (("deps",), ("seed",), ("run",)):
        said, succeeded = run(dbt, *words, "--profiles-dir", ".", folder=folder, **quiet)
        assert succeeded, said
    said, succeeded = run(dbt, "test", "--store-failures", "--profiles-dir", ".", folder=folder, **quiet)
    results = json.loads((folder / "target/run_results.json").read_text())["results"]
    assert "error" not in {result["status"] for result in results}, said
    failed = {
        result["unique_id"].split(".")[2]: result["failures"] for result in results if result["failures"]
    }
    assert succeeded == (not failed)
    return {name.split("_published")[0]: n for name, n in failed.items()}


# Beside the page's tests: by persons, of whom zip codes stand here for names, and by someone who knows more.
MORE = [
    {
        "manyveils.k_anonymous": {
            "name": "by_person",
            "arguments": {"quasi_identifiers": ["age"], "k": 2, "person": "zip"},
        }
    },
    {
        "manyveils.l_diverse": {
            "name": "knowing_more",
            "arguments": {"quasi_identifiers": ["age"], "sensitive": "illness", "l": 2, "known": ["illness"]},
        }
    },
]
# Groups that fall short, counted by hand: every age has one zip code, and who knows an illness knows it.
ALONE = {"by_person": 2, "knowing_more": 4}
SHORT = {"manyveils_k_anonymous": 1, "manyveils_l_diverse": 2, "by_person": 4, "knowing_more": 6}


@TABLES
def test_dbt_on_duckdb(folder, table, is_kept):
    """On DuckDB the tests of dbt fail for every group that falls short, and for no other."""
    tool("dbt")
    project(folder, table, {"type": "duckdb", "path": str(folder / "desk.duckdb")})
    assert tested(folder) == (ALONE if is_kept else SHORT)


@TABLES
def test_dbt_on_postgresql(folder, table, is_kept):
    """On PostgreSQL they fail for the same groups."""
    tool("dbt")
    with own_postgresql() as address:
        host = address.split("host=")[1]
        place = {"host": host, "user": "manyveils", "password": "", "port": 5432}
        project(folder, table, {"type": "postgres", "dbname": "postgres", "schema": "desk", **place})
        assert tested(folder) == (ALONE if is_kept else SHORT)


@TABLES
def test_expectations(folder, table, is_kept):
    """The audit as expectations is read by Great Expectations itself, and says of every promise whether it is kept."""
    python = tool("gx").with_name("python")
    (folder / "published.csv").write_text(table)
    words = ("manyveils", "audit", "published.csv", "--policy", "policy.toml", "--expectations")
    said, succeeded = run(*words, folder=folder)
    assert succeeded == is_kept
    (folder / "result.json").write_text(said)
    script = (
        "import json\n"
        "from great_expectations.core.expectation_validation_result import "
        "expectationSuiteValidationResultSchema as schema\n"
        "result = schema.load(json.load(open('result.json')))\n"
        "print('GX', result.success, sorted({r.expectation_config.type for r in result.results if not r.success}))\n"
    )
    said, succeeded = run(python, "-c", script, folder=folder)
    assert succeeded, said
    assert f"GX {is_kept} " in said
    assert ("expect_k_anonymity" in said) == (not is_kept)


@TABLES
def test_prefect(folder, table, is_kept):
    """The flow ships a table that keeps its promises, and fails before it ships one that does not."""
    python = tool("prefect").with_name("python")
    (folder / "published.csv").write_text(table)
    (folder / "flow.py").write_text(block("from prefect"))
    said, succeeded = run(python, "flow.py", folder=folder, PREFECT_SERVER_ANALYTICS_ENABLED="false")
    assert succeeded == is_kept, said
    assert (folder / "shipped/published.csv").exists() == is_kept
    assert "Zq7" not in said
