"""Whether the views of a release can be played off against each other to break a rule."""

from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.release import View


def views_beyond_the_guardian(promise: Promise, evidence: Evidence) -> list[View]:
    """The views in which someone who knows what a rule gives reaches what it protects, but for one.

    Claim: if there is none, what she learns comes from a single view, and judging that view is enough.
    Why: views tell her something of a person only along chains of shared attributes. If what is protected could be
    reached in two views, each alone might be fine and their comparison not.
    Tested by: tests/claims/test_audit_guardians.py
    """
    protected, sources = set(promise.protects), _sources(promise, evidence)
    telling = [view for view in evidence.release.views if (protected | sources) & set(view.attributes)]
    reached = [view for view in telling if _reached(view, promise, evidence)]
    # A view that tells of it by a known dependency alone cannot be judged, so it is no guardian.
    guardians = [view for view in reached if not sources & set(view.attributes)]
    return [view for view in reached if view not in guardians[:1]]


def _sources(promise: Promise, evidence: Evidence) -> set[str]:
    """Attributes that are not known, and that dependencies of the policy tie to what is protected."""
    known, found = known_with(promise, evidence), set(promise.protects)
    groups = [left | right for left, right in _dependencies(evidence)]
    for _ in groups:
        for together in groups:
            if found & together:
                found |= together - known
    return found - set(promise.protects)


def known_with(promise: Promise, evidence: Evidence) -> set[str]:
    """What someone who knows what is given can work out by the policy's dependencies."""
    known = set(promise.given)
    pairs = _dependencies(evidence)
    for _ in pairs:
        for left, right in pairs:
            if left <= known:
                known |= right
    return known - set(promise.protects)


def _dependencies(evidence: Evidence) -> list[tuple[set[str], set[str]]]:
    expand = evidence.table.expand
    return [(set(expand(each.from_)), set(expand([each.to]))) for each in evidence.policy.dependencies]


def _reached(view: View, promise: Promise, evidence: Evidence) -> bool:
    """Whether a chain of views leads from something given into this one, beside what is protected."""
    known, front = known_with(promise, evidence), True
    protected = set(promise.protects)
    while front:
        size = len(known)
        for other in evidence.release.views:
            shown = set(other.attributes) - protected
            if known & shown:
                known |= shown
        front = len(known) > size
    return bool(known & (set(view.attributes) - protected))
