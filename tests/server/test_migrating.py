"""A server of an older version is refused until it is migrated, whole or not at all, and then knows all it knew."""

import os

import pytest

from manyveils.errors import InputError
from manyveils.server import accounts, disclosure, grants
from manyveils.server.keeper import open_keeper
from manyveils.server.migrating import migrate
from manyveils.server.settings import Settings
from tests.kit.postgresql import emptied
from tests.kit.servers import ask, killed, killed_at_random, server_of_version_2, settled

PASSWORD = "a long enough password"
MARK = "Qz9secret"
OLD = "0123456789abcdef"


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request, tmp_path):
    """A server of version 2, with its key."""
    url = request.getfixturevalue("postgresql") if request.param == "postgresql" else None
    return server_of_version_2(tmp_path / "old", url)


def used_as_before(settings):
    """Whether a migrated server knows everything it knew."""
    keeper = open_keeper(settings)
    assert settled(keeper)
    researcher = accounts.log_in(keeper, "researcher", PASSWORD, "here")
    owner = accounts.log_in(keeper, "owner", PASSWORD, "here")
    assert ask(keeper, researcher, OLD) == "insurance 1"
    assert grants.all_grants(keeper, researcher)[0].used_in_all == 5
    (insurance, income) = disclosure.disclosure(keeper, owner, OLD).attributes
    assert (insurance.told, income.told) == (2, 1)
    accounts.add_user(keeper, owner, "another", PASSWORD, "auditor")
    assert "migrate" in [entry.action for entry in accounts_log(keeper, owner)]
    assert settled(keeper)
    keeper.close()
    return True


def accounts_log(keeper, owner):
    """All entries."""
    from manyveils.server.chain import entries

    return entries(keeper, owner, most=1000)


def test_migrating(old):
    """A server of version 2 is refused until it is migrated, and then knows everything it knew; again changes nothing."""
    with pytest.raises(InputError, match="migrate"):
        open_keeper(old)
    assert migrate(old) == "2"
    assert used_as_before(old)
    assert migrate(old) == "3"


@pytest.mark.parametrize("place", ["append", "reseal_head", "_told"])
def test_killed_while_migrating(old, monkeypatch, place):
    """Killed while it migrates, a server is what it was, and is migrated the next time."""
    killed(monkeypatch, f"manyveils.server.migrating.{place}", lambda: migrate(old))
    with pytest.raises(InputError, match="migrate"):
        open_keeper(old)
    assert migrate(old) == "2"
    assert used_as_before(old)


TIMES = 40 if os.environ.get("MANYVEILS_THOROUGH") else 4


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_killed_at_any_moment(request, tmp_path, kind):
    """Killed at random moments while it migrates, a server is of the old version or the new one, and knows everything."""
    made = []

    def call():
        url = emptied(request.getfixturevalue("postgresql")) if kind == "postgresql" else None
        made.append(server_of_version_2(tmp_path / f"old{len(made)}", url))
        return lambda: migrate(made[-1])

    def check():
        assert migrate(made[-1]) in ("2", "3")
        assert used_as_before(made[-1])

    killed_at_random(29, TIMES, call, check)


def test_a_new_server_is_what_a_migrated_one_is(old, tmp_path, request):
    """Tables, columns and what may be empty are the same in a new database and in one that was migrated."""
    from sqlalchemy import inspect

    migrate(old)
    migrated = open_keeper(old).database.engine

    def drawn(engine):
        inspector = inspect(engine)
        return {
            (table, column["name"], column["nullable"], str(column["type"]))
            for table in inspector.get_table_names()
            if table != "alembic_version"
            for column in inspector.get_columns(table)
        }

    before = drawn(migrated)
    if old.database:
        with migrated.begin() as connection:
            connection.exec_driver_sql("DROP SCHEMA public CASCADE")
            connection.exec_driver_sql("CREATE SCHEMA public")
    fresh = open_keeper(Settings(tmp_path / "fresh", old.database)).database.engine
    assert before == drawn(fresh)
