"""Who reaches a studio, and what its pages fetch: this machine's browser with the token, and nothing from elsewhere."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from typer.testing import CliRunner

from manyveils.cli.app import app

pytest.importorskip("nicegui")

from tests.studio.conftest import studio

PATHS = ("/", "/people", "/promises", "/ways", "/release")
# Namespaces and licences are names, which nobody fetches.
NAMES = ("http://www.w3.org/", "https://www.w3.org/")


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A studio over a small table, its address and the folder."""
    folder = tmp_path_factory.mktemp("studio")
    rows = [f"person{number},{20 + number % 7},town{number % 3},ill{number % 4}" for number in range(40)]
    (folder / "people.csv").write_text("\n".join(["name,age,city,illness", *rows]) + "\n")
    with studio(folder / "people.csv") as (process, address):
        yield process, address, folder


@pytest.fixture
def client(running):
    """A browser's requests to it, which follow no redirects."""
    parts = urlsplit(running[1])
    with httpx.Client(base_url=f"http://{parts.netloc}") as made:
        yield made


@pytest.fixture
def admitted(client, running):
    """The same with the cookie that the address gives."""
    assert client.get(running[1]).status_code == 303
    return client


def test_the_address_admits_and_leads_away_from_the_token(client, running):
    """The token of the address becomes a cookie that no script reads, and is not in the address that follows."""
    response = client.get(running[1])
    assert response.headers["location"] == "/"
    cookie = response.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert client.get("/").status_code == 200


@pytest.mark.parametrize(
    "path", [*PATHS, "/report", "/_nicegui/x", "/?token=wrong", "/?token=", "/people?token="]
)
def test_without_the_token_nothing_is_shown(client, path):
    """Who has no token, or a wrong one, gets no page and no part of one, and is told what to do."""
    response = client.get(path)
    assert response.status_code == 403
    assert "whole address" in response.text


def test_a_wrong_cookie_is_refused(client, running):
    """A cookie with another token, or one that cannot be read, admits nobody."""
    name = f"manyveils-studio-{urlsplit(running[1]).port}"
    for value in ("wrong", "é", ""):
        response = client.get("/", headers={"cookie": f"{name}={value}".encode()})
        assert response.status_code == 403


@pytest.mark.parametrize("host", ["example.org", "127.0.0.1", "127.0.0.1:1", "0.0.0.0", ""])
def test_another_host_is_refused(admitted, host):
    """A page of elsewhere whose name was made to lead here is refused, token or not."""
    response = admitted.get("/", headers={"host": host})
    assert response.status_code in (400, 403)
    assert admitted.get("/").status_code == 200


def test_a_page_of_elsewhere_is_refused(admitted):
    """A request that another page sends is refused, though the browser may add the cookie."""
    assert admitted.get("/", headers={"origin": "http://example.org"}).status_code == 403


@pytest.mark.parametrize(("origin", "with_cookie"), [(None, False), ("http://example.org", True)])
def test_the_socket_is_guarded_too(running, admitted, origin, with_cookie):
    """What keeps a page alive opens for nobody else."""
    parts = urlsplit(running[1])
    cookies = "; ".join(f"{name}={value}" for name, value in admitted.cookies.items())
    lines = [
        "GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1",
        f"Host: {parts.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *([f"Origin: {origin}"] if origin else []),
        *([f"Cookie: {cookies}"] if with_cookie else []),
    ]
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as line:
        line.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b" 403 " in line.recv(200).splitlines()[0]


@pytest.mark.skipif(not Path("/proc/self/net/tcp").exists(), reason="only Linux tells who listens where")
def test_other_machines_do_not_reach_it(running):
    """It listens on the loopback address alone."""
    process, address, _ = running
    port = urlsplit(address).port
    with Path(f"/proc/{process.pid}/net/tcp").open() as table:
        local = [row.split()[1] for row in list(table)[1:] if row.split()[3] == "0A"]
    assert [where for where in local if where.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


@pytest.mark.parametrize("path", PATHS)
def test_pages_fetch_nothing_from_elsewhere(admitted, path):
    """No page names another address to load from, and each forbids the browser to."""
    response = admitted.get(path)
    assert response.status_code == 200
    loaded = re.findall(r"""(?:src|href|import|url)\s*[=(:]?\s*["'(]+(https?://[^"')]+)""", response.text)
    assert [address for address in loaded if not address.startswith(NAMES)] == []
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy
    assert response.headers["cache-control"] == "no-store"


def test_nothing_is_written_before_it_is_asked_for(running, admitted):
    """Looking leaves nothing beside the data."""
    admitted.get("/")
    assert [path.name for path in running[2].iterdir()] == ["people.csv"]


@pytest.mark.parametrize(
    ("words", "told"),
    [(["absent.csv"], "absent.csv"), (["absent.toml"], "no such policy"), (["policy.json"], "TOML")],
)
def test_what_cannot_be_opened_is_refused(tmp_path, words, told):
    """A file that is not there is said in words, with exit status 2."""
    command = ["studio", "--no-browser", "--json", *(str(tmp_path / word) for word in words)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert told in " ".join(map(str, json.loads(done.stdout)["problems"]))


def test_a_taken_port_is_refused(tmp_path):
    """A port that somebody else has is named, with what to do."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = CliRunner().invoke(app, ["studio", "--no-browser", "--port", str(port)])
    assert done.exit_code == 2
    assert "Choose another --port" in done.output


def test_the_interpreter_does_not_load_pages_to_start():
    """The logic of the studio loads no front end."""
    code = "import manyveils.studio.workbench, manyveils.studio.guard, sys; print('nicegui' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
