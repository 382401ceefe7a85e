"""Publishing into folders: a release and what is private appear whole, after an audit of the written files, or not at all."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from manyveils.audits import Audit
from manyveils.errors import InputError, Problem
from manyveils.keys import write_key
from manyveils.policy import Policy
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.release.folder import refuse_existing, staged, write_text
from manyveils.release.release import MANIFEST
from manyveils.run import (
    Engine,
    Progress,
    judge,
    make,
    read_policy,
    refuse_broken,
    refuse_master,
    refuse_seed,
)
from manyveils.table import hold
from manyveils.table.door import is_sparks

Writing = Callable[[Path], tuple[Release, Audit]]


@dataclass(frozen=True)
class Published:
    """A release in its folder, with the audit that let it appear."""

    release: Release
    audit: Audit
    folder: Path
    private: Path

    def describe(self) -> dict[str, object]:
        """The publication as the command line tells it."""
        return {
            "folder": str(self.folder),
            "private": str(self.private),
            "manifest": json.loads((self.folder / MANIFEST).read_text(encoding="utf-8")),
            "audit": self.audit.describe(),
            "plan": self.release.notes,
        }


def publish_to(
    policy: "Policy | str | Path",
    out: Path,
    *,
    data: object = None,
    format: str | None = None,  # noqa: A002
    seed: int | None = None,
    private: Path | None = None,
    force: bool = False,
    secret: str | bytes | None = None,
    engine: Engine = "local",
    master: str | None = None,
    progress: Progress = silent,
) -> Published:
    """Publish into a folder: write aside, audit the written files, and only then let the folder appear.

    Tables are csv unless `format` says otherwise; Spark writes parquet.
    """
    policy = read_policy(policy)
    private = private or out.with_name(out.name + ".private")
    for target in (out, private):
        refuse_existing(target, force=force)
    if engine == "spark" or is_sparks(data):
        write = _writing_there(data, policy, format, seed=seed, master=master, progress=progress)
    else:
        refuse_master(master)
        write = _writing_here(data, policy, format or "csv", seed=seed, progress=progress)
    # The release is the last to appear.
    with staged(out, force=force) as folder, staged(private, force=force, mode=0o700) as aside:
        release, verdict = write(folder)
        refuse_broken(verdict)
        _write_private(aside, verdict, release, seed)
        if release.key is not None:
            write_key(release.key, aside / "key.json", secret)
    return Published(release.moved(out), verdict, out, private)


def _writing_here(
    data: object,
    policy: Policy,
    format: str,  # noqa: A002
    *,
    seed: int | None,
    progress: Progress,
) -> Writing:
    table, restore = hold(data, policy)
    release = make(table, policy, restore, seed=seed, progress=progress)

    def write(folder: Path) -> tuple[Release, Audit]:
        release.write(folder, format=format)
        return release, judge(Release.load(folder), table, policy)

    return write


def _writing_there(
    data: object,
    policy: Policy,
    format: str | None,  # noqa: A002
    *,
    seed: int | None,
    master: str | None,
    progress: Progress,
) -> Writing:
    refuse_seed(seed)
    if format not in (None, "parquet"):
        raise InputError(
            [Problem("format", "Spark writes parquet.", "Leave it out, or use the local engine.")]
        )
    from manyveils.spark.engine import publish_there

    def write(folder: Path) -> tuple[Release, Audit]:
        found = publish_there(data, policy, folder, master=master, seed=seed, progress=progress)
        return found.release, found.audit

    return write


def _write_private(folder: Path, verdict: Audit, release: Release, seed: int | None) -> None:
    for name, document in (
        ("audit", verdict.describe()),
        ("plan", dict(release.notes)),
        ("seed", {"seed": seed}),
    ):
        write_text(
            folder / f"{name}.json", json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n"
        )
