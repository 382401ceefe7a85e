"""The way of docs/server.md from a new folder to a copy that was restored, by the commands that stand there."""

import json
import os
import re
from base64 import b64encode
from pathlib import Path
from secrets import token_bytes

import httpx
import pytest
from typer.testing import CliRunner

from manyveils.cli.app import app
from manyveils.server import accounts
from manyveils.server.accounts import Proof, add_user, log_in
from manyveils.server.export import signed
from manyveils.server.heads import Mark
from manyveils.server.keeper import open_keeper
from manyveils.server.settings import Settings

PASSWORD = "a long enough password"
DOCS = Path(__file__).parents[2] / "docs" / "server.md"


@pytest.fixture
def key(tmp_path):
    """A server key in a file, as openssl makes it."""
    path = tmp_path / "server.key"
    path.write_text(b64encode(token_bytes(32)).decode() + "\n")
    path.chmod(0o600)
    return path


def run(*words, said=None, **environment):
    """Run a sub-command in this process."""
    words = ["serve", *(str(word) for word in words)]
    result = CliRunner().invoke(
        app, words, input=said, env={name: str(value) for name, value in environment.items()}
    )
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def test_from_nothing_to_a_copy(tmp_path, key):
    """An owner is made, a second one confirmed, the server copied, restored elsewhere, given another key and migrated."""
    where = {"MANYVEILS_FOLDER": tmp_path / "server", "MANYVEILS_SERVER_KEY_FILE": key}
    assert run("add-owner", "maria", "--password-stdin", said=PASSWORD, **where).exit_code == 0
    settings = Settings(tmp_path / "server", key_file=key)
    keeper = open_keeper(settings)
    owner = log_in(keeper, "maria", PASSWORD, "here")
    add_user(keeper, owner, "paula", PASSWORD, "owner", proof=Proof(PASSWORD, "here"))
    keeper.close()
    assert run("confirm-owner", "paula", **where).exit_code == 0
    copied = run("backup", tmp_path / "copy.tar.gz", "--json", **where)
    assert json.loads(copied.stdout)["entries"] == 4
    again = run("backup", tmp_path / "copy.tar.gz", **where)
    assert again.exit_code == 2
    new = {"MANYVEILS_FOLDER": tmp_path / "new", "MANYVEILS_SERVER_KEY_FILE": key}
    assert "whole" in run("restore", tmp_path / "copy.tar.gz", **new).stdout
    assert log_in(open_keeper(Settings(tmp_path / "new", key_file=key)), "paula", PASSWORD, "here")
    other = tmp_path / "other.key"
    assert run("rotate-key", "--new-key-file", other, **new).exit_code == 0
    assert run("verify-log", **new).exit_code == 2
    assert run("verify-log", "--key-file", other, **new).exit_code == 0
    assert "nothing to do" in run("migrate", "--key-file", other, **new).stdout


def test_lines_that_were_exported(tmp_path, key):
    """verify-log compares with lines that were exported, and tells the key for their signatures."""
    where = {"MANYVEILS_FOLDER": tmp_path / "server", "MANYVEILS_SERVER_KEY_FILE": key}
    run("add-owner", "maria", "--password-stdin", said=PASSWORD, **where)
    keeper = open_keeper(Settings(tmp_path / "server", key_file=key))
    heads = tmp_path / "heads.log"
    heads.write_text(f"host manyveils: {json.dumps(vars(signed(keeper, Mark(1, verdict_head(keeper)))))}\n")
    good = run("verify-log", "--heads", heads, "--json", **where)
    assert good.exit_code == 0
    assert json.loads(good.stdout)["public_key"] == keeper.secret.public
    heads.write_text(json.dumps(vars(signed(keeper, Mark(9, "0" * 64)))))
    bad = run("verify-log", "--heads", heads, **where)
    assert bad.exit_code == 1
    assert "told elsewhere" in bad.stdout


def verdict_head(keeper):
    """The hash of the last entry."""
    from manyveils.server.verifying import verify_log

    return verify_log(keeper).head


@pytest.mark.parametrize(
    "address",
    [
        "postgresql+psycopg://u:hidden@127.0.0.1:1/d",
        "postgresql+psycopg://127.0.0.1:1/d?user=u&password=hidden",
    ],
)
def test_passwords_do_not_stand_in_ps(tmp_path, address):
    """An address with a password is refused as an option, before or after the command, and taken from file or environment."""
    for words in (["--database", address, "verify-log"], ["verify-log", "--database", address]):
        refused = run(*words, "--folder", tmp_path)
        assert refused.exit_code == 2
        assert "everybody on this machine" in refused.stderr
        assert "hidden" not in refused.output
    file = tmp_path / "address"
    file.write_text(address)
    file.chmod(0o644)
    assert "chmod" in run("verify-log", "--database-file", file, "--folder", tmp_path).stderr
    file.chmod(0o600)
    for words, environment in (
        (["--database-file", file], {}),
        ([], {"MANYVEILS_DATABASE_FILE": file}),
        ([], {"MANYVEILS_DATABASE": address}),
    ):
        said = run("verify-log", *words, "--folder", tmp_path, **environment)
        assert "cannot be opened" in said.stderr
        assert "hidden" not in said.output


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--metrics-for", "nonsense"], "must be a network"),
        (["--oidc-issuer", "https://login.example.org"], "oidc-secret-file"),
        (["--export", "ftp://x"], "--export"),
    ],
)
def test_options_that_do_not_fit(tmp_path, words, what):
    """Options that cannot be used are refused with what would be right, and nothing is served."""
    refused = run(*words, "--folder", tmp_path / "server", "--port", "0")
    assert refused.exit_code == 2
    assert what in refused.stderr


def test_options_that_the_page_names():
    """Every option that the page names is one of the command's, and every option has its row."""
    said = CliRunner().invoke(app, ["serve", "--help"], env={"COLUMNS": "200"}).stdout
    has = set(re.findall(r"--[a-z-]+", said)) - {"--help", "--json", "--demo"}
    rows = re.findall(r"^\| (`--.*?) \|", DOCS.read_text(), re.MULTILINE)
    assert has == set(re.findall(r"--[a-z-]+", " ".join(rows)))


def test_served_as_the_unit_does(tmp_path, key):
    """Started as the unit starts it, the server answers for its name, writes JSON alone to stderr, and ends when told to."""
    import signal
    import subprocess
    import sys

    run(
        "add-owner",
        "maria",
        "--password-stdin",
        "--folder",
        tmp_path / "server",
        "--key-file",
        key,
        said=PASSWORD,
    )
    command = [
        sys.executable,
        "-c",
        "from manyveils.cli import main; main()",
        "serve",
        "--port",
        "0",
        "--behind-proxy",
    ]
    more = ["--name", "veils.example.org", "--log-requests", "--json"]
    environment = {"MANYVEILS_FOLDER": str(tmp_path / "server"), "MANYVEILS_SERVER_KEY_FILE": str(key)}
    with subprocess.Popen(
        [*command, *more],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        url = re.search(r'"url": "(.*?)"', "".join(iter(process.stdout.readline, "}\n")))[1]
        assert httpx.get(f"{url}/readyz").status_code == 200
        assert httpx.get(url, headers={"Host": "evil.example.org"}).status_code == 421
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=40)
    lines = [json.loads(line) for line in errors.splitlines()]
    assert [line["status"] for line in lines if line["event"] == "request"] == [200, 421]
    assert accounts.has_owner(open_keeper(Settings(tmp_path / "server", key_file=key)))
