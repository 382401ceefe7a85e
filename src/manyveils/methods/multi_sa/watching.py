"""What an adversary finds in the one table: beside what she knows, and by dependencies."""

from collections.abc import Iterator
from dataclasses import replace

from manyveils.errors import InfeasibleError, Problem
from manyveils.methods.guardian.demands import column_dependencies
from manyveils.policy.guarantees import EntropyDiversity, Promise, RecursiveDiversity
from manyveils.policy.rules import PrivacyRule, known_from, tellers
from manyveils.promises.entries import dense
from manyveils.promises.keeping import Watch, watch
from manyveils.promises.work import Work


def watches_of(work: Work, columns: tuple[tuple[str, ...], ...]) -> Iterator[Watch]:
    """Every promise, against those who find something they know beside what is protected.

    The sensitive column is the last.
    """
    table, dependencies = work.table, column_dependencies(work)
    for promise in work.promises:
        given = known_from(frozenset(promise.given), dependencies) - set(promise.protects)
        # Without a sensitive attribute, k speaks of rows alike in what is known, wherever it stands.
        for column in columns if not (promise.protects or work.sensitive) else columns[-1:]:
            known = tuple(name for name in column if name in given)
            beside = dense(table.codes(known), table.sizes(known), table.n_rows) if known else None
            # Who knows something of the other column only is sure of the bucket.
            asked = promise if given and not known else _of_mixtures(promise)
            yield from watch((asked,), table, work.sensitive, beside=beside)


def _of_mixtures(promise: Promise) -> Promise:
    """What every bucket must keep so that any mixture of buckets keeps the promise.

    Who is unsure of the bucket weighs several. Where values are exempt, a bucket of nothing else keeps entropy and
    recursive diversity as an exception, and a mixture with others is none.
    """
    is_exempt = isinstance(promise.guarantee, EntropyDiversity | RecursiveDiversity) and promise.insensitive
    return replace(promise, insensitive=frozenset()) if is_exempt else promise


def refuse_ties(work: Work) -> None:
    """Refuse if a known dependency ties something unknown to what is protected: one table shows both."""
    problems = [
        Problem(
            f"{work.policy.name}: {work.subject_of(promise)}",
            f"known dependencies tie it to {', '.join(ties)}, and multi-sa publishes all in one table.",
            'Use method = "guardian", or drop the dependency if it need not be known.',
        )
        for promise in work.promises
        if (ties := list(_ties(work, promise)))
    ]
    if problems:
        raise InfeasibleError(dict.fromkeys(problems))


def _ties(work: Work, promise: Promise) -> Iterator[str]:
    """The published attributes that could rule out protected values, for those who know anything of the table."""
    dependencies = column_dependencies(work)
    known = known_from(frozenset(promise.given), dependencies) - set(promise.protects)
    if len(promise.protects) != 1 or known.isdisjoint(work.published):
        return
    found = tellers(PrivacyRule(frozenset(promise.given), promise.protects[0]), dependencies)
    yield from dict.fromkeys(work.table.home(name) for name in work.published if name in found)
