"""Publishing into folders: a release and what is private appear whole, after an audit of the written files, or not at all."""

import json
from dataclasses import dataclass
from pathlib import Path

from manyveils.arguments import AnyPolicy, Order, Progress
from manyveils.audits import Audit
from manyveils.engines import Engine, is_for_spark, judge, write_on_spark
from manyveils.keys import write_key
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.release.folder import PLACEMENTS, staged, write_text
from manyveils.release.placements import write_placements
from manyveils.release.release import MANIFEST
from manyveils.run import make
from manyveils.table import hold


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
    policy: AnyPolicy,
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
    order = Order(data, policy, seed=seed, format=format, master=master, progress=progress)
    write = write_on_spark if is_for_spark(data, engine, master) else _write_here
    private = private or out.parent / f"{out.name}.private"
    # Folders are prepared first, so that a place which is taken is refused before any work; the release appears last.
    with staged(out, force=force) as folder, staged(private, force=force, mode=0o700) as aside:
        release, verdict = write(order, folder)
        verdict.refuse_broken()
        _write_private(aside, verdict, release, seed)
        if release.key is not None:
            write_key(release.key, aside / "key.json", secret)
    return Published(release.moved(out), verdict, out, private)


def _write_here(order: Order, folder: Path) -> tuple[Release, Audit]:
    table, restore = hold(order.data, order.policy)
    release = make(order, table, restore)
    release.write(folder, format=order.format or "csv")
    written = Release.load(folder)
    written.placements = release.placements
    return release, judge(written, table, order.policy)


def _write_private(folder: Path, verdict: Audit, release: Release, seed: int | None) -> None:
    documents = {"audit": verdict.describe(), "plan": dict(release.notes), "seed": {"seed": seed}}
    for name, document in documents.items():
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str)
        write_text(folder / f"{name}.json", text + "\n")
    if release.placements:
        write_placements(release.placements, folder / PLACEMENTS)
