"""What an adversary sees of a release: which groups of rows she can tell apart, and which views she can compare."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence, Key
from manyveils.release import View
from manyveils.release.bare import BareRelease
from manyveils.release.seal import BUCKET
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


def sight_of(
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
    protected = frozenset(promise.protects)
    first = known - protected
    useful = first | (others - protected)
    located = view.bucketed and not useful.isdisjoint(view.attributes)
    beside = tuple(name for name in file.attributes if name in useful)
    shows = tuple(name for name in promise.protects if name in file.attributes)
    n_holders = sum(not first.isdisjoint(column) for column in view.columns)
    key = (BUCKET, *beside) if located else beside
    return Sight(view, file, key, shows, useful & {*view.attributes}, view.bucketed and n_holders > 1)


def columns_for(promise: Promise, view: View, evidence: Evidence) -> tuple[ColumnFile, ...]:
    """The columns of a view in which a promise is judged: those that show what it protects.

    A promise about sizes looks at the columns that show something sensitive. A view that shows nothing sensitive still
    tells people apart by what is known of them; one of a single attribute lists how often values occur, and has no
    row that could be somebody's, unless something else published it (`has_rows`).
    """
    sensitive = frozenset(promise.protects) or frozenset(evidence.table.expand(evidence.policy.sensitive))
    shown = tuple(file for file in view.files if not sensitive.isdisjoint(file.attributes))
    if shown or promise.protects or not has_rows(view, evidence):
        return shown
    known = known_in(view, promise, evidence)
    return tuple(file for file in view.files if not known.isdisjoint(file.attributes))


def has_rows(view: View, evidence: Evidence) -> bool:
    """Whether the rows of a view are people's: one attribute in a view of ours is a list of values and no more.

    A bare table is the rows of people whatever it shows of them, and candidates are told by few attributes.
    """
    return len(view.attributes) > 1 or isinstance(evidence.release, BareRelease)


def known_in(view: View, promise: Promise, evidence: Evidence) -> frozenset[str]:
    """What someone who knows `given` knows of a view: also what follows from it, and what she reaches over other views.

    She reaches attributes over a chain of overlapping views (guardian tables, Q*).
    """
    given = _known_with(promise, evidence)
    others = (other.attributes for other in evidence.release.views if other is not view)
    return frozenset(given | (_reached(given, others) & {*view.attributes}))


def other_sensitive(promise: Promise, evidence: Evidence) -> frozenset[str]:
    """The columns of the sensitive attributes that the promise does not protect.

    The 0/1 columns of one multi-valued attribute are one attribute, not others to each other.
    """
    columns = [{*evidence.table.expand((name,))} for name in evidence.policy.sensitive]
    return frozenset().union(*(names for names in columns if names.isdisjoint(promise.protects)))


def views_beyond_the_guardian(promise: Promise, evidence: Evidence) -> list[View]:
    """The views in which someone who knows what a rule gives reaches what it protects, but for one.

    Claim: if there is none, what she learns comes from a single view, and judging that view is enough.
    Why: views tell her something of a person only along chains of shared attributes. If what is protected could be
    reached in two views, each alone might be fine and their comparison not.
    Tested by: tests/claims/test_audit_guardians.py
    """
    views, protected, sources = evidence.release.views, {*promise.protects}, _sources(promise, evidence)
    reached = _reached(_known_with(promise, evidence), ({*view.attributes} - protected for view in views))
    telling = [
        view
        for view in evidence.showing(frozenset(protected | sources))
        if reached & {*view.attributes} - protected
    ]
    # A view that tells of it by a known dependency alone cannot be judged, so it is no guardian.
    guardians = [view for view in telling if not sources & {*view.attributes}]
    return [view for view in telling if view not in guardians[:1]]


def _known_with(promise: Promise, evidence: Evidence) -> set[str]:
    """What someone who knows what is given can work out by the policy's dependencies."""
    known, dependencies = {*promise.given}, _dependencies(evidence)
    for _ in dependencies:
        for source, target in dependencies:
            known |= target if source <= known else set()
    return known - {*promise.protects}


def _sources(promise: Promise, evidence: Evidence) -> set[str]:
    """Attributes that are not known, and that dependencies of the policy tie to what is protected."""
    known = _known_with(promise, evidence)
    ties = [(source | target) - known for source, target in _dependencies(evidence)]
    return _reached({*promise.protects}, ties) - {*promise.protects}


def _dependencies(evidence: Evidence) -> list[tuple[set[str], set[str]]]:
    expand = evidence.table.expand
    return [({*expand(rule.from_)}, {*expand([rule.to])}) for rule in evidence.policy.dependencies]


def _reached(start: set[str], links: Iterable[Collection[str]]) -> set[str]:
    """All names that a chain of links, each sharing a name with those before it, joins to the first ones.

    >>> sorted(_reached({"a"}, ["cd", "ab", "bc", "ef"]))
    ['a', 'b', 'c', 'd']
    """
    # A link of one name joins nothing.
    reached, apart = set(start), [{*link} for link in links if len(link) > 1]
    while joined := [link for link in apart if reached & link]:
        reached.update(*joined)
        apart = [link for link in apart if link not in joined]
    return reached
