"""Where the log ends is told elsewhere, signed, and a log that was cut is not the one that was told of."""

import json
import socketserver
import threading
import time
from dataclasses import asdict, replace
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from sqlalchemy import text

from manyveils.errors import InputError
from manyveils.server import export
from manyveils.server.app import close_app, create_app
from manyveils.server.export import compare_lines, signed
from manyveils.server.heads import Mark

PASSWORD = "a long enough password"


@pytest.fixture(params=["syslog", "http"])
def elsewhere(request):
    """A syslog and a web address on this machine, and what came to them."""
    came = []

    class Datagram(socketserver.BaseRequestHandler):
        def handle(self):
            came.append(self.request[0].decode())

    class Web(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            return

    kind, handler = (socketserver.UDPServer, Datagram) if request.param == "syslog" else (HTTPServer, Web)
    with kind(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"{request.param}://127.0.0.1:{server.server_address[1]}", came
        server.shutdown()


def test_every_end_is_told(settings, house_of, elsewhere, monkeypatch):
    """Soon after an entry was written its number and hash are told, with a signature that anybody can check."""
    monkeypatch.setattr(export, "BETWEEN", 0.01)
    address, came = elsewhere
    app = create_app(replace(settings, export=address))
    house = house_of(app)
    end = time.monotonic() + 10
    while (not came or f'"number": {house.log()[-1].number},' not in came[-1]) and time.monotonic() < end:
        time.sleep(0.02)
    line = json.loads(came[-1][came[-1].index("{") :].rstrip("\x00"))
    last = house.log()[-1]
    assert (line["number"], line["hash"]) == (last.number, last.hash)
    key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(house.keeper.secret.public))
    key.verify(
        bytes.fromhex(line["signature"]), f"manyveils log {last.number} {last.hash} {line['time']}".encode()
    )
    assert compare_lines(house.keeper, [f"Nov 19 host {told}".rstrip("\x00") for told in came]) == ""
    close_app(app)


def test_a_place_that_is_away(settings, house_of, monkeypatch):
    """Where nobody listens, the server goes on and says so."""
    app = create_app(replace(settings, export="http://127.0.0.1:9"))
    house_of(app)
    close_app(app)


def test_a_log_that_was_cut(house):
    """Lines kept elsewhere show that entries are gone, whatever was done to the database and to the server's folder."""
    last = house.log()[-1]
    lines = ["another line", "{}", json.dumps(asdict(signed(house.keeper, Mark(last.number, last.hash))))]
    assert compare_lines(house.keeper, lines) == ""
    with house.keeper.database.writing() as connection:
        for trigger in ("UPDATE", "DELETE", "INSERT"):
            connection.execute(text(f"DROP TRIGGER log_keeps_{trigger}"))
        connection.execute(text(f"DELETE FROM log WHERE number = {last.number}"))
    assert "told elsewhere" in compare_lines(house.keeper, lines)
    forged = json.loads(lines[-1]) | {"number": 1, "hash": house.log()[0].hash}
    assert "not signed" in compare_lines(house.keeper, [json.dumps(forged)])


@pytest.mark.parametrize(
    "address", ["ftp://x", "http://log.example.org/x", "nonsense", "syslog://no.such.host.invalid"]
)
def test_unfit_places(settings, address):
    """Where the log ends is told over TLS or to syslog, and nowhere else."""
    with pytest.raises(InputError):
        create_app(replace(settings, export=address))
