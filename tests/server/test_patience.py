"""Whoever is slow, holds the database, turns the clock or shares an address keeps nobody else from being served."""

import socket
import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import httpx
import pytest

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, headers, listening, logins, throttle
from manyveils.server.app import create_app
from manyveils.server.keeper import open_keeper
from manyveils.server.passwords import refuse_weak
from manyveils.server.refusals import TooMany, Unauthenticated

PASSWORD = "a long enough password"


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET / HTT",
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"POST /api/v1/token HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{",
        b"GET /static/veil.svg HTTP/1.1\r\nHost: localhost\r\n\r\nGET /",
    ],
)
def test_requests_that_are_not_sent_to_their_end(door, monkeypatch, begun):
    """A connection on which a request stops half-way is closed, whichever half it is."""
    for module in (headers, listening):
        monkeypatch.setattr(module, "PATIENCE", 0.3)
    address = urlsplit(door.url)
    with closing(socket.create_connection((address.hostname, address.port), timeout=8)) as connection:
        connection.sendall(begun)
        time.sleep(0.1)
        began = time.monotonic()
        while connection.recv(65536):
            continue
        assert time.monotonic() - began < 6


def test_a_held_database(door):
    """While something else holds the SQLite file, and thirty want to log in, pages are served at once."""
    login = {"name": "owner", "password": PASSWORD}
    session = logins.open_session(door.house.keeper, "owner", PASSWORD, "here")
    said = []

    def ask():
        said.append(httpx.post(f"{door.url}/api/v1/token", json=login, timeout=60).status_code)

    with closing(sqlite3.connect(door.house.keeper.settings.sqlite, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        threads = [threading.Thread(target=ask) for _ in range(30)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        for cookies in ({}, {logins.PLAIN: session.cookie}):
            began = time.monotonic()
            assert httpx.get(door.url, cookies=cookies, timeout=30).status_code == 200
            assert time.monotonic() - began < 3
        other.execute("ROLLBACK")
    for thread in threads:
        thread.join(timeout=60)
    assert set(said) <= {201, 429, 503}


@pytest.mark.parametrize("by", ["this server", "another"])
def test_a_session_is_used_while_the_database_is_held(either, clock, by):
    """To note that a session is in use never waits, whoever writes meanwhile."""
    object.__setattr__(either.keeper, "now", clock)
    session = logins.open_session(either.keeper, "owner", PASSWORD, "here")
    clock.time += 300
    holder = either.keeper if by == "this server" else open_keeper(either.keeper.settings)
    with holder.database.writing():
        began = time.monotonic()
        assert logins.find_session(either.keeper, session.cookie).person.name == "owner"
        assert time.monotonic() - began < 3
    assert logins.find_session(either.keeper, session.cookie).person.name == "owner"


def guess(house, name, address, password="wrong"):
    """One try to log in; gives its refusal, or None."""
    try:
        accounts.log_in(house.keeper, name, password, address)
    except (Unauthenticated, TooMany) as refusal:
        return refusal
    return None


def test_a_clock_that_was_wrong(house, clock):
    """Tries that were counted while the clock stood in the future lock nobody out once it is right again."""
    object.__setattr__(house.keeper, "now", clock)
    clock.time += 30 * 86400
    for _ in range(9):
        guess(house, "owner", "here")
    clock.time -= 30 * 86400
    assert guess(house, "owner", "here", PASSWORD) is None


def test_names_are_kept_under_a_key(house):
    """What was typed as a name is kept as a digest that nobody can check by guessing."""
    import hashlib

    guess(house, "owner", "here")
    with house.keeper.database.reading() as connection:
        kept = [row.account for row in connection.execute(throttle.attempts.select())]
    assert hashlib.sha256(b"owner").hexdigest() not in kept
    assert house.keeper.secret.seal("account", "owner") in kept


def test_others_behind_an_address(house, clock):
    """Guesses from an address do not delay an account that has logged in from there; they delay others, and guesses at it."""
    object.__setattr__(house.keeper, "now", clock)
    assert guess(house, "owner", "clinic", PASSWORD) is None
    for n in range(throttle.FREE_PER_ADDRESS):
        guess(house, f"name{n}", "clinic")
    assert isinstance(guess(house, "name99", "clinic"), TooMany)
    assert guess(house, "owner", "clinic", PASSWORD) is None
    said = [type(guess(house, "owner", "clinic")) for _ in range(6)]
    assert said == [Unauthenticated] * 5 + [TooMany]
    clock.time += throttle.KNOWN + 1
    for n in range(throttle.FREE_PER_ADDRESS):
        guess(house, f"name{n}", "clinic")
    assert isinstance(guess(house, "owner", "clinic", PASSWORD), TooMany)


@pytest.mark.parametrize(
    "password",
    ["aaaaaaaaaaaa", "123456789012", "passwordpassword", "qwertyuiop12", "maria.curie1934", "manyveilsmaria"],
)
def test_passwords_that_are_easy_to_guess(password):
    """A password that is long and easy to guess is refused, without repeating it."""
    with pytest.raises(InputError) as refusal:
        refuse_weak("maria.curie", password)
    assert password not in str(refusal.value)


def test_uploads_come_in_beside_the_data(settings, house_of, serve, monkeypatch):
    """What is uploaded is never in the system's folder for temporary files."""
    import tempfile

    from starlette import formparsers

    app = create_app(settings)
    house_of(app)
    places = []
    real = formparsers.SpooledTemporaryFile

    def watched(*arguments, **options):
        places.append(options.get("dir") or tempfile.gettempdir())
        return real(*arguments, **options)

    monkeypatch.setattr(formparsers, "SpooledTemporaryFile", watched)
    with listening.incoming(settings), serve(app) as url:
        login = {"name": "owner", "password": PASSWORD}
        token = httpx.post(f"{url}/api/v1/token", json=login).json()["token"]
        files = {"policy": ("p.toml", b"x"), "data": ("d.csv", b"x" * 2_000_000)}
        head = {"Authorization": f"Bearer {token}"}
        httpx.post(f"{url}/api/v1/jobs", data={"title": "x"}, files=files, headers=head)
    assert set(places) == {str(settings.temporary)}
    assert list(settings.temporary.iterdir()) == []


def test_pages_of_releases(house, hand_made):
    """The catalogue comes in pages, newest first."""
    numbers = [house.release(hand_made) for _ in range(5)]
    pages = [catalogue.items(house.keeper, None, skip=skip, most=2) for skip in (0, 2, 4, 6)]
    assert [len(page) for page in pages] == [2, 2, 1, 0]
    assert {item.id for page in pages for item in page} == set(numbers)


def test_only_names_of_this_server(settings, serve):
    """With names given, a request for another host is refused; for this machine and for the names it is not."""
    app = create_app(replace(settings, names=frozenset({"veils.example.org"})))
    with serve(app) as url:
        said = {
            host: httpx.get(url, headers={"Host": host}).status_code
            for host in ("veils.example.org", "veils.example.org:443", "127.0.0.1", "evil.example.org", "")
        }
    assert said == {
        "veils.example.org": 200,
        "veils.example.org:443": 200,
        "127.0.0.1": 200,
        "evil.example.org": 421,
        "": 421,
    }
