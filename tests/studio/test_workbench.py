"""The workbench without pages: from a csv to a release, with what is tried, refused, cancelled and undone on the way."""

import subprocess
import sys
from time import monotonic, sleep

import pytest
from typer.testing import CliRunner

from manyveils.cli.app import app
from manyveils.errors import InputError, ManyveilsError, PolicyError
from manyveils.studio import document
from manyveils.studio.promises import with_promise
from manyveils.studio.work import Draft, start
from manyveils.studio.workbench import command, open_workbench


def ended(job, within=90):
    """Wait for a job."""
    until = monotonic() + within
    while job.look():
        assert monotonic() < until
        sleep(0.05)
    return job


def files(folder):
    """Every file of a folder with its bytes."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def dawdle(seconds, progress):
    """Take time."""
    progress("dawdling", 0.5)
    sleep(seconds)
    return {"seconds": seconds}


def stumble(message, progress):
    """Fail in a way nobody foresaw, with a cell in the message."""
    raise ValueError(message)


def test_the_release_is_the_command_lines(table):
    """The folder has the same bytes as the one that the command makes which is shown for it."""
    bench = open_workbench(table)
    bench.change(document.with_role(bench.text, "stay", "drop"))
    out = table.parent / "release"
    job = ended(bench.release(out, 7))
    assert not job.problems
    assert bench.published["audit"]["kept"]
    words = command(bench, table.parent / "other", 7).split()
    assert words[:2] == ["manyveils", "publish"]
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert files(out) == files(table.parent / "other")
    assert bench.policy_file.read_text() == bench.text


def test_the_way_in_is_the_policy_that_init_writes(table):
    """A table opens with the commented policy that `manyveils init` would write."""
    bench = open_workbench(table)
    assert CliRunner().invoke(app, ["init", str(table), "-o", str(table.parent / "p.toml")]).exit_code == 0
    assert bench.text == (table.parent / "p.toml").read_text()
    assert bench.problems() == ()


def test_what_was_changed_can_be_undone(table):
    """Each change is taken back by itself; a text that is no TOML is not taken."""
    bench = open_workbench(table)
    first = bench.text
    bench.change(with_promise(first, "k", 4))
    bench.change(with_promise(bench.text, "t", 0.4))
    with pytest.raises(PolicyError):
        bench.change("k =")
    for number in (0.5, 0.6):
        bench.change(with_promise(bench.text, "beta", number), about="beta")
    bench.undo()
    assert "beta" not in bench.sections["guarantee"]
    bench.undo()
    assert bench.sections["guarantee"]["k"] == 4
    bench.undo()
    bench.undo()
    assert bench.text == first


def test_a_try_writes_nothing_and_tells_what_came_of_it(table):
    """A try says what is lost; one that cannot keep its promise says why and what to do, with the data named by counts."""
    bench = open_workbench(table)
    good = bench.try_method(seed=1)
    bad_text = with_promise(bench.text, "k", 5_000)
    bad = start("The method", _try, Draft(bad_text, bench.folder, bench.name))
    assert ended(good.job).result["utility"]["loss"] is not None
    assert ended(bad).result is None
    assert any("5000" in str(problem) or "5,000" in str(problem) for problem in bad.problems)
    assert any(problem.remedy for problem in bad.problems)
    assert [path.name for path in table.parent.iterdir()] == ["hospital.csv"]


def _try(draft, progress):
    from manyveils.studio.trying import Wish, try_out

    return try_out(draft, Wish(), 1, progress)


def test_contradictions_stop_a_try_at_once(table):
    """What contradicts itself starts no process."""
    bench = open_workbench(table)
    bench.change(with_promise(bench.text, "t", 3))
    with pytest.raises(ManyveilsError):
        bench.try_method()
    assert bench.tries == []


def test_files_of_others_stay(table):
    """A release folder that is there is refused, and so is a policy file that somebody else wrote."""
    bench = open_workbench(table)
    (table.parent / "release").mkdir()
    with pytest.raises(InputError, match="there already"):
        bench.release(table.parent / "release")
    bench.policy_file.write_text("# mine\n")
    with pytest.raises(InputError, match="not written here"):
        bench.release(table.parent / "another")
    assert bench.policy_file.read_text() == "# mine\n"


def test_a_policy_opens_as_it_is(table):
    """A policy that is there is edited where it stands; one that was changed by somebody since stays."""
    file = table.parent / "mine.toml"
    file.write_text(open_workbench(table).text)
    bench = open_workbench(file)
    assert bench.name == "mine.toml"
    bench.change(with_promise(bench.text, "k", 4))
    bench.save()
    assert "k = 4" in file.read_text()
    file.write_text(file.read_text() + "# by somebody else\n")
    bench.change(with_promise(bench.text, "k", 5))
    with pytest.raises(InputError):
        bench.save()


def test_cancelled_work_ends_soon():
    """A job that is cancelled is ended, and is neither a result nor a refusal."""
    job = start("The work", dawdle, 60)
    until = monotonic() + 60
    while job.stage != "dawdling":
        job.look()
        assert monotonic() < until
        sleep(0.05)
    job.cancel()
    assert job.is_cancelled
    assert not job.is_running
    assert not job.problems


def test_a_fault_quotes_no_cell():
    """Of what nobody foresaw only the place is told, because its message may quote cells."""
    job = ended(start("The work", stumble, "Zq7"))
    assert job.problems
    assert "Zq7" not in str(job.problems)


def test_a_killed_process_is_told():
    """Work that ends without a word, for lack of memory for example, is a problem with a remedy."""
    job = start("The work", dawdle, 60)
    job._process.kill()
    assert "without a word" in str(ended(job).problems[0])


def test_a_release_outlives_the_studio(table):
    """A release that was begun is brought to its end, though whoever began it was killed."""
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from manyveils.studio.workbench import open_workbench\n"
        "if __name__ == '__main__':\n"
        "    bench = open_workbench(Path(sys.argv[1]))\n"
        "    job = bench.release(Path(sys.argv[2]), 1)\n"
        "    while job.stage == 'starting' and job.look(): pass\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    file, out = table.parent / "begin.py", table.parent / "release"
    file.write_text(script)
    subprocess.run([sys.executable, str(file), str(table), str(out)], check=False)
    until = monotonic() + 60
    while not out.exists():
        assert monotonic() < until
        sleep(0.1)
    assert (out / "release.json").is_file()
