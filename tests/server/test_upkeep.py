"""A server is copied, restored, migrated and given another key, whole or not at all, also when it is killed meanwhile."""

import os
from base64 import b64encode
from pathlib import Path
from secrets import token_bytes

import pytest
from sqlalchemy import text

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, grants, logins, retention, second, tokens
from manyveils.server.app import create_app
from manyveils.server.keeper import open_keeper
from manyveils.server.refusals import Conflict, Forbidden, Missing
from manyveils.server.settings import Settings
from manyveils.server.upkeep import rotate_key
from manyveils.server.verifying import verify_log
from tests.kit.servers import ask, killed, killed_at_random, settled

PASSWORD = "a long enough password"
MARK = "Qz9secret"
VERSIONS = Path(__file__).parent / "versions"
OLD = "0123456789abcdef"
TIMES = 40 if os.environ.get("MANYVEILS_THOROUGH") else 5


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


@pytest.mark.parametrize("place", ["fingerprint", "reseal_head", "take_waiting"])
def test_killed_while_the_key_is_changed(either, hand_made, monkeypatch, place):
    """Killed before, inside or after the transaction, the server opens with the key that fits, and the log is whole."""
    release = either.release(hand_made)
    either.keeper.close()
    settings = either.keeper.settings
    killed(monkeypatch, f"manyveils.server.upkeep.{place}", lambda: rotate_key(open_keeper(settings)))
    keeper = open_keeper(either.keeper.settings)
    assert settled(keeper)
    assert ask(keeper, either.owner, release) == f"{MARK} insurance 1"
    rotate_key(keeper)
    assert settled(open_keeper(either.keeper.settings))


def test_killed_at_any_moment_of_a_change(either, hand_made):
    """Killed at random moments while its key is changed, the server opens with the key that fits, and reads all."""
    release = either.release(hand_made)
    either.keeper.close()
    settings = either.keeper.settings

    def check():
        keeper = open_keeper(settings)
        assert settled(keeper)
        assert ask(keeper, either.owner, release) == f"{MARK} insurance 1"
        keeper.close()

    killed_at_random(30, TIMES, lambda: lambda: rotate_key(open_keeper(settings)), check)


def test_killed_at_any_moment_of_deleting(either, hand_made):
    """Killed at random moments while it deletes, the server has each release with its files, or neither."""
    releases = [either.release(hand_made) for _ in range(TIMES + 2)]
    either.keeper.close()
    settings = either.keeper.settings

    def check():
        app = create_app(settings)
        keeper = app.state.keeper
        here = {path.name for path in settings.releases.iterdir()}
        assert app.state.warning is None
        assert here == {item.id for item in catalogue.items(keeper, None)}
        assert verify_log(keeper).whole
        app.state.worker.stop()
        keeper.close()

    def call():
        release = releases.pop()
        return lambda: catalogue.delete_release(open_keeper(settings), either.owner, release)

    killed_at_random(31, TIMES, call, check)


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
def test_killed_while_deleting(house, hand_made, monkeypatch, place, gone):
    """Killed while it deletes, the server has the release whole, or removes what is left at its start."""
    release, other = house.release(hand_made), house.release(hand_made)
    house.keeper.close()

    def delete():
        catalogue.delete_release(open_keeper(house.keeper.settings), house.owner, release)

    killed(monkeypatch, f"manyveils.server.catalogue.{place}", delete)
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
