"""Whoever runs the server sees that it lives, whether it can serve and how it does, and nothing of the data."""

import io
import json
import logging
import time

import httpx
import pytest

from manyveils.server import database, observing
from manyveils.server.refusals import Unavailable

MARK = "Qz9secret"


def away(monkeypatch, keeper):
    """Let the database be away."""

    def connect(*arguments, **options):
        raise database.OperationalError("", {}, Exception("hidden address"))

    monkeypatch.setattr(keeper.database.engine, "connect", connect)


def test_alive_and_ready(door):
    """A server that lives and can serve says so to anybody."""
    assert httpx.get(f"{door.url}/healthz").json() == {"status": "alive"}
    ready = httpx.get(f"{door.url}/readyz")
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


def test_while_the_database_is_away(door, monkeypatch):
    """While the database is away the server lives, is not ready, and answers 503 with when to come back; then it goes on."""
    with door.as_("owner") as client, monkeypatch.context() as patched:
        away(patched, door.house.keeper)
        assert httpx.get(f"{door.url}/healthz").status_code == 200
        assert httpx.get(f"{door.url}/readyz").status_code == 503
        for response in (
            client.get("/releases"),
            client.get("/me"),
            client.post("/token", json={"name": "owner", "password": "x"}),
            httpx.get(f"{door.url}/"),
        ):
            assert response.status_code == 503
            assert response.headers["retry-after"] == "5"
            assert "hidden" not in response.text
        patched.undo()
        assert client.get("/releases").status_code == 200
        assert httpx.get(f"{door.url}/readyz").status_code == 200


def test_an_address_without_a_database(tmp_path):
    """What cannot be reached is refused as away."""
    made = database.Database(database.sqlite_url(tmp_path / "one.sqlite"))
    made.engine = database._engine(database.sqlite_url(tmp_path / "nowhere" / "one.sqlite"))
    with pytest.raises(Unavailable), made.reading() as connection:
        connection.exec_driver_sql("SELECT 1")


def test_a_folder_that_cannot_be_written(door, monkeypatch):
    """A server whose folder cannot be written is not ready."""
    monkeypatch.setattr(observing, "_is_writable", lambda _: False)
    assert httpx.get(f"{door.url}/readyz").json()["faults"] == {"folder": "cannot be written"}


def test_numbers(door, hand_made, monkeypatch):
    """Requests are counted by route and status, without names, numbers of releases or paths that were typed."""
    release = door.house.release(hand_made)
    with door.as_("owner") as client:
        client.get(f"/releases/{release}")
        client.get("/releases/nothing")
        client.get(f"/{MARK}")
    text = httpx.get(f"{door.url}/metrics").text
    assert (
        'manyveils_requests_total{method="GET",route="/api/v1/releases/{release}",status="200"} 1.0' in text
    )
    assert 'route="other",status="404"' in text
    assert "manyveils_log_entries " in text
    assert release not in text
    assert MARK not in text
    monkeypatch.setattr(observing, "is_loopback", lambda _: False)
    assert httpx.get(f"{door.url}/metrics").status_code == 404
    object.__setattr__(door.house.keeper.settings, "metrics_for", ("127.0.0.0/8",))
    assert httpx.get(f"{door.url}/metrics").status_code == 200


@pytest.fixture
def lines(monkeypatch):
    """What is logged as JSON while a test runs."""
    monkeypatch.setattr(logging, "raiseExceptions", True)
    before, stream = (logging.root.handlers[:], logging.root.level), io.StringIO()
    observing.write_json_logs(requests=True, stream=stream)

    def read():
        # The line of a request is written after its answer.
        time.sleep(0.3)
        return [json.loads(line) for line in stream.getvalue().splitlines()]

    yield read
    logging.root.handlers[:], level = before
    logging.root.setLevel(level)


def test_a_line_per_request(door, hand_made, lines):
    """Every request is a line of JSON with its number, which the response has too; no cell and no question is in it."""
    release = door.house.release(hand_made)
    with door.as_("owner") as client:
        asked = {"attribute": "insurance", "published": "CODE001"}
        response = client.post(f"/releases/{release}/interpret/value", json=asked)
    assert MARK in response.text
    written = lines()
    (line,) = [line for line in written if line.get("request") == response.headers["x-request-id"]]
    assert (line["status"], line["account"], line["event"]) == (200, "owner", "request")
    assert len(line["token"]) == 16
    assert not {"CODE001", MARK, release} & set(str(written).split("'"))
    assert MARK not in str(written)


def test_numbers_of_requests_come_from_the_proxy_alone(door, lines):
    """Only behind a proxy is the number that a request brings taken."""
    head = {"X-Request-ID": "given-1"}
    assert httpx.get(door.url, headers=head).headers["x-request-id"] != "given-1"
    object.__setattr__(door.house.keeper.settings, "behind_proxy", True)
    assert httpx.get(door.url, headers=head).headers["x-request-id"] == "given-1"
    assert httpx.get(door.url, headers={"X-Request-ID": "a b"}).headers["x-request-id"] != "a b"


def test_a_fault_is_a_line_without_its_words(door, monkeypatch, lines):
    """An error is logged with its kind, its place and its request, not with what it says."""

    def fault(*arguments, **options):
        raise RuntimeError(MARK)

    monkeypatch.setattr("manyveils.server.catalogue.items", fault)
    assert httpx.get(f"{door.url}/api/v1/releases").status_code == 500
    logging.getLogger("another").error("words", exc_info=RuntimeError(MARK))
    written = lines()
    assert any("RuntimeError at" in line["event"] and "request" in line for line in written)
    assert any(line.get("error", "").startswith("RuntimeError") for line in written)
    assert MARK not in str(written)
