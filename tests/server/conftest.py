"""A trusted server to try things on: over SQLite, over a PostgreSQL of its own, and through a real port."""
# ruff: noqa: E402

import shutil
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import Any

import pytest

for package in (
    "fastapi",
    "sqlalchemy",
    "uvicorn",
    "httpx",
    "pwdlib",
    "itsdangerous",
    "multipart",
    "cryptography",
):
    pytest.importorskip(package)

import httpx
import polars as pl

import manyveils as mv
from manyveils.keys import Grades, Key, Pseudonyms
from manyveils.server import accounts, catalogue, disclosure, grants, passwords
from manyveils.server.app import create_app
from manyveils.server.keeper import Keeper, open_keeper
from manyveils.server.listening import listen, server_of
from manyveils.server.refusals import SCOPES, Person
from manyveils.server.settings import Settings
from tests.kit.postgresql import emptied, own_postgresql

PASSWORD = "a long enough password"
# Every meaning in the key has this in it, so that a response that gives one away is found out.
MARK = "Qz9secret"
CODES = {f"CODE{n:03}": f"{MARK} insurance {n}" for n in range(300)}


@pytest.fixture(autouse=True, scope="session")
def _cheap_passwords() -> Iterator[None]:
    """Hash with little work, or the tests would do nothing else."""
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    cheap = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=1024, parallelism=1),))
    dear, passwords.hasher = passwords.hasher, lambda: cheap  # type: ignore[assignment]
    yield
    passwords.hasher = dear


@pytest.fixture(autouse=True, scope="session")
def _certificates_once() -> Iterator[None]:
    """Read the machine's certificates once; each client would otherwise, although the tests speak plain HTTP."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", cache(ssl.create_default_context))
        yield


def hand_made_key() -> Key:
    """A key with pseudonyms of one attribute and grades of another."""
    grades = Grades(((0.0, 50.0), (50.0, 100.0)), {"1.5": f"{MARK} 25"})
    return Key(
        {"insurance": Pseudonyms(CODES, {"GROUP1": (f"{MARK} group", (f"{MARK} a", f"{MARK} b"))})},
        {"income": grades},
    )


@pytest.fixture(scope="session")
def hand_made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release folder in which one attribute is published as codes."""
    frame = pl.DataFrame(
        {
            "age": [20 + n % 40 for n in range(60)],
            "insurance": [f"CODE{n % 12:03}" for n in range(60)],
            "income": [f"{1 + n % 2}.{n % 10}" for n in range(60)],
        }
    )
    policy = {
        "attributes": {
            "age": {"role": "quasi"},
            "insurance": {"role": "sensitive"},
            "income": {"role": "neutral"},
        },
        "guarantee": {"k": 2, "l": 2},
    }
    return mv.publish(frame, policy, seed=1).save(tmp_path_factory.mktemp("hand") / "release")


@dataclass
class Clock:
    """A clock that stands still until it is moved."""

    time: float = field(default_factory=time.time)

    def __call__(self) -> float:
        """The time it shows."""
        return self.time


@dataclass
class House:
    """A server with an owner, a researcher, an auditor, and ways to look at it."""

    keeper: Keeper
    people: dict[str, Person] = field(default_factory=dict)

    @property
    def owner(self) -> Person:
        """The owner."""
        return self.people["owner"]

    @property
    def researcher(self) -> Person:
        """The researcher."""
        return self.people["researcher"]

    @property
    def auditor(self) -> Person:
        """The auditor."""
        return self.people["auditor"]

    def move_in(self) -> "House":
        """Make one account of each role, named after it."""
        accounts.add_owner(self.keeper, "owner", PASSWORD)
        self.people["owner"] = accounts.log_in(self.keeper, "owner", PASSWORD, "test")
        for role in ("researcher", "auditor"):
            accounts.add_user(self.keeper, self.owner, role, PASSWORD, role)  # type: ignore[arg-type]
            self.people[role] = accounts.log_in(self.keeper, role, PASSWORD, "test")
        return self

    def release(self, folder: Path, *, listed: bool = True, key: Key | None = None) -> str:
        """Put a copy of a release folder into the catalogue."""
        number = token_hex(8)
        copy = self.keeper.settings.work / f"copy-{number}"
        shutil.copytree(folder, copy)
        arrival = catalogue.move_in(self.keeper, copy, number, title="A release", key=key or hand_made_key())
        with self.keeper.database.writing() as connection:
            catalogue.enter(self.keeper, connection, arrival, self.owner)
        if arrival["key"] is not None:
            disclosure.approve(self.keeper, self.owner, number, approved=100)
        if listed:
            catalogue.set_listed(self.keeper, self.owner, number, listed=True)
        return number

    def grant(self, release: str, limit: int = 100, seconds: float = 3600.0) -> grants.Grant:
        """Grant the researcher a release."""
        expires = self.keeper.now() + seconds
        return grants.give_grant(
            self.keeper, self.owner, "researcher", release, daily_limit=limit, expires=expires
        )

    def log(self) -> list[Any]:
        """All entries of the log."""
        from manyveils.server import chain

        return chain.entries(self.keeper, self.owner, most=100_000)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings for a server in a folder of its own."""
    return Settings(tmp_path / "server")


@pytest.fixture
def house(settings: Settings) -> Iterator[House]:
    """A server over SQLite with an account of each role."""
    keeper = open_keeper(settings)
    yield House(keeper).move_in()
    keeper.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """A server over SQLite, and then one over PostgreSQL."""
    url = None if request.param == "sqlite" else request.getfixturevalue("postgresql")
    keeper = open_keeper(Settings(tmp_path / "server", url))
    yield House(keeper).move_in()
    keeper.close()


@contextmanager
def running(app: Any) -> Iterator[str]:
    """Serve an application on a free port, as in earnest."""
    with listen(Settings(Path(), port=0)) as (sockets, url):
        server = server_of(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": sockets}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield url
        finally:
            server.should_exit = True
            thread.join(timeout=20)


@dataclass
class Door:
    """A running server, and requests to it as one of its people."""

    house: House
    url: str
    app: Any

    def as_(self, name: str | None) -> httpx.Client:
        """A client with a token of this account, or none."""
        headers = {}
        if name is not None:
            login = {"name": name, "password": PASSWORD, "scopes": list(SCOPES)}
            token = httpx.post(f"{self.url}/api/v1/token", json=login).json()["token"]
            headers["Authorization"] = f"Bearer {token}"
        return httpx.Client(base_url=f"{self.url}/api/v1", timeout=30, headers=headers)


@pytest.fixture
def door(settings: Settings) -> Iterator[Door]:
    """A server over SQLite behind a port."""
    app = create_app(settings)
    house = House(app.state.keeper).move_in()
    with running(app) as url:
        yield Door(house, url, app)


@pytest.fixture
def house_of() -> Any:
    """Make an account of each role on the server of an application."""
    return lambda app: House(app.state.keeper).move_in()


@pytest.fixture
def serve() -> Any:
    """Serve any application on a free port."""
    return running


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture(scope="session")
def _cluster() -> Iterator[str]:
    """A PostgreSQL of our own; skipped where there is none."""
    with own_postgresql() as address:
        yield address


@pytest.fixture
def postgresql(_cluster: str) -> str:
    """The address of an empty PostgreSQL database; the same one for every test, which is quicker."""
    return emptied(_cluster)
