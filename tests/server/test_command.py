"""`manyveils serve`: the first owner, the check of the log, a demo, and what is said on the way."""

import json
import os
import re
import signal
import stat
import subprocess
import sys

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

import manyveils as mv
from manyveils.cli.app import app
from manyveils.server.accounts import log_in
from manyveils.server.keeper import open_keeper
from manyveils.server.settings import Settings

PASSWORD = "a long enough password"


def run(*words, said=None):
    """Run a command in this process."""
    result = CliRunner().invoke(app, ["serve", *(str(word) for word in words)], input=said)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def started(folder, *words):
    """Start a server in a process of its own; gives it and what it says up to where it serves."""
    command = [sys.executable, "-c", "from manyveils.cli import main; main()", "serve", "--port", "0", *words]
    temporary = folder / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"TMPDIR": str(temporary)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    for line in process.stdout:
        lines.append(line)
        if "Serving" in line:
            return process, "".join(lines)
    raise AssertionError("".join(lines) + process.stderr.read())


def ended(process, number=signal.SIGINT):
    """Stop a server politely."""
    process.send_signal(number)
    try:
        out, error = process.communicate(timeout=40)
    finally:
        process.kill()
    assert "Traceback" not in error
    return process.returncode, out + error


def test_the_first_owner(tmp_path):
    """A command makes the first owner, with a password from stdin; options may stand before its name too."""
    folder = tmp_path / "server"
    made = run("add-owner", "maria", "--password-stdin", "--folder", folder, said=PASSWORD + "\n")
    assert made.exit_code == 0
    assert "maria is an owner now." in made.stdout
    assert "A server key was made" in made.stdout
    assert PASSWORD not in made.output
    again = run("--folder", folder, "add-owner", "paula", "--password-stdin", "--json", said=PASSWORD)
    assert json.loads(again.stdout) == {"owner": "paula", "told": None}
    assert log_in(open_keeper(Settings(folder)), "maria", PASSWORD, "here").role == "owner"
    assert stat.S_IMODE((folder / "server.key").stat().st_mode) == 0o600


@pytest.mark.parametrize(("name", "password"), [("maria", "short"), ("Maria!", PASSWORD), ("maria", "")])
def test_unfit_owners(tmp_path, name, password):
    """A short password and a strange name are refused with status 2."""
    refused = run("add-owner", name, "--password-stdin", "--folder", tmp_path / "server", said=password)
    assert refused.exit_code == 2
    assert refused.stdout == ""


def test_passwords_are_asked_on_a_terminal(tmp_path):
    """Without a terminal a password is not asked for; the message says what to give instead."""
    refused = run("add-owner", "maria", "--folder", tmp_path / "server")
    assert refused.exit_code == 2
    assert "--password-stdin" in refused.stderr


def test_verify_log(tmp_path):
    """A whole log is status 0 with its last hash; a changed one is status 1 with the number; no folder is status 2."""
    folder = tmp_path / "server"
    run("add-owner", "maria", "--password-stdin", "--folder", folder, said=PASSWORD)
    whole = run("verify-log", "--folder", folder)
    assert whole.exit_code == 0
    assert re.search(r"whole: 1 entries, .* [0-9a-f]{64}", whole.stdout)
    with open_keeper(Settings(folder)).database.writing() as connection:
        connection.execute(text("DROP TRIGGER log_keeps_UPDATE"))
        connection.execute(text("UPDATE log SET subject = 'mallory'"))
    broken = run("verify-log", "--folder", folder)
    assert broken.exit_code == 1
    assert "BROKEN at entry 1" in broken.stdout
    assert json.loads(run("verify-log", "--folder", folder, "--json").stdout)["broken"] == 1
    assert run("verify-log", "--folder", tmp_path / "nowhere").exit_code == 2
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("kind", ["folder", "file", "postgresql"])
def test_verify_log_where_there_is_none(tmp_path, kind, request):
    """A folder or a database without a server has no log to be verified, and nothing is made there."""
    words = ["--folder", tmp_path]
    if kind == "file":
        (tmp_path / "server.sqlite").touch()
    elif kind == "postgresql":
        words += ["--database", request.getfixturevalue("postgresql")]
    refused = run("verify-log", *words)
    assert refused.exit_code == 2
    assert "holds no server" in refused.stderr
    assert not (tmp_path / "server.key").exists()
    if kind == "folder":
        assert list(tmp_path.iterdir()) == []


def test_help_and_examples():
    """Each command explains itself with an example."""
    for words in ([], ["add-owner"], ["verify-log"]):
        said = run(*words, "--help")
        assert said.exit_code == 0
        assert "Example: manyveils serve" in said.stdout
        assert "--json" in said.stdout


def test_a_port_that_is_taken(tmp_path):
    """A port that is taken, or a host that is not here, is refused with status 2 before anything is made."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        refused = run("--folder", tmp_path / "server", "--port", taken.getsockname()[1])
    assert refused.exit_code == 2
    assert "cannot be listened on" in refused.stderr
    assert not (tmp_path / "server").exists()


def test_the_demo(tmp_path):
    """The demo serves a release with three accounts, which the client reads from; stopping it leaves nothing."""
    process, said = started(tmp_path, "--demo")
    try:
        url = re.search(r"Serving (\S+);", said)[1]
        passwords = dict(re.findall(r"^  (owner|researcher|auditor) +(\S+)$", said, re.MULTILINE))
        assert len(set(passwords.values())) == 3
        with mv.Client(url, name="researcher", password=passwords["researcher"]) as client:
            (release,) = client.releases()
            folder = client.download(release["id"], tmp_path / "fetched")
            frame = mv.Release.load(folder).frames["main"]
            code = frame["insurance"].drop_nulls()[0]
            assert client.interpret(release["id"], "insurance", code).published == code
            assert client.grants()[0]["used_today"] >= 1
            with pytest.raises(mv.ManyveilsError, match="owner"):
                client.list(release["id"])
    finally:
        status, rest = ended(process)
    assert status == 0, rest
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize(("host", "warns"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_what_programs_are_told(tmp_path, capsys, host, warns):
    """Programs are told the address and, if other machines can reach it, that it speaks plain HTTP."""
    from manyveils.cli.door import Door
    from manyveils.cli.serve import _announce

    keeper = open_keeper(Settings(tmp_path / "server", host=host))
    _announce(keeper, None, "http://127.0.0.1:8000", Door(as_json=True, progress=print))
    keeper.close()
    said = json.loads(capsys.readouterr().out)
    assert said["url"] == "http://127.0.0.1:8000"
    assert bool(said["warning"]) == warns


def test_serving(tmp_path):
    """A plain server says that there is no owner yet, keeps its folder, and ends politely; elsewhere than here it warns."""
    process, said = started(tmp_path, "--folder", "kept", "--host", "0.0.0.0")
    status, _ = ended(process, signal.SIGTERM)
    assert status == 0
    assert "There is no owner yet" in said
    assert "over TLS only" in said
    assert "Serving http://127.0.0.1:" in said
    assert (tmp_path / "kept" / "server.sqlite").is_file()
