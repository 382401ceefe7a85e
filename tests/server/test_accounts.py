"""Accounts, tokens and sessions: who gets in, and who does not any more."""

import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from manyveils.errors import InputError
from manyveils.server import accounts, logins, passwords, tokens
from manyveils.server.keeper import open_keeper
from manyveils.server.refusals import Conflict, Forbidden, Missing, Unauthenticated
from manyveils.server.schema import sessions as session_table
from manyveils.server.schema import tokens as token_table
from manyveils.server.schema import users
from manyveils.server.settings import Settings

PASSWORD = "a long enough password"
PROOF = accounts.Proof(PASSWORD, "here")


def rows(house, table):
    with house.keeper.database.reading() as connection:
        return connection.execute(table.select()).all()


def test_log_in(either):
    """The right password gets in; a wrong one, a missing account and a switched-off one get the same refusal."""
    keeper = either.keeper
    assert accounts.log_in(keeper, "researcher", PASSWORD, "here").role == "researcher"
    accounts.change_user(keeper, either.owner, "researcher", active=False)
    said = set()
    for name, password in [("owner", "wrong password"), ("nobody", PASSWORD), ("researcher", PASSWORD)]:
        with pytest.raises(Unauthenticated) as refusal:
            accounts.log_in(keeper, name, password, "here")
        said.add(str(refusal.value))
    assert len(said) == 1
    assert [entry.action for entry in either.log()].count("log in refused") == 3


def test_unknown_names_cost_the_same(house, monkeypatch):
    """A password is checked for an unknown name too, and against a hash of the same work."""
    checked = []
    monkeypatch.setattr(passwords, "verified", lambda password, hashed: bool(checked.append(hashed)))
    for name in ("owner", "nobody"):
        with pytest.raises(Unauthenticated):
            accounts.log_in(house.keeper, name, "x", "here")
    assert [hashed.split("$")[1] for hashed in checked] == ["argon2id", "argon2id"]
    assert len({hashed.split("$")[3] for hashed in checked}) == 1


def test_only_hashes_are_kept(either):
    """Passwords are kept as Argon2id, tokens and sessions as SHA-256, and names typed wrongly not at all."""
    token = tokens.issue_token(either.keeper, "owner", PASSWORD, "here")
    session = logins.open_session(either.keeper, "owner", PASSWORD, "here")
    with pytest.raises(Unauthenticated):
        accounts.log_in(either.keeper, "my password by mistake", "owner", "here")
    assert all(row.password.startswith("$argon2id$") for row in rows(either, users))
    stored = str(rows(either, token_table) + rows(either, session_table) + either.log())
    assert token.token not in stored
    assert session.cookie.rsplit(".", 1)[0] not in stored
    assert "my password" not in stored
    assert PASSWORD not in stored


@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("Big", PASSWORD),
        ("", PASSWORD),
        ("a b", PASSWORD),
        ("x" * 65, PASSWORD),
        ("fine", "x" * 11),
        ("fine", "x" * 1025),
    ],
)
def test_unfit_accounts(house, name, password):
    """Names are plain and passwords have twelve characters or more; nothing else makes an account."""
    with pytest.raises(InputError) as refusal:
        accounts.add_user(house.keeper, house.owner, name, password, "researcher")
    assert password not in str(refusal.value)


def test_twelve_characters_do(house):
    """A password of twelve characters is long enough, one that is the name is not."""
    accounts.add_user(house.keeper, house.owner, "fine", "kV7-wq.Tz2pd", "auditor")
    with pytest.raises(InputError):
        accounts.add_user(house.keeper, house.owner, "twelve.chars", "twelve.chars1", "auditor")


def test_names_are_unique(either):
    """A name is taken once."""
    with pytest.raises(Conflict):
        accounts.add_user(either.keeper, either.owner, "auditor", PASSWORD, "researcher")


def test_the_last_owner_stays(either):
    """The last owner cannot be switched off; with another one it can."""
    with pytest.raises(Conflict):
        accounts.change_user(either.keeper, either.owner, "owner", active=False)
    accounts.add_user(either.keeper, either.owner, "second", PASSWORD, "owner", proof=PROOF)
    with pytest.raises(Conflict):
        accounts.change_user(either.keeper, either.owner, "owner", active=False)
    accounts.confirm_from_command(either.keeper, "second")
    assert not accounts.change_user(either.keeper, either.owner, "owner", active=False).active


def test_only_owners_manage(house):
    """Researchers and auditors can neither see nor make nor change accounts."""
    for person in (house.researcher, house.auditor):
        with pytest.raises(Forbidden):
            accounts.accounts(house.keeper, person)
        with pytest.raises(Forbidden):
            accounts.add_user(house.keeper, person, "mallory", PASSWORD, "owner")
        with pytest.raises(Forbidden):
            accounts.change_user(house.keeper, person, "owner", password=PASSWORD)


def test_tokens_end(either):
    """A token is good until it expires, is revoked, or its account's password changes."""
    keeper, clock = either.keeper, either.keeper.now()

    def new():
        return tokens.issue_token(keeper, "researcher", PASSWORD, "here", tokens.Wish(hours=1)).token

    expiring, revoked, outdated = new(), new(), new()
    found = tokens.find_token(keeper, revoked)
    assert found.name == "researcher"
    with pytest.raises(Missing):
        tokens.revoke_token(keeper, either.auditor, found.token.id)
    assert tokens.find_token(keeper, revoked) is not None
    tokens.revoke_token(keeper, either.researcher, found.token.id)
    assert tokens.find_token(keeper, revoked) is None
    object.__setattr__(keeper, "now", lambda: clock + 3700)
    assert tokens.find_token(keeper, expiring) is None
    object.__setattr__(keeper, "now", lambda: clock)
    accounts.change_password(keeper, either.researcher, PASSWORD, PASSWORD + "2", "here")
    assert tokens.find_token(keeper, outdated) is None
    assert tokens.find_token(keeper, "") is None


@pytest.mark.parametrize("change", [{"password": "another long password"}, {"active": False}])
@pytest.mark.parametrize("begin", [logins.open_session, tokens.issue_token, accounts.log_in])
def test_a_login_does_not_outlive_a_change(either, monkeypatch, begin, change):
    """A password that is reset, or an account that is closed, while a login looks at it lets nobody in."""
    verified = passwords.verified

    def slow(password, hashed):
        monkeypatch.setattr(passwords, "verified", verified)
        fits = verified(password, hashed)
        accounts.change_user(either.keeper, either.owner, "researcher", **change, proof=PROOF)
        return fits

    monkeypatch.setattr(passwords, "verified", slow)
    with pytest.raises(Unauthenticated):
        begin(either.keeper, "researcher", PASSWORD, "here")
    assert rows(either, session_table) == rows(either, token_table) == []
    assert either.log()[-1].action == "log in refused"


def test_changing_a_password_is_no_login(either):
    """A change of password is in the log as that, done or refused, and not as a login."""
    before = len(either.log())
    with pytest.raises(Unauthenticated):
        accounts.change_password(either.keeper, either.researcher, "wrong", PASSWORD + "2", "here")
    accounts.change_password(either.keeper, either.researcher, PASSWORD, PASSWORD + "2", "here")
    assert [entry.action for entry in either.log()[before:]] == ["change password refused", "change password"]
    assert accounts.log_in(either.keeper, "researcher", PASSWORD + "2", "here")


def test_sessions_end(either):
    """A session is good until logout, idleness or its end, and its cookie only as the server signed it."""
    keeper, start = either.keeper, either.keeper.now()

    def new():
        return logins.open_session(keeper, "owner", PASSWORD, "here")

    one, other, third = new(), new(), new()
    assert logins.find_session(keeper, one.cookie).person.name == "owner"
    assert logins.find_session(keeper, one.cookie).csrf == one.csrf != other.csrf
    number, _, signature = one.cookie.rpartition(".")
    assert logins.find_session(keeper, f"{number}.{'AB'[signature[0] == 'A']}{signature[1:]}") is None
    assert logins.find_session(keeper, one.cookie.split(".")[0]) is None
    logins.close_session(keeper, one)
    assert logins.find_session(keeper, one.cookie) is None
    object.__setattr__(keeper, "now", lambda: start + 50 * 60)
    assert logins.find_session(keeper, other.cookie) is not None
    object.__setattr__(keeper, "now", lambda: start + 100 * 60)
    assert logins.find_session(keeper, other.cookie) is not None
    assert logins.find_session(keeper, third.cookie) is None
    object.__setattr__(keeper, "now", lambda: start + 13 * 3600)
    assert logins.find_session(keeper, other.cookie) is None


def test_the_server_key(settings, tmp_path, monkeypatch):
    """A key is made for its owner alone; another key, a readable one or none of its kind is refused."""
    keeper = open_keeper(settings)
    path = settings.folder / "server.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(settings.folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in settings.folder.glob("server.sqlite*")} == {0o600}
    assert str(path) in keeper.told
    assert open_keeper(settings).told is None
    other = tmp_path / "other.key"
    other.write_text("c29tZXRoaW5nIGVsc2UsIGJ1dCAzMiBieXRlcyBsb25nIQ==")
    with pytest.raises(InputError, match="chmod"):
        open_keeper(Settings(settings.folder, key_file=other))
    other.chmod(0o600)
    with pytest.raises(InputError, match="begun with"):
        open_keeper(Settings(settings.folder, key_file=other))
    monkeypatch.setenv("MANYVEILS_SERVER_KEY", "short")
    with pytest.raises(InputError, match="32 random bytes"):
        open_keeper(Settings(tmp_path / "new"))
    monkeypatch.setenv("MANYVEILS_SERVER_KEY", path.read_text())
    assert open_keeper(settings).told is None


def test_a_key_that_is_gone(settings, monkeypatch):
    """Without its key a begun database is refused, and no other key is left behind."""
    monkeypatch.delenv("MANYVEILS_SERVER_KEY", raising=False)
    open_keeper(settings).close()
    key = settings.folder / "server.key"
    kept = key.rename(settings.folder / "copy.key")
    with pytest.raises(InputError, match="begun with one"):
        open_keeper(settings)
    assert not key.exists()
    kept.rename(key)
    open_keeper(settings).close()


@pytest.mark.parametrize("name", ["q?x=1", "a#b", "per%20cent", "sp ace"])
def test_names_of_folders(tmp_path, name):
    """A server's folder may have any name; its database is in it."""
    open_keeper(Settings(tmp_path / name)).close()
    assert {path.name for path in tmp_path.iterdir()} == {name}
    assert (tmp_path / name / "server.sqlite").stat().st_size


def test_two_that_begin_at_once(settings):
    """Servers that begin at once on a new folder share one key and one database."""
    with ThreadPoolExecutor(6) as pool:
        keepers = list(pool.map(lambda _: open_keeper(settings), range(6)))
    assert len({keeper.secret.seals for keeper in keepers}) == 1
    assert [keeper.told is not None for keeper in keepers].count(True) == 1
    for keeper in keepers:
        keeper.close()


@pytest.mark.parametrize(
    "url", ["mysql://u:hidden@h/d", "nonsense", "postgresql+psycopg://u:hidden@127.0.0.1:1/d"]
)
def test_unfit_databases(tmp_path, url):
    """A database that cannot be used is refused without telling its password."""
    with pytest.raises(InputError) as refusal:
        open_keeper(Settings(tmp_path / "server", url))
    assert "hidden" not in str(refusal.value) + repr(Settings(tmp_path, url))
