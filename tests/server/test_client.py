"""`mv.Client`: asks a server, and raises its refusals with its words."""

import pytest

import manyveils as mv
from manyveils.server.refusals import Forbidden, Missing, TooMany, Unauthenticated

PASSWORD = "a long enough password"
MARK = "Qz9secret"
POLICY = '[attributes.age]\nrole = "quasi"\n[attributes.illness]\nrole = "sensitive"\n[guarantee]\nk = 2\nl = {l}\n'


@pytest.fixture
def release(door, hand_made):
    """A listed release that the researcher has a grant of five for."""
    number = door.house.release(hand_made)
    door.house.grant(number, limit=5)
    return number


@pytest.fixture
def client(door):
    """A client of the researcher's."""
    with mv.Client(door.url, name="researcher", password=PASSWORD) as made:
        yield made


def test_asking(client, release):
    """Values, rules and tables come back as read with the key."""
    meaning = client.interpret(release, "insurance", "CODE001")
    assert (meaning.kind, meaning.meaning) == ("value", f"{MARK} insurance 1")
    assert client.interpret_rule(release, "income >= 1.5") == f"income >= {MARK} 25"
    assert client.interpret_table(release, ["insurance", "age"], [["CODE002", 30]]) == [
        [f"{MARK} insurance 2", "30"]
    ]
    assert MARK not in repr(meaning) + repr(client)


def test_the_catalogue(client, release, hand_made, tmp_path):
    """Releases are listed, and one that is fetched is the one that was published."""
    assert [each["id"] for each in client.releases()] == [release]
    assert "tables/main.csv" in client.files(release)
    fetched = mv.Release.load(client.download(release, tmp_path / "fetched"))
    assert fetched.frames["main"].equals(mv.Release.load(hand_made).frames["main"])


def test_refusals(door, client, release):
    """Each refusal is an error of its own with the server's words."""
    with pytest.raises(mv.InputError, match="grades"):
        client.interpret(release, "income", "no grade")
    with pytest.raises(Missing):
        client.interpret("0" * 16, "income", "1.5")
    with pytest.raises(TooMany, match="tomorrow"):
        client.interpret_table(release, ["insurance"], [[f"CODE{n:03}"] for n in range(6)])
    with pytest.raises(Forbidden):
        client.list(release)
    with pytest.raises(Unauthenticated):
        mv.Client(door.url, name="researcher", password="wrong")
    client.log_out()
    with pytest.raises(Unauthenticated):
        client.me()
    with pytest.raises(mv.ManyveilsError, match="does not answer"):
        mv.Client("http://127.0.0.1:1", name="x", password="y")


def test_nothing_secret_travels_in_the_clear():
    """Other machines are asked over TLS only."""
    for url in ("http://example.org", "ftp://example.org", "example.org"):
        with pytest.raises(mv.InputError):
            mv.Client(url, token="x")


@pytest.mark.parametrize(
    "url", ["http://[::1", "https://example.org:99999999", "https://", "https://a b\x00"]
)
def test_addresses_that_are_none(url):
    """What is no address of a server is refused as one's own mistake."""
    with pytest.raises(mv.InputError, match="name a server"):
        mv.Client(url, token="x")


@pytest.mark.parametrize("token", ["a\nb", "é"])
def test_tokens_that_are_none(token):
    """A token that could not be sent is refused."""
    with pytest.raises(mv.InputError, match="token"):
        mv.Client("https://example.org", token=token)


def test_strange_names_of_releases(client):
    """A release's name stays one part of an address, whatever is in it."""
    for name in ("../me", "a/b", "?x", "#", "\x00", "ä"):
        with pytest.raises(mv.ManyveilsError):
            client.files(name)


def test_fetching_into_a_folder_that_is_there(client, release, tmp_path):
    """A folder that is there is not written into, and no option of a command is advised."""
    client.download(release, tmp_path / "fetched")
    for place in (tmp_path / "fetched", tmp_path):
        with pytest.raises(mv.InputError, match="is there already") as refusal:
            client.download(release, place)
        assert "--force" not in str(refusal.value)


def test_publishing(door, tmp_path):
    """An owner publishes, waits, lists; a promise that cannot be kept and a wrong policy are errors."""
    rows = "age,illness\n" + "".join(f"{20 + n % 5},ill{n % 4}\n" for n in range(40))
    (tmp_path / "rows.csv").write_text(rows)
    for l in (2, 9):
        (tmp_path / f"policy{l}.toml").write_text(POLICY.format(l=l).replace("k = 2", f"k = {l}"))
    (tmp_path / "wrong.toml").write_text("nonsense = 3")
    with mv.Client(door.url, name="owner", password=PASSWORD) as client:
        job = client.publish(tmp_path / "rows.csv", tmp_path / "policy2.toml", title="Rows")
        done = client.wait(job["id"], every=0.02)
        assert done["audit"]["kept"]
        assert not client.releases()[0]["listed"]
        assert client.list(done["release"])["listed"]
        hopeless = client.publish(tmp_path / "rows.csv", tmp_path / "policy9.toml", title="Rows")
        with pytest.raises(mv.ManyveilsError, match="9"):
            client.wait(hopeless["id"], every=0.02)
        with pytest.raises(mv.PolicyError):
            client.publish(tmp_path / "rows.csv", tmp_path / "wrong.toml", title="Rows")
        with pytest.raises(mv.InputError, match="cannot be read"):
            client.publish(tmp_path / "nothing.csv", tmp_path / "policy2.toml", title="Rows")
