"""What an adversary sees of a release: which groups of rows she can tell apart with what she knows."""

from collections.abc import Iterator
from dataclasses import dataclass

from manyveils.policy import Promise
from manyveils.reading.evidence import BUCKET, Evidence, Key
from manyveils.reading.guardians import known_with
from manyveils.release import View
from manyveils.release.views import ColumnFile


@dataclass(frozen=True)
class Sight:
    """Some protected attributes in one published column; rows alike in `key` are one group.

    Where `is_spread`, what is known stands in several columns of buckets: no bucket is found for certain, and the
    adversary weighs those that match what she has `known`.
    """

    view: View
    file: ColumnFile
    key: Key
    shows: tuple[str, ...]
    known: frozenset[str]
    is_spread: bool


def sight(
    promise: Promise,
    view: View,
    file: ColumnFile,
    known: frozenset[str],
    others: frozenset[str] = frozenset(),
) -> Sight:
    """See one column with the knowledge of some attributes, and of `others` once a person's bucket is found.

    Claim: rows of one group cannot be told apart by anyone who knows `known` and nothing else.
    Why: inside a bucket the columns of a view are published as separate multisets, so only what stands in the
    same column as the protected value tells anything more about it than the bucket does; and a bucket can be
    found only by something known that stands in the view.
    Whoever finds a bucket by one column is taken to be sure of it; by several, she is not (`is_spread`), and
    knowing `others` besides never makes her less sure.
    Tested by: tests/claims/test_audit_groups.py
    """
    first = known - frozenset(promise.protects)
    useful = first | (others - frozenset(promise.protects))
    located = view.bucketed and not useful.isdisjoint(view.attributes)
    beside = tuple(name for name in file.attributes if name in useful)
    shows = tuple(name for name in promise.protects if name in file.attributes)
    holders = sum(not first.isdisjoint(other.attributes) for other in view.files)
    key = (BUCKET, *beside) if located else beside
    return Sight(view, file, key, shows, useful & {*view.attributes}, view.bucketed and holders > 1)


def known_in(view: View, promise: Promise, evidence: Evidence) -> frozenset[str]:
    """What someone who knows `given` knows of a view: also what follows from it, and what she reaches over other views."""
    given = frozenset(known_with(promise, evidence))
    return given | _reachable(view, given - frozenset(promise.protects), evidence)


def other_sensitive(promise: Promise, evidence: Evidence) -> frozenset[str]:
    """The columns of the sensitive attributes that the promise does not protect.

    The 0/1 columns of one multi-valued attribute are one attribute, not others to each other.
    """
    expand = evidence.table.expand
    others = (name for name in evidence.policy.sensitive if not set(expand((name,))) & set(promise.protects))
    return frozenset(column for name in others for column in expand((name,)))


def columns_with(attributes: frozenset[str], evidence: Evidence) -> Iterator[tuple[View, ColumnFile]]:
    """The published columns that hold one of the attributes."""
    for view in evidence.release.views:
        for file in view.files:
            if not attributes.isdisjoint(file.attributes):
                yield view, file


def columns_for(promise: Promise, view: View, evidence: Evidence) -> tuple[ColumnFile, ...]:
    """The columns of a view in which a promise is judged.

    One about sizes looks at the columns that show something sensitive. A view that shows nothing sensitive still
    tells people apart by what is known of them; one of a single attribute lists how often values occur, and has no
    row that could be somebody's.
    """
    sensitive = frozenset(promise.protects) or frozenset(evidence.table.expand(evidence.policy.sensitive))
    shown = tuple(file for file in view.files if not sensitive.isdisjoint(file.attributes))
    if shown or promise.protects or len(view.attributes) < 2:
        return shown
    known = known_in(view, promise, evidence)
    return tuple(file for file in view.files if not known.isdisjoint(file.attributes))


def _reachable(view: View, given: frozenset[str], evidence: Evidence) -> frozenset[str]:
    """Attributes of the view that a chain of other, overlapping views joins to `given` (guardian tables, Q*)."""
    reached, grew = set(given), True
    while grew:
        before = len(reached)
        for other in evidence.release.views:
            if other is not view and not reached.isdisjoint(other.attributes):
                reached.update(other.attributes)
        grew = len(reached) > before
    return frozenset(reached & set(view.attributes))
