"""A PostgreSQL server that is started for tests and goes with them."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text


@contextmanager
def own_postgresql() -> Iterator[str]:
    """The address of a PostgreSQL of our own, on a socket in a temporary folder; skipped where there is none."""
    place = _binaries()
    if place is None:
        pytest.skip("PostgreSQL (initdb, pg_ctl, postgres) is not installed")
    folder = Path(tempfile.mkdtemp(prefix="manyveils-pg-", dir="/tmp"))
    as_other = _as_other(folder)
    environment = os.environ | {"LC_ALL": "C", "TZ": "UTC"}

    def run(*words: object) -> None:
        arguments = [*as_other, *(str(word) for word in words)]
        done = subprocess.run(
            arguments, capture_output=True, text=True, env=environment, cwd=folder, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            pytest.skip(f"PostgreSQL does not start: {done.stderr.strip()[-200:]}")

    options = f"-k {folder} -c listen_addresses='' -c fsync=off -c full_page_writes=off -c max_connections=90"
    run(place / "initdb", "-D", folder / "data", "-U", "manyveils", "-A", "trust", "-E", "UTF8", "--no-sync")
    run(place / "pg_ctl", "-D", folder / "data", "-w", "-l", folder / "server.log", "-o", options, "start")
    try:
        yield f"postgresql+psycopg://manyveils@/postgres?host={folder}"
    finally:
        stop = [*as_other, str(place / "pg_ctl"), "-D", str(folder / "data"), "-m", "immediate", "stop"]
        subprocess.run(stop, capture_output=True, cwd=folder)
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path | None:
    names = ("initdb", "pg_ctl", "postgres")
    found = shutil.which("initdb")
    candidates = [Path(found).parent] if found else []
    candidates += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((place for place in candidates if all((place / name).exists() for name in names)), None)


def _as_other(folder: Path) -> list[str]:
    """The words before a command that run it as somebody else, because PostgreSQL refuses to be root."""
    if os.getuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("PostgreSQL refuses to run as root, and there is no setpriv")
    shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--clear-groups"]


def emptied(address: str) -> str:
    """The same address, with nothing left in the database; the same one for every test, which is quicker."""
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return address
