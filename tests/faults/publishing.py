"""Publications by every writer, each in a process of its own that may be killed before any act on files."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).parents[2]
ACTS = {
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.chmod",
    "os.scandir",
    "shutil.copyfile",
    "ctypes.dlsym",
}
WRITERS: Mapping[str, Mapping[str, Any]] = {
    "csv": {},
    "parquet": {"format": "parquet"},
    "memory": {"batch": 5},
    "force": {"force": True},
    "memory-force": {"batch": 5, "force": True, "format": "parquet"},
    "after": {"after": ["before"]},
    "after-force": {"after": ["before"], "force": True},
}
POLICY = {
    "data": {"person": "id"},
    "attributes": {
        "id": {"role": "identifier"},
        "age": {"role": "quasi", "hierarchy": {"widths": [10]}},
        "town": {"role": "quasi"},
        "ill": {"role": "sensitive"},
    },
    "guarantee": {"k": 2, "l": 2},
    "publish": {"method": "anatomize"},
}


@dataclass(frozen=True)
class Scene:
    """A folder with data, and with an earlier release or one that is in the way, where a writer needs that."""

    folder: Path
    writer: str

    @property
    def order(self) -> dict[str, Any]:
        """What is published, and how."""
        usual = {"format": "csv", "force": False, "batch": None, "after": [], "seed": 2}
        keys = WRITERS[self.writer]
        policy = {**POLICY, "data": {}} if keys.get("batch") else POLICY
        return {**usual, **keys, "policy": policy, "folder": str(self.folder)}

    @property
    def out(self) -> Path:
        """Where it goes."""
        return self.folder / "out"

    def set_up(self) -> None:
        """Everything that is there before."""
        if self.order["after"]:
            _write(self.folder, 0)
            _publish(self.folder, self.order, "before", 0)
        if self.order["force"]:
            _write(self.folder, 1)
            _publish(self.folder, {**self.order, "batch": None}, "out", 1)
        _write(self.folder, 2)

    def publish(self, **changes: Any) -> None:
        """Publish here and now."""
        _publish(self.folder, {**self.order, **changes}, "out", 2)

    def start(self, last: int = 0) -> "subprocess.Popen[str]":
        """A process that is ready to publish as soon as it is told to, and is killed before its last act."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.publishing", str(self.folder), self.writer, str(last)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate()
        return process

    def killed(self, rng: Random, n_acts: int, seconds: float) -> bool:
        """Publish in a process and kill it before some act, or after some time; whether it was killed."""
        by_act = rng.random() < 0.7
        process = self.start(rng.randrange(1, n_acts + 1) if by_act else 0)
        let_go(process)
        if not by_act:
            time.sleep(rng.uniform(0, seconds))
            process.kill()
        _, said = process.communicate(timeout=120)
        assert process.returncode in (0, -signal.SIGKILL), said
        return process.returncode != 0

    def contents(self) -> dict[str, bytes]:
        """The release that is there, file by file."""
        return {
            str(path.relative_to(self.out)): path.read_bytes()
            for path in self.out.rglob("*")
            if path.is_file()
        }

    def hidden(self) -> set[str]:
        """What is left beside what can be seen."""
        return {path.name for path in self.folder.iterdir() if path.name.startswith(".")}


def let_go(process: "subprocess.Popen[str]") -> None:
    """Let a process publish."""
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


class Acts:
    """Counts what is done to files, once it is asked to; the process dies before its last act."""

    def __init__(self, folder: Path, last: int = 0) -> None:
        self.folder, self.last, self.n_acts = str(folder), last, 0
        sys.addaudithook(self._heed)

    def _heed(self, event: str, arguments: tuple[Any, ...]) -> None:
        is_ours = event == "open" and str(arguments[0]).startswith(self.folder)
        if event in ACTS or is_ours:
            self.n_acts += 1
            if self.n_acts == self.last:
                os.kill(os.getpid(), signal.SIGKILL)


def _publish(folder: Path, order: Mapping[str, Any], name: str, seed: int) -> None:
    from manyveils.policy import Policy
    from manyveils.publishing import publish_to
    from manyveils.streaming.room import Room

    publish_to(
        Policy(**order["policy"]),
        folder / name,
        data=folder / "data.csv",
        format=order["format"],
        seed=seed,
        force=order["force"],
        after=[folder / earlier for earlier in order["after"] if earlier != name],
        memory=Room(10**9, batch_rows=order["batch"]) if order["batch"] else None,
    )


def _write(folder: Path, version: int) -> None:
    """The table, a little other in every version."""
    rows = (f"p{n},{20 + n},town {n % 3},ill {(n + version * (n % 4 == 0)) % 5}" for n in range(40))
    (folder / "data.csv").write_text("\n".join(["id,age,town,ill", *rows]) + "\n", encoding="utf-8")


def main(folder: str, writer: str, last: str) -> None:
    """Publish when told to, and say how many acts it took."""
    import manyveils.audits
    import manyveils.methods.anatomize
    import manyveils.publishing
    import manyveils.streaming.engine  # noqa: F401

    scene = Scene(Path(folder), writer)
    print("ready", flush=True)
    sys.stdin.readline()
    acts = Acts(scene.folder, int(last))
    scene.publish()
    print(acts.n_acts, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
