"""A server is copied, restored, migrated and given another key, whole or not at all, also when it is killed meanwhile."""

import shutil
import subprocess
import sys
import tarfile
import textwrap
from base64 import b64encode
from pathlib import Path
from secrets import token_bytes

import pytest
from sqlalchemy import create_engine, text

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, disclosure, grants, logins, retention, second, tokens
from manyveils.server.app import create_app
from manyveils.server.backup import back_up, restore
from manyveils.server.database import sqlite_url
from manyveils.server.interpretation import read_value
from manyveils.server.keeper import open_keeper
from manyveils.server.migrating import migrate
from manyveils.server.refusals import Conflict, Forbidden, Missing
from manyveils.server.settings import Settings
from manyveils.server.upkeep import rotate_key
from manyveils.server.verifying import check_at_start, verify_log

PASSWORD = "a long enough password"
MARK = "Qz9secret"
VERSIONS = Path(__file__).parent / "versions"
OLD = "0123456789abcdef"


def ask(keeper, person, release, code="CODE001"):
    """What a code means."""
    return read_value(keeper, person, release, "insurance", code).read


def settled(keeper):
    """Whether the log is whole, and nothing is to be told at a start."""
    verdict = verify_log(keeper)
    assert verdict.whole, verdict.reason
    assert check_at_start(keeper) is None
    return True


# The key


def test_another_key(either, hand_made, monkeypatch):
    """After a change of the key everything reads as before with the new one, the log is whole, and logins have ended."""
    release = either.release(hand_made)
    either.grant(release)
    enrolment = second.begin_second(either.keeper, either.auditor)
    token = tokens.issue_token(either.keeper, "researcher", PASSWORD, "here").token
    session = logins.open_session(either.keeper, "owner", PASSWORD, "here")
    old = (either.keeper.settings.folder / "server.key").read_text()
    rotate_key(either.keeper)
    either.keeper.close()
    keeper = open_keeper(either.keeper.settings)
    assert (either.keeper.settings.folder / "server.key").read_text() != old
    assert settled(keeper)
    assert ask(keeper, either.researcher, release) == f"{MARK} insurance 1"
    assert tokens.find_token(keeper, token) is None
    assert logins.find_session(keeper, session.cookie) is None
    assert accounts.log_in(keeper, "researcher", PASSWORD, "here")
    row = catalogue.sound_row
    with keeper.database.reading() as connection:
        user = row(keeper, connection, second.users, second.users.c.name == "auditor")
    assert enrolment.secret in second._opened(keeper, user).decode()
    rotate_key(keeper)
    again = open_keeper(keeper.settings)
    assert settled(again)
    with again.database.writing() as connection:
        connection.execute(text("UPDATE meta SET value = '[]' WHERE name = 'former'"))
    assert not verify_log(open_keeper(keeper.settings)).whole
    monkeypatch.setenv("MANYVEILS_SERVER_KEY", old)
    with pytest.raises(InputError, match="begun with"):
        open_keeper(keeper.settings)


def test_the_old_key_changes_nothing_any_more(either):
    """Whoever has the old key cannot change an entry that was written under it."""
    old = either.keeper
    rotate_key(old)
    keeper = open_keeper(old.settings)
    from manyveils.server.chain import hash_of

    entry = keeper.database.row(text("SELECT * FROM log WHERE number = 1"))
    forged = hash_of(
        old, 1, entry.time, "mallory", entry.action, entry.subject, entry.details, entry.previous
    )
    with keeper.database.writing() as connection:
        for trigger in ("UPDATE", "DELETE", "INSERT"):
            if keeper.database.is_sqlite:
                connection.execute(text(f"DROP TRIGGER IF EXISTS log_keeps_{trigger}"))
        if not keeper.database.is_sqlite:
            connection.execute(text("ALTER TABLE log DISABLE TRIGGER USER"))
        connection.execute(text(f"UPDATE log SET actor = 'mallory', hash = '{forged}' WHERE number = 1"))
    assert verify_log(keeper).broken == 2


def test_a_key_in_a_file_of_ones_own(house, tmp_path, monkeypatch):
    """A key that is given from elsewhere is changed into a new file, which is never one that is there."""
    monkeypatch.setenv("MANYVEILS_SERVER_KEY", b64encode(token_bytes(32)).decode())
    keeper = open_keeper(Settings(tmp_path / "other"))
    with pytest.raises(InputError, match="new-key-file"):
        rotate_key(keeper)
    new = tmp_path / "new.key"
    rotate_key(keeper, new)
    with pytest.raises(InputError):
        rotate_key(keeper, new)
    assert settled(open_keeper(Settings(tmp_path / "other", key_file=new)))


def test_no_key_is_changed_under_a_running_server(settings):
    """While a server runs, and for a log that is broken, the key stays."""
    app = create_app(settings)
    with pytest.raises(Conflict, match="runs"):
        rotate_key(app.state.keeper)
    app.state.worker.stop()
    with app.state.keeper.database.writing() as connection:
        connection.execute(text("UPDATE chain SET seal = hash"))
    with pytest.raises(InputError, match="broken"):
        rotate_key(app.state.keeper)
    app.state.keeper.close()


KILLED = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from manyveils.server import {module}
    from manyveils.server.keeper import open_keeper
    from manyveils.server.settings import Settings

    {module}.{place} = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    settings = Settings(Path(sys.argv[1]), sys.argv[2] or None)
    {call}
""")
ROTATE = "upkeep.rotate_key(open_keeper(settings))"
MIGRATE = "migrating.migrate(settings)"
DELETE = (
    "k = open_keeper(settings); from manyveils.server.accounts import log_in; "
    f"catalogue.delete_release(k, log_in(k, 'owner', '{PASSWORD}', 'x'), sys.argv[3])"
)


def killed(settings, module, place, call, *more):
    """Do something in a process that is killed at one place of it."""
    code = KILLED.format(module=module, place=place, call=call)
    words = [sys.executable, "-c", code, str(settings.folder), settings.database or "", *more]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert done.returncode == -9, done.stderr


@pytest.mark.parametrize("place", ["fingerprint", "reseal_head", "take_waiting"])
def test_killed_while_the_key_is_changed(either, hand_made, place):
    """Killed before, inside or after the transaction, the server opens with the key that fits, and the log is whole."""
    release = either.release(hand_made)
    either.keeper.close()
    killed(either.keeper.settings, "upkeep", place, ROTATE)
    keeper = open_keeper(either.keeper.settings)
    assert settled(keeper)
    assert ask(keeper, either.owner, release) == f"{MARK} insurance 1"
    rotate_key(keeper)
    assert settled(open_keeper(either.keeper.settings))


# Deleting


def test_deleting(either, hand_made):
    """A release is deleted with its key, its grants and its files; what it was stays in the log, and others stay."""
    release, other = either.release(hand_made), either.release(hand_made)
    either.grant(release)
    ask(either.keeper, either.researcher, release)
    with pytest.raises(Forbidden):
        catalogue.delete_release(either.keeper, either.researcher, release)
    catalogue.delete_release(either.keeper, either.owner, release)
    for call in (
        lambda: catalogue.item(either.keeper, either.owner, release),
        lambda: catalogue.delete_release(either.keeper, either.owner, release),
        lambda: ask(either.keeper, either.owner, release),
    ):
        with pytest.raises(Missing):
            call()
    assert grants.all_grants(either.keeper, either.researcher) == []
    assert [path.name for path in either.keeper.settings.releases.iterdir()] == [other]
    entry = [entry for entry in either.log() if entry.action == "delete release"][-1]
    assert entry.subject == release
    assert entry.details.keys() == {"title", "manifest", "created"}
    assert settled(either.keeper)


@pytest.mark.parametrize(("place", "gone"), [("remove_row", False), ("shutil.rmtree", True)])
def test_killed_while_deleting(house, hand_made, place, gone):
    """Killed while it deletes, the server has the release whole, or removes what is left at its start."""
    release, other = house.release(hand_made), house.release(hand_made)
    house.keeper.close()
    killed(house.keeper.settings, "catalogue", place, DELETE, release)
    app = create_app(house.keeper.settings)
    keeper = app.state.keeper
    assert app.state.warning is None
    assert {path.name for path in keeper.settings.releases.iterdir()} == {other} | (
        set() if gone else {release}
    )
    assert {item.id for item in catalogue.items(keeper, None)} == {other} | (set() if gone else {release})
    assert verify_log(keeper).whole
    app.state.worker.stop()
    keeper.close()


def test_retention(house, hand_made, clock):
    """Releases that nobody lists go after their days, if they are not to stay; listed ones stay."""
    object.__setattr__(house.keeper, "now", clock)
    old, listed = house.release(hand_made, listed=False), house.release(hand_made)
    clock.time += 8 * retention.DAY
    new = house.release(hand_made, listed=False)
    retention.retire(house.keeper)
    assert {item.id for item in catalogue.items(house.keeper, house.owner)} == {old, listed, new}
    object.__setattr__(house.keeper.settings, "unlisted_days", 7)
    retention.retire(house.keeper)
    assert {item.id for item in catalogue.items(house.keeper, house.owner)} == {listed, new}
    assert not (house.keeper.settings.releases / old).exists()
    assert settled(house.keeper)


# Copies


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_a_copy_is_a_server(house, hand_made, tmp_path, target, request):
    """A copy opens on another machine and another database with the same key, goes on there, and knows all it knew."""
    release = house.release(hand_made)
    house.grant(release, limit=2)
    ask(house.keeper, house.researcher, release)
    back_up(house.keeper, tmp_path / "copy.tar.gz")
    assert oct((tmp_path / "copy.tar.gz").stat().st_mode)[-3:] == "600"
    with tarfile.open(tmp_path / "copy.tar.gz") as archive:
        members = [archive.extractfile(member).read() for member in archive.getmembers() if member.isfile()]
    assert not any(MARK.encode() in content for content in members)
    url = request.getfixturevalue("postgresql") if target == "postgresql" else None
    settings = Settings(tmp_path / "new", url, key_file=house.keeper.settings.folder / "server.key")
    keeper = restore(settings, tmp_path / "copy.tar.gz")
    assert settled(keeper)
    assert catalogue.file_of(keeper, None, release, 1).read_bytes()
    researcher = accounts.log_in(keeper, "researcher", PASSWORD, "here")
    assert ask(keeper, researcher, release) == f"{MARK} insurance 1"
    assert grants.all_grants(keeper, researcher)[0].used_today == 2
    owner = accounts.log_in(keeper, "owner", PASSWORD, "here")
    accounts.add_user(keeper, owner, "another", PASSWORD, "auditor")
    assert [entry.action for entry in house.log()][-1] == "back up"
    with pytest.raises(InputError, match="already"):
        restore(settings, tmp_path / "copy.tar.gz")
    keeper.close()


def test_copies_that_do_not_fit(house, tmp_path):
    """A copy is not opened with another key, nor a file that is none; a file that is there is not written over."""
    copy = tmp_path / "copy.tar.gz"
    back_up(house.keeper, copy)
    with pytest.raises(InputError):
        back_up(house.keeper, copy)
    other = tmp_path / "other.key"
    other.write_text(b64encode(token_bytes(32)).decode())
    other.chmod(0o600)
    with pytest.raises(InputError, match="made under"):
        restore(Settings(tmp_path / "new", key_file=other), copy)
    copy.write_bytes(b"nothing")
    with pytest.raises(InputError, match="cannot be read"):
        restore(Settings(tmp_path / "new", key_file=house.keeper.settings.folder / "server.key"), copy)


def test_a_copy_that_leads_elsewhere(house, tmp_path):
    """A copy whose files lead out of the folder is refused."""
    good, bad = tmp_path / "good.tar.gz", tmp_path / "bad.tar.gz"
    back_up(house.keeper, good)
    with tarfile.open(good) as source, tarfile.open(bad, "w:gz") as target:
        for member in source.getmembers():
            target.addfile(member, source.extractfile(member))
        evil = tarfile.TarInfo("releases/../../evil")
        target.addfile(evil)
    with pytest.raises(InputError):
        restore(Settings(tmp_path / "new", key_file=house.keeper.settings.folder / "server.key"), bad)
    assert not (tmp_path / "evil").exists()


# Versions


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request, tmp_path):
    """A server of version 2, with its key."""
    folder = tmp_path / "old"
    for name in ("", "releases", "work"):
        (folder / name).mkdir(mode=0o700)
    url = request.getfixturevalue("postgresql") if request.param == "postgresql" else None
    settings = Settings(folder, url)
    engine = create_engine(url or sqlite_url(settings.sqlite))
    with engine.begin() as connection:
        for statement in (VERSIONS / f"v2.{request.param}.sql").read_text().split("\n;;\n"):
            connection.exec_driver_sql(statement)
    engine.dispose()
    shutil.copy(VERSIONS / "v2.key", folder / "server.key")
    (folder / "server.key").chmod(0o600)
    return settings


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
def test_killed_while_migrating(old, place):
    """Killed while it migrates, a server is what it was, and is migrated the next time."""
    killed(old, "migrating", place, MIGRATE)
    with pytest.raises(InputError, match="migrate"):
        open_keeper(old)
    assert migrate(old) == "2"
    assert used_as_before(old)


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
