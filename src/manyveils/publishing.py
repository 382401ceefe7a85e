"""Publishing into folders: a release and what is private appear whole, after an audit of the written files, or not at all."""

import json
from dataclasses import dataclass
from pathlib import Path

from manyveils.arguments import AnyPolicy, Earlier, Order, Progress, listed, told_beside
from manyveils.audits import Audit
from manyveils.audits.timeline import Moment
from manyveils.engines import Engine, is_for_spark, judge_with_evidence, write_in_room, write_on_spark
from manyveils.errors import InputError
from manyveils.keys import write_key
from manyveils.ledgers import last_moment, ledger_for
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.release.folder import write_text
from manyveils.release.ledger import appearing
from manyveils.release.writing import MANIFEST
from manyveils.run import make
from manyveils.streaming.room import Memory


@dataclass(frozen=True)
class Published:
    """A release in its folder, with the audit that let it appear."""

    release: Release
    audit: Audit
    folder: Path
    private: Path
    # Who came, went and came back, where the release has a ledger.
    moment: Moment | None = None

    def describe(self) -> dict[str, object]:
        """The publication as the command line tells it."""
        return {
            "folder": str(self.folder),
            "private": str(self.private),
            "manifest": json.loads((self.folder / MANIFEST).read_text(encoding="utf-8")),
            "audit": self.audit.describe(),
            "plan": self.release.notes,
        } | ({} if self.moment is None else {"chain": self.moment.describe()})


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
    after: Earlier = (),
    memory: Memory = None,
) -> Published:
    """Publish into a folder: write aside, audit the written files, and only then let the folder appear.

    `after` are the folders of earlier releases of the same people; promises then hold for whoever has all of them.
    Tables are csv unless `format` says otherwise; Spark writes parquet. With `memory`, such as "8GB", tables that do not
    fit are published in so much.
    """
    order = Order(
        data, policy, seed=seed, format=format, master=master, progress=progress, after=after, memory=memory
    )
    _refuse_undoing(out, after)
    is_there = is_for_spark(data, engine, master, memory)
    private = private or out.parent / f"{out.name}.private"
    with appearing(out, private, force=force) as (folder, aside):
        assert aside is not None
        if is_there:
            release, verdict = write_on_spark(order, folder, make)
        elif order.room is not None:
            release, verdict = write_in_room(order, folder, aside)
        else:
            release, verdict = _write_here(order, folder)
        verdict.refuse_broken()
        _write_private(aside, verdict, release, seed)
        release.write_private(folder, aside)
        if release.key is not None:
            write_key(release.key, aside / "key.json", secret)
    return Published(release.moved(out), verdict, out, private, last_moment(release, out.name, order.chain))


def _write_here(order: Order, folder: Path) -> tuple[Release, Audit]:
    table, restore = order.hold()
    release = make(order, table, restore)
    release.write(folder, format=order.format or "csv")
    written = Release.load(folder)
    written.placements = release.placements
    verdict, evidence = judge_with_evidence(written, table, order.policy)
    verdict.refuse_broken()
    release.ledger = ledger_for(evidence, order.chain)
    return release, told_beside(verdict, order.chain)


def _refuse_undoing(out: Path, after: Earlier) -> None:
    """A release cannot take the place of one that it comes after."""
    if any(folder.resolve() == out.resolve() for folder in listed(after)):
        what = "is one of the earlier releases, and would be replaced."
        raise InputError.at(str(out), what, "Choose another place.")


def _write_private(folder: Path, verdict: Audit, release: Release, seed: int | None) -> None:
    documents = {"audit": verdict.describe(), "plan": dict(release.notes), "seed": {"seed": seed}}
    for name, document in documents.items():
        text = json.dumps(document, indent=2, ensure_ascii=False, default=str)
        write_text(folder / f"{name}.json", text + "\n")
