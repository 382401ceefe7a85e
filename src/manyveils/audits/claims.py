"""Whether the manifest promises what holds: every claim in it is a promise, and is judged as one.

A claim that the policy makes too is judged as the policy's. Any other is judged by itself, for those who know what this
policy takes to be known.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from manyveils.audits.finding import Finding, count_of_faults
from manyveils.audits.judge import judge_promised
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    ABOUT_ROWS,
    GUARANTEES,
    Diverse,
    Elimination,
    Guarantee,
    KeyAnonymity,
    KnownItems,
    PopulationSize,
)
from manyveils.reading.evidence import Evidence
from manyveils.release import Release
from manyveils.release.seal import described_promises
from manyveils.table import Table, resolve
from manyveils.table.resolve import resolve_one

Claim = Mapping[str, Any]
# No policy may ask for more known items.
MOST_KNOWN = 4


def claim_findings(evidence: Evidence, *, is_unchanged: bool = False) -> Iterator[Finding]:
    """How many claims do not hold, and how many are not what this policy promises.

    A claim that is not this policy's may be about someone who knows less. Where the release is as it was published
    (`is_unchanged`), its own audit has judged it, and what does not hold for this policy binds nobody.

    Claim: in a release that is kept and was made with this policy, or with another one that takes the same to be known
    and the same values to need no protection, every line of the manifest's promises holds for those who know that.
    Why: a line that describes a promise of the policy is judged as that; any other is read back into the promise that
    it describes, word for word, and judged; what cannot be read or judged does not hold.
    Tested by: tests/claims/test_claims_true.py
    """
    table = whole(evidence)
    others = claims_besides(evidence.release, evidence.policy, table)
    n_false = sum(not _holds(evidence, claim, table) for claim in others)
    n_false += not others and _is_disordered(evidence.release, evidence.policy, table)
    yield replace(count_of_faults("claims-true", n_false), promised=not (n_false and is_unchanged))
    yield from of_another_policy(others)


def claims_elsewhere(evidence: Evidence) -> Iterator[Finding]:
    """The same where rows are elsewhere: whether other claims than the policy's hold is not looked at there."""
    table = whole(evidence)
    others = claims_besides(evidence.release, evidence.policy, table)
    n_disordered = int(_is_disordered(evidence.release, evidence.policy, table))
    yield replace(count_of_faults("claims-true", None if others else n_disordered), promised=not others)
    yield from of_another_policy(others)


def of_another_policy(others: Sequence[Claim]) -> Iterator[Finding]:
    """That claims are not those of this policy, which is no fault: the release may have been made for another."""
    if others:
        yield replace(count_of_faults("claims-of-policy", len(others)), promised=False)


def claims_besides(release: Release, policy: Policy, table: Table) -> list[Claim]:
    """What the manifest claims and this policy does not promise; what stands there twice is claimed twice."""
    own, others = [json.dumps(claim) for claim in own_claims(policy, table)], []
    for claim in release.manifest.promises:
        # Compared as texts, to which 3 and 3.0 are two.
        if json.dumps(claim) in own:
            own.remove(json.dumps(claim))
        else:
            others.append(claim)
    return others


def _is_disordered(release: Release, policy: Policy, table: Table) -> bool:
    """Whether claims that are all the policy's stand in another order than its promises, which could tell something."""
    written, own = (
        [json.dumps(claim) for claim in claims]
        for claims in (release.manifest.promises, own_claims(policy, table))
    )
    return written != [claim for claim in own if claim in written]


def own_claims(policy: Policy, table: Table) -> tuple[Claim, ...]:
    """What a release of this policy claims; what is kept by hiding comes last."""
    promises = resolve(policy, table, is_made=True)
    return described_promises(sorted(promises, key=_is_kept_by_hiding), table)


def _is_kept_by_hiding(promise: Promise) -> bool:
    return isinstance(promise.guarantee, KnownItems)


def whole(evidence: Evidence) -> Table:
    """The original, of which promises speak as of all people."""
    return replace(evidence.table, n_rows=evidence.n_people, weights=None)


def _holds(evidence: Evidence, claim: Claim, table: Table) -> bool:
    try:
        promise = read_claim(claim, evidence.policy)
        if promise is None or not (
            _may_be_promised(promise, table) and _can_be_asked(promise.guarantee, table)
        ):
            return False
        asked = resolve_one(promise, evidence.policy, table)
        found = [finding for part in asked for finding in judge_promised(evidence, part)]
    except Exception:
        # Whoever edits a manifest may write anything; what cannot be judged does not hold.
        return False
    return bool(found) and all(finding.kept for finding in found)


def _may_be_promised(promise: Promise, table: Table) -> bool:
    """Whether a policy could promise it: thresholds that it may have, of values that there are, about what it speaks of."""
    guarantee = promise.guarantee
    numbers = [getattr(guarantee, field.name) for field in fields(guarantee) if field.name != "l_level"]
    whole_numbers = [number for number in numbers if isinstance(number, int)]
    if min(whole_numbers, default=1) < 1 or any(isinstance(own, Fraction) and own < 0 for own in numbers):
        return False
    if isinstance(guarantee, ABOUT_ROWS):
        is_small = not isinstance(guarantee, KnownItems) or guarantee.known_items <= MOST_KNOWN
        is_about_rows = not promise.protects or isinstance(guarantee, Elimination)
        return is_small and is_about_rows and not promise.is_rule and not promise.conditional
    return bool(promise.protects) and (
        not isinstance(guarantee, Diverse) or _are_values(guarantee, promise, table)
    )


def _are_values(guarantee: Diverse, promise: Promise, table: Table) -> bool:
    """Whether the values that have an l of their own are values, or labels of the level that is asked for."""
    if not (guarantee.l_level or guarantee.l_of):
        return True
    attribute = table.attributes.get(promise.protects[0])
    if attribute is None or not 0 <= guarantee.l_level <= attribute.levels.highest:
        return False
    shown = {*attribute.texts, *attribute.at_level(guarantee.l_level).texts}
    return all(l >= 1 and value in shown for value, l in guarantee.l_of)


def _can_be_asked(guarantee: Guarantee, table: Table) -> bool:
    """Whether there is what a guarantee speaks of: a population, or an attribute with several values in a cell."""
    if isinstance(guarantee, KnownItems):
        return guarantee.attribute in table.derived
    return not isinstance(guarantee, PopulationSize) or table.population is not None


def read_claim(claim: Claim, policy: Policy) -> Promise | None:
    """The promise that a line of a manifest describes, by the roles of a policy; None if there is none."""
    try:
        guarantee = _guarantee(claim)
        given, protects, is_rule = _about(claim, policy)
        is_published = {*given, *protects, *_named_by(guarantee)} <= {*policy.published}
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    if not is_published or not (given or protects):
        # Where nothing is known, nobody is looked for, and any size would hold.
        return None
    if isinstance(guarantee, KeyAnonymity):
        given = guarantee.attributes
    harmless = policy.attributes[protects[0]].insensitive if len(protects) == 1 else ()
    is_conditional = claim.get("conditional") is True
    promise = Promise(guarantee, given, protects, frozenset(harmless), is_conditional, is_rule)
    # What is written otherwise than we write it could be a mark.
    return promise if json.dumps(promise.describe()) == json.dumps(claim) else None


def _guarantee(claim: Claim) -> Guarantee:
    [kind] = [kind for kind in GUARANTEES if kind.kind == claim["kind"]]
    return kind.told(claim["parameters"])


def _named_by(guarantee: Guarantee) -> tuple[str, ...]:
    """The attributes that a guarantee names among its parameters."""
    match guarantee:
        case KeyAnonymity():
            return guarantee.attributes
        case KnownItems():
            return (guarantee.attribute,)
        case Elimination():
            return guarantee.ruled_out
    return ()


def _about(claim: Claim, policy: Policy) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """What is known, what is protected, and whether that is a rule's."""
    if "rule" in claim:
        return tuple(claim["rule"]["given"]), (str(claim["rule"]["protect"]),), True
    protects = [claim["attribute"]] if "attribute" in claim else claim.get("attributes", [])
    return policy.quasi, tuple(str(name) for name in protects), False
