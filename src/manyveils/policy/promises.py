"""What a policy promises, attribute by attribute."""

from collections.abc import Iterator
from dataclasses import replace

from manyveils.errors import InfeasibleError, Problem
from manyveils.policy.alpha_beta_k import AlphaBetaK, keys_of, ruled_out
from manyveils.policy.guarantees import (
    AlphaDifference,
    DistinctDiversity,
    Elimination,
    FrequencyDiversity,
    JournalistRisk,
    KAnonymity,
    KeyAnonymity,
    KMap,
    KnownItems,
    MarketerRisk,
    ProsecutorRisk,
    asked_by,
)
from manyveils.policy.model import Policy
from manyveils.policy.promise import Promise
from manyveils.policy.rules import Dependency, PrivacyRule, Rules, breaking, settle
from manyveils.policy.sections import GuaranteeKeys, Rule


def promises_of(policy: Policy) -> tuple[Promise, ...]:
    """Every promise of the policy: about rows, about each sensitive attribute, about combinations, by rule."""
    promises = (
        *_about_rows(policy),
        *_about_items(policy),
        *_about_attributes(policy),
        *_about_eliminations(policy),
        *_about_combinations(policy),
        *_by_rule(policy),
    )
    return tuple(dict.fromkeys(promises))


def _about_rows(policy: Policy) -> Iterator[Promise]:
    method_keys = alpha_beta_k_of(policy)
    ks = [policy.guarantee.k, method_keys.k if method_keys else None]
    if any(ks):
        yield Promise(KAnonymity(max(k for k in ks if k)), given=policy.quasi)
    for kind in (ProsecutorRisk, MarketerRisk, KMap, JournalistRisk):
        guarantee = kind.asked(policy.guarantee)
        if guarantee is not None:
            yield Promise(guarantee, given=policy.quasi)
    for key in policy.keys:
        given = tuple(name for name in policy.quasi if name in key.attributes)
        yield Promise(KeyAnonymity(key.k, given), given)


def _about_items(policy: Policy) -> Iterator[Promise]:
    for name in policy.sensitive:
        keys = effective(policy, name)
        if policy.attributes[name].multivalued and keys.known_items and policy.guarantee.k:
            yield Promise(KnownItems(policy.guarantee.k, keys.known_items, name), policy.quasi)


def alpha_beta_k_of(policy: Policy) -> AlphaBetaK | None:
    """What the method of that name promises by its own keys; None for other methods."""
    keys = keys_of(policy.publish.model_dump(exclude_unset=True))
    return None if keys is None else AlphaBetaK.model_validate(keys)


def _about_attributes(policy: Policy) -> Iterator[Promise]:
    _refuse_hopeless_roles(policy)
    for name in policy.sensitive:
        section = effective(policy, name)
        insensitive = frozenset(policy.attributes[name].insensitive)
        for guarantee in asked_by(section):
            promise = Promise(guarantee, policy.quasi, (name,), insensitive, section.conditional)
            if promise.conditional and not promise.merging_keeps:
                # Holding for those who know more does not imply holding for those who know less.
                yield replace(promise, conditional=False)
            yield promise


def _about_eliminations(policy: Policy) -> Iterator[Promise]:
    """(α,β,k)-anonymity: β is diversity under its own name, and α speaks of pairs of attributes."""
    method_keys = alpha_beta_k_of(policy)
    for name in policy.sensitive:
        insensitive = frozenset(policy.attributes[name].insensitive)
        if method_keys:
            yield Promise(DistinctDiversity(method_keys.beta), policy.quasi, (name,), insensitive)
        for keys in (effective(policy, name), method_keys):
            if keys is not None and keys.eliminations is not None:
                others = ruled_out(name, policy.sensitive, keys.pairs or "all", keys.sensitive_order)
                if others:
                    by_letter = isinstance(keys, AlphaBetaK) and keys.alpha_reading == "paper"
                    elimination = (AlphaDifference if by_letter else Elimination)(keys.eliminations, others)
                    yield Promise(elimination, policy.quasi, (name,), insensitive)


def _refuse_hopeless_roles(policy: Policy) -> None:
    """Roles are rules too: what the quasi-identifiers decide, or what decides one of them, cannot be promised."""
    known = dependencies_of(policy)
    rules = [PrivacyRule(frozenset(policy.quasi), name) for name in policy.sensitive]
    what = "nothing can be promised of it against someone who knows {}."
    remedy = "Drop the dependency if it need not be known, or change the roles."
    InfeasibleError.refuse(
        Problem(f"{policy.name}: {rule.protect}", what.format("; ".join(map(str, chain))), remedy)
        for rule in rules
        if (chain := breaking(rule, known))
    )


def dependencies_of(policy: Policy) -> list[Dependency]:
    """What an adversary may know, between attributes."""
    return [Dependency(frozenset(dependency.from_), dependency.to) for dependency in policy.dependencies]


def _about_combinations(policy: Policy) -> Iterator[Promise]:
    for joint in policy.guarantee.joint:
        for guarantee in asked_by(policy.guarantee):
            if not guarantee.numeric_only:
                yield Promise(guarantee, policy.quasi, tuple(joint))


def _by_rule(policy: Policy) -> Iterator[Promise]:
    """A promise for every rule as written, and for those that known dependencies add."""
    settled = rules_of(policy)
    what = (
        "cannot be promised against someone who knows {}: it leads from what is given to what is protected, "
    )
    what += "or rules values out."
    remedy = "Drop the rule, or the dependency if it need not be known."
    InfeasibleError.refuse(
        Problem(f"{policy.name}: rule {rule}", what.format("; ".join(map(str, chain))), remedy)
        for rule, chain in settled.hopeless
    )
    written = [_written(policy, rule) for rule in policy.rules if rule.l or rule.guarantee is None]
    # What only has a guarantee of its own, dependencies part from all that tells of it.
    derived = (rule for rule, _ in settled.derived if rule.l > 1)
    for rule in dict.fromkeys([*written, *derived]):
        given = tuple(name for name in policy.attributes if name in rule.given)
        harmless = frozenset(policy.attributes[rule.protect].insensitive)
        yield Promise(FrequencyDiversity(rule.l), given, (rule.protect,), harmless, is_rule=True)
    for asked in policy.rules:
        given = tuple(name for name in policy.attributes if name in asked.given)
        harmless = frozenset(policy.attributes[asked.protect].insensitive)
        for guarantee in asked_by(asked.guarantee) if asked.guarantee else ():
            yield Promise(guarantee, given, (asked.protect,), harmless, is_rule=True)


def rules_of(policy: Policy) -> Rules:
    """The policy's rules in irreducible form, with what its dependencies add."""
    return settle([_written(policy, rule) for rule in policy.rules], dependencies_of(policy))


def _written(policy: Policy, rule: Rule) -> PrivacyRule:
    # A guarantee of its own is asked instead of l.
    usual = 1 if rule.guarantee is not None else policy.guarantee.l or 2
    return PrivacyRule(frozenset(rule.given), rule.protect, rule.l or usual)


def effective(policy: Policy, attribute: str) -> GuaranteeKeys:
    """The [guarantee] section with the attribute's own keys laid over it."""
    own = policy.attributes[attribute].guarantee
    if own is None:
        return policy.guarantee
    keys = policy.guarantee.model_dump(exclude_unset=True) | own.model_dump(exclude_unset=True)
    return GuaranteeKeys.model_validate(keys)
