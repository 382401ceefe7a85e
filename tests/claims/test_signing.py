"""A signed digest: one changed byte anywhere is told, with the public key alone."""

import base64
import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.signing import verify


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """A folder with a signed release, its policy with a hierarchy file, and a key that is thrown away."""
    folder = tmp_path_factory.mktemp("signed")
    (folder / "people.csv").write_text(
        "age,illness\n" + "".join(f"{20 + i % 4},ill{i % 3}\n" for i in range(12))
    )
    (folder / "age.csv").write_text("20;20-21;*\n21;20-21;*\n22;22-23;*\n23;22-23;*\n")
    (folder / "policy.toml").write_text(
        '[data]\nsource = "people.csv"\n[attributes.age]\nrole = "quasi"\nhierarchy = { file = "age.csv" }\n'
        '[attributes.illness]\nrole = "sensitive"\n[guarantee]\nk = 3\nl = 2\n'
    )
    release = mv.publish(None, folder / "policy.toml", seed=1)
    release.save(folder / "out")
    private = folder / "out.private"
    private.mkdir(exist_ok=True)
    audit = mv.audit(folder / "out", None, folder / "policy.toml")
    (private / "audit.json").write_text(json.dumps(audit.describe()))
    mv.sign(folder / "out", folder / "policy.toml", folder / "owner.pem")
    (folder / "owner.pem").unlink()
    return folder


def checked(folder):
    return verify(folder / "out", folder / "policy.toml", folder / "owner.pub.pem")


def files_of(folder):
    """Everything that a digest speaks of, and itself."""
    private = [folder / "out.private" / name for name in ("audit.json", "digest.json", "digest.sig")]
    released = sorted(path for path in (folder / "out").rglob("*") if path.is_file())
    return [*released, folder / "policy.toml", folder / "age.csv", *private]


def test_untouched(signed):
    """What was signed is verified without the owner's private key, and the digest names every file of the release."""
    verification = checked(signed)
    assert verification.kept, verification.problems
    names = {
        path.relative_to(signed / "out").as_posix() for path in (signed / "out").rglob("*") if path.is_file()
    }
    assert set(verification.signed["release"]) == names
    assert verification.signed["versions"]["manyveils"] == mv.__version__


@settings(max_examples=150)
@given(data=st.data())
def test_one_byte(signed, data):
    """One changed, lost or added byte of any file is told."""
    path = data.draw(st.sampled_from(files_of(signed)))
    before = path.read_bytes()
    place = data.draw(st.integers(0, len(before) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != before[place]))
    how = data.draw(st.sampled_from(["changed", "lost", "added"]))
    middle = {"changed": bytes([byte]), "lost": b"", "added": bytes([byte, before[place]])}[how]
    try:
        path.write_bytes(before[:place] + middle + before[place + 1 :])
        assert not checked(signed).kept
    finally:
        path.write_bytes(before)
    assert checked(signed).kept


def test_signature_written_otherwise(signed):
    """A signature whose base64 is written in another way that decodes alike is told, too."""
    path = signed / "out.private" / "digest.sig"
    before = path.read_bytes()
    letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    # Sixty-four bytes leave four bits of the last letter that mean nothing.
    place = len(before.rstrip(b"=\n")) - 1
    alike = [before[:place] + bytes([letter]) + before[place + 1 :] for letter in letters]
    alike = [text for text in alike if text != before and base64.b64decode(text) == base64.b64decode(before)]
    assert alike
    try:
        for text in alike:
            path.write_bytes(text)
            assert not checked(signed).kept
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("name", ["extra.txt", "tables/extra.csv"])
def test_file_too_many(signed, name):
    """A file that was not there is told by name."""
    extra = signed / "out" / name
    extra.write_text("")
    try:
        assert [problem.where for problem in checked(signed).problems] == [f"release: {name}"]
    finally:
        extra.unlink()


def test_file_missing(signed, tmp_path):
    """A file that is missing is told, and so is a changed one, each by its name."""
    folder = tmp_path / "copy"
    shutil.copytree(signed, folder)
    (folder / "out/tables/main.csv").unlink()
    (folder / "age.csv").write_text("another")
    where = [problem.where for problem in checked(folder).problems]
    assert where == ["release: tables/main.csv", "hierarchy: age.csv"]


def test_another_key(signed, tmp_path):
    """Who signs anew with a key of her own is told, and the digest is then not believed in anything."""
    folder = tmp_path / "copy"
    shutil.copytree(signed, folder)
    mv.sign(folder / "out", folder / "policy.toml", tmp_path / "other.pem")
    verification = checked(folder)
    assert not verification.kept
    assert verification.signed == {}
    assert verify(folder / "out", folder / "policy.toml", tmp_path / "other.pub.pem").kept


def test_link_as_a_file(signed, tmp_path):
    """A folder or a file that is put into the release as a link is told."""
    folder = tmp_path / "copy"
    shutil.copytree(signed, folder)
    (folder / "out/elsewhere").symlink_to(tmp_path)
    assert not checked(folder).kept


def test_key_is_the_owners(tmp_path, signed):
    """A key is made for its owner's eyes, encrypted where there is a passphrase, and does not open without it."""
    folder = tmp_path / "copy"
    shutil.copytree(signed, folder)
    place = folder / "out", folder / "policy.toml", folder / "own.pem"
    mv.sign(*place, secret="a passphrase of mine")
    assert place[2].stat().st_mode & 0o077 == 0
    assert b"ENCRYPTED" in place[2].read_bytes()
    with pytest.raises(mv.InputError, match="is encrypted"):
        mv.sign(*place)
    with pytest.raises(mv.InputError, match="cannot be opened"):
        mv.sign(*place, secret="another")
    mv.sign(*place, secret="a passphrase of mine")
