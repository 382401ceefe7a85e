"""A server is copied while it runs, and made from the copy, on either database, with the same key."""

import tarfile
from base64 import b64encode
from pathlib import Path
from secrets import token_bytes

import pytest

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, grants
from manyveils.server.backup import back_up, restore
from manyveils.server.settings import Settings
from tests.kit.servers import ask, settled

PASSWORD = "a long enough password"
MARK = "Qz9secret"
VERSIONS = Path(__file__).parent / "versions"
OLD = "0123456789abcdef"


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
