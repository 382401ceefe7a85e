"""The wheel as it is built: what is in it, and what a type checker sees of it."""

import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.package.__main__ import OURS, PROBES, ROOT, extras

CLIENT = """
import manyveils as mv

policy: mv.Policy = mv.Policy.load("policy.toml")
release: mv.Release = mv.publish("people.csv", policy)
rows: int = release.rows
kept: bool = mv.audit(release, "people.csv", policy).kept
method: str = release.manifest.method
low: int = release.count("age > 3").low
reveal_type(mv.attack(release, "people.csv", policy))
"""
WRONG = """
import manyveils as mv

rows: str = mv.Release.load("out").rows
mv.publish("people.csv", 3, sed=1)
mv.publisch
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built here."""
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def checked(built, tmp_path_factory):
    """Check the types of some code in an environment with the wheel and nothing else, of the checkout neither."""
    home = tmp_path_factory.mktemp("client")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
    site = next((home / "venv").glob("lib/python*/site-packages"))
    with zipfile.ZipFile(built[0]) as wheel:
        wheel.extractall(site)

    def check(code, *words):
        (home / "client.py").write_text(code)
        python = home / "venv" / "bin" / "python"
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--python-executable",
            python,
            *words,
            "client.py",
        ]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    return check


def test_types_are_seen(checked):
    """A type checker knows the types of the installed package, and accepts a client that uses them rightly."""
    status, said = checked(CLIENT)
    assert status == 0, said
    assert 'Revealed type is "manyveils.attacks.outcome.Attacks"' in said


def test_wrong_types_are_seen(checked):
    """A type checker finds a wrong type, a wrong argument and a name that is not there."""
    status, said = checked(WRONG)
    assert status == 1
    assert "Incompatible types in assignment" in said
    assert 'Unexpected keyword argument "sed"' in said
    assert 'Module has no attribute "publisch"' in said


def test_the_wheel_has_what_it_needs(built):
    """The wheel has every file of the package and nothing else; the sdist has what builds, tests and documents it."""
    with zipfile.ZipFile(built[0]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info" not in name}
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert names == {
        file for file in files if "__pycache__" not in file and not file.endswith((".nbi", ".nbc"))
    }
    with tarfile.open(built[1]) as archive:
        top = {Path(name).parts[1] for name in archive.getnames() if len(Path(name).parts) > 1}
    assert {"src", "tests", "docs", "examples", "Makefile", "constraints.txt", "SECURITY.md"} <= top


def test_every_extra_is_tried():
    """Every extra for users has something that it must do alone, and `dev` brings all of them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(PROBES) == set(extras()) == set(project["optional-dependencies"]) - OURS
    assert {f"manyveils[{name}]" for name in extras()} <= set(project["optional-dependencies"]["dev"])
