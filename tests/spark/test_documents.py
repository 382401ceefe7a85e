"""What docs/start.md and docs/spark.md say of Spark is what happens."""

import re
import shlex
import sys
from pathlib import Path

import pytest

import manyveils as mv
from manyveils.cli import main
from manyveils.spark.session import SETTINGS, settings_here, settings_of_driver

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language):
    """The fenced blocks of one language of docs/start.md, in order."""
    text = (ROOT / "docs/start.md").read_text(encoding="utf-8")
    return [body for found, body in FENCE.findall(text) if found == language]


@pytest.fixture
def example(spark, tmp_path):
    """A folder with its csv and policy; settings that a path or `session()` changes are put back."""
    before = spark.conf.getAll
    (tmp_path / "patients.csv").write_text(blocks("csv")[0], encoding="utf-8")
    (tmp_path / "policy.toml").write_text(blocks("toml")[0], encoding="utf-8")
    yield tmp_path
    for name, value in before.items():
        if spark.conf.get(name) != value:
            spark.conf.set(name, value)


def within(folder, text):
    """A text with its files in a folder: Java stays where the session was started, so paths must be whole."""
    return re.sub(r"\b(patients\.csv|policy\.toml|on-spark|from-spark)\b", rf"{folder.as_posix()}/\1", text)


def test_commands_of_the_page(spark, example, monkeypatch, capsys):
    """Its commands with Spark succeed, and what they publish is the release of the local engine."""
    lines = [line for block in blocks("sh") for line in block.splitlines() if "--engine spark" in line]
    assert len(lines) == 2
    for line in lines:
        monkeypatch.setattr(sys, "argv", shlex.split(within(example, line)))
        with pytest.raises(SystemExit) as done:
            main()
        assert not done.value.code
    assert capsys.readouterr().out.count("Every promise is kept.") == 2
    here = mv.publish(example / "patients.csv", example / "policy.toml")
    assert mv.Release.load(example / "on-spark").frames["main"].equals(here.frames["main"])


def test_python_of_the_page(spark, example, capsys):
    """Its Python with Spark prints a release whose promises are kept, and saves it."""
    [script] = [block for block in blocks("python") if "spark" in block]
    exec(within(example, script), {})
    printed = capsys.readouterr().out
    assert "<Release by generalize: 12 rows, 0 suppressed, views main>" in printed
    assert "kept: True" in printed
    assert [part.name for part in (example / "from-spark/tables/main.parquet").iterdir()] == [
        "part-00000.parquet"
    ]


def test_settings_of_a_session_of_our_own():
    """Docs give every setting, with its value unless the machine decides it."""
    measured = {"spark.sql.shuffle.partitions", "spark.driver.memory", "spark.driver.extraJavaOptions"}
    rows = (ROOT / "docs/spark.md").read_text(encoding="utf-8").splitlines()
    for name, value in (SETTINGS | settings_here() | settings_of_driver(works=True)).items():
        [row] = [row for row in rows if row.startswith("| `spark.") and f"`{name}`" in row]
        assert name in measured or value in row.split("|")[2]


def test_a_session_of_yours_stays_as_it_is(spark, example):
    """Publishing a dataframe changes no setting of the session it belongs to."""
    spark.conf.set("spark.sql.shuffle.partitions", "3")
    before = spark.conf.getAll
    mv.publish(spark.read.csv(str(example / "patients.csv"), header=True), example / "policy.toml")
    assert spark.conf.getAll == before
