"""The trail: policy → table → plan → views → sealed release → audit · attack · utility → report.

Start reading here; each step is one package. `publish` walks the first half, `report` the second;
`examining.py` offers the steps of the second one by one, and `publishing.py` publishes into folders.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyveils.arguments import (
    AnyPolicy,
    AnyPublished,
    Earlier,
    Order,
    Progress,
    beside,
    chain_for,
    is_bare,
    published_after,
    read_policy,
    read_published,
    read_release,
    refuse_for_bare,
    refuse_itself,
    streams_of,
    told_beside,
)
from manyveils.engines import is_for_spark, judge, judge_with_evidence, publish_in_room, publish_on_spark
from manyveils.ledgers import ledger_for, timeline_of
from manyveils.linting import lint
from manyveils.methods import drafts_of, method_of, unused_suppression, work_of
from manyveils.policy import Policy
from manyveils.promises.work import silent
from manyveils.release import Release, seal
from manyveils.release.ledger import Link
from manyveils.streaming.room import Memory
from manyveils.table import Restore, Table, hold
from manyveils.utility import measure

if TYPE_CHECKING:
    from manyveils.reports import Report


def publish(
    data: object,
    policy: AnyPolicy,
    seed: int | None = None,
    after: Earlier = (),
    memory: Memory = None,
) -> Release:
    """Publish data under a policy; the release is audited, and a broken promise is an error instead of a release.

    With `after`, the folders of earlier releases of the same people, it is kept against whoever has all of them.
    Spark publishes its own dataframes. With `memory`, such as "8GB", tables that do not fit are published in so much.
    """
    order = Order(data, policy, seed=seed, after=after, memory=memory)
    if is_for_spark(data, memory=memory):
        return publish_on_spark(order, make)
    if order.room is not None:
        return publish_in_room(order)
    table, restore = order.hold()
    release = make(order, table, restore)
    verdict, evidence = judge_with_evidence(release, table, order.policy)
    verdict.refuse_broken()
    release.ledger = ledger_for(evidence, order.chain)
    return release


def make(order: Order, table: Table, restore: Restore) -> Release:
    """Make and seal a release that has not been audited yet, unless lint finds that it would promise nothing."""
    policy, streams = order.policy, streams_of(order.seed)
    lint(table, policy).refuse()
    work = work_of(policy, table, streams, order.progress, options=order.options)
    drafts = drafts_of(work, method_of(policy).plan(work))
    return seal(
        drafts.views,
        table,
        policy,
        restore,
        notes={**drafts.notes, **({} if table.earlier else unused_suppression(policy))},
        rng=streams.of("seal.buckets"),
        promises=(*work.promises, *work.hiding),
        key=drafts.key,
    )


def report(
    release: AnyPublished,
    data: object,
    policy: AnyPolicy,
    *,
    only: Sequence[str] | None = None,
    seed: int | None = None,
    after: Earlier = (),
    plan: Mapping[str, Any] | None = None,
    comparison: Mapping[str, Any] | None = None,
    evidence: bool = False,
    progress: Progress = silent,
) -> "Report":
    """Lay out what is promised, lost and at risk, for the owner; `only` names the attacks to try, all by default.

    `plan` is how the method went about it, and `comparison` what `compare` found, if there is one. With `after`, the
    folders of earlier releases of the same people, it tells what someone may know who has all of them. With `evidence`
    it has what reviewers ask: three questions and eighteen categories, and what answers them.
    """
    # Loaded only here: whoever publishes need not wait for them.
    from manyveils.attacks import attack
    from manyveils.reports import render, started
    from manyveils.utility.portrait import portrait

    policy, streams = read_policy(policy), streams_of(seed)
    chain, links = chain_for(after, policy), tuple[Link, ...]()
    refuse_itself(release, chain)
    title = _title(release)
    if is_bare(release):
        refuse_for_bare({"after": after or None})
    else:
        links, release = published_after(release), read_release(release)
    table, _ = hold(data, policy)
    release = read_published(release, policy, table)
    document = started(release.manifest.describe(), release.notes if plan is None else plan, comparison)
    told = beside(chain, table, policy)
    others = () if chain is None else tuple(map(read_release, chain.folders))
    # Attacks first: an unknown name is refused before any work is done.
    steps: dict[str, Callable[[], Any]] = {
        "attack": lambda: attack(
            release, told, policy, only=only, others=others, streams=streams, progress=progress
        ),
        "audit": lambda: told_beside(judge(release, told, policy), chain, links),
        "measure": lambda: measure(release, table, policy),
        "portrait": lambda: portrait(release, table, policy),
    }
    if chain is not None:
        steps["chain"] = lambda: timeline_of(release, title, told, policy, chain)
    for n_done, (name, step) in enumerate(steps.items()):
        progress("report", n_done / len(steps))
        document[name] = step().describe()
    if evidence:
        document["evidence"] = _evidence(document, policy)
    return render(document)


def _evidence(document: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """What answers the questions of reviewers, among the results of a report."""
    from manyveils.profiling.safe_harbor import safe_harbor
    from manyveils.reports.evidence import evidence_of

    findings = document["audit"]["findings"]
    exposed = [
        told["attribute"] for told in findings if told["promise"] == "not-exposed" and not told["kept"]
    ]
    return evidence_of(document, safe_harbor(policy, document["manifest"], exposed))


def _title(release: AnyPublished) -> str:
    """What a release is called in a chain."""
    return Path(release).name if isinstance(release, str | Path) else "this"
