"""A desk to work at: a folder with data and a policy, and a way to run commands and look at what they did."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGINT, default_int_handler, signal
from typing import Any

import pytest
from hypothesis import settings
from typer.testing import CliRunner
from xdist.scheduler import LoadScopeScheduling

from manyveils.cli.app import app

# A busy machine is no fault of the code.
settings.register_profile("patient", deadline=None, max_examples=50)
settings.load_profile("patient")

# Tests of these folders and files share what takes long to start, so one worker runs all of them.
TOGETHER = (
    "tests/spark/",
    "tests/layout/test_docs",
    "tests/comparing/test_compare",
    "tests/reports/test_browser",
    "tests/server/test_browser",
    "tests/studio/test_browser",
    "tests/studio/test_serving",
)

# Every cell of the desk's data has this in it, so that a message that quotes a cell is found out.
MARK = "Zq7"


class Together(LoadScopeScheduling):
    """Test after test to whichever worker is free, apart from those that belong together; groups come first."""

    def _split_scope(self, nodeid: str) -> str:
        return next((each for each in TOGETHER if nodeid.startswith(each)), nodeid)


def pytest_configure() -> None:
    """Heed Ctrl-C, which tests send to themselves, and which shells have programs in the background ignore."""
    signal(SIGINT, default_int_handler)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """Choose who runs what."""
    return Together(config, log)


def people(n: int = 12) -> str:
    """Write a small table: a name, an age, one of three cities, one of four illnesses."""
    rows = [f"{MARK}name{i},{20 + i},{MARK}city{i % 3},{MARK}ill{i % 4}" for i in range(n)]
    return "\n".join(["name,age,city,illness", *rows]) + "\n"


def sections() -> dict[str, Any]:
    """List the sections of a sound policy for the small table."""
    return {
        "data": {"source": "people.csv"},
        "attributes": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi"},
            "city": {"role": "quasi"},
            "illness": {"role": "sensitive"},
        },
        "guarantee": {"k": 2, "l": 2},
        "publish": {"method": "generalize"},
    }


def merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    """Lay one tree of tables over another; None takes a key away."""
    both = dict(low)
    for key, value in high.items():
        inner = both.get(key)
        both[key] = (
            merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
        )
    return {key: value for key, value in both.items() if value is not None}


def toml(document: Mapping[str, Any]) -> str:
    """Write sections as TOML, each table inside a section on a line of its own."""
    lines = [_keys({name: entry for name, entry in document.items() if _is_plain_list(entry)})]
    for name, section in document.items():
        if _is_plain_list(section):
            continue
        if isinstance(section, list):
            lines += [f"[[{name}]]\n" + _keys(entry) for entry in section]
        else:
            lines.append(f"[{name}]\n" + _keys(section))
    return "\n".join(lines)


def _is_plain_list(section: object) -> bool:
    return isinstance(section, list) and not any(isinstance(entry, Mapping) for entry in section)


def _keys(table: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {_inline(value)}\n" for key, value in table.items())


def _inline(value: Any) -> str:
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{json.dumps(key)} = {_inline(entry)}" for key, entry in value.items()) + " }"
        )
    if isinstance(value, list):
        return "[" + ", ".join(_inline(entry) for entry in value) + "]"
    return str(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Outcome:
    """What a command did."""

    status: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """Everything it printed."""
        return self.stdout + self.stderr

    @property
    def document(self) -> Any:
        """The one JSON document on stdout."""
        return json.loads(self.stdout)


@dataclass
class Desk:
    """A folder with data and a policy in it."""

    folder: Path
    document: dict[str, Any] = field(default_factory=sections)

    def data(self, content: str | bytes, name: str = "people.csv") -> Path:
        """Put a file on the desk."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def policy(self, name: str = "policy.toml", **changes: Any) -> Path:
        """Write the sound policy with some changes."""
        return self.data(toml(merged(self.document, changes)), name)

    @property
    def out(self) -> Path:
        """Where releases go."""
        return self.folder / "out"

    def run(self, *words: object) -> Outcome:
        """Run a command; an exception that is not an exit is a bug, and is raised."""
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def publish(self, *words: object) -> Outcome:
        """Run `publish` with the desk's policy."""
        return self.run("publish", self.folder / "policy.toml", "--out", self.out, *words)

    def published(self, *words: object) -> Path:
        """Publish, and be sure that it worked."""
        outcome = self.publish(*words)
        assert outcome.status == 0, outcome.said
        return self.out

    def listing(self) -> dict[str, int]:
        """Everything in the folder, hidden files too, and when files were written."""
        return {
            str(path.relative_to(self.folder)): path.stat().st_mtime_ns if path.is_file() else 0
            for path in self.folder.rglob("*")
        }

    def refused(self, *words: object, status: int = 2) -> str:
        """Run a command that must be refused, for people and in JSON; gives the message, after every check.

        Nothing is written, no traceback is shown, and no cell of the data is quoted.
        """
        words = words or ("publish", self.folder / "policy.toml", "--out", self.out)
        before = self.listing()
        plain, in_json = self.run(*words), self.run(*words, "--json")
        assert (plain.status, in_json.status) == (status, status), plain.said + in_json.said
        assert self.listing() == before, "something was written"
        for said in (plain.said, in_json.said):
            assert "Traceback" not in said
            assert MARK not in said.replace(str(self.folder), "")
        assert plain.stdout == ""
        assert in_json.document["exit_status"] == status
        assert in_json.document["problems"]
        return plain.stderr


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk with the small table and a sound policy on it."""
    made = Desk(tmp_path)
    made.data(people())
    made.policy()
    return made


@pytest.fixture(scope="session")
def _hospital_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from manyveils.datasets import write_hospital

    return write_hospital(tmp_path_factory.mktemp("hospital"), n=400).parent


@pytest.fixture
def hospital(_hospital_folder: Path, tmp_path: Path) -> Desk:
    """A desk with the hospital table and its policy on it."""
    import shutil
    import tomllib

    for name in ("hospital.csv", "policy.toml"):
        shutil.copy(_hospital_folder / name, tmp_path / name)
    return Desk(tmp_path, tomllib.loads((tmp_path / "policy.toml").read_text(encoding="utf-8")))
