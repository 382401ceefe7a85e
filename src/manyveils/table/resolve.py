"""What the promises of a policy mean for the attributes of one table."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from manyveils.errors import PolicyError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import Guarantee, KAnonymity
from manyveils.policy.model import Policy
from manyveils.policy.promises import alpha_beta_k_of, promises_of
from manyveils.table.attributes import Table


def resolve(policy: Policy, table: Table) -> tuple[Promise, ...]:
    """The promises in terms of the table: ground distances filled in, multi-valued attributes value by value.

    Of each value of a multi-valued attribute, l (of any kind) says that nobody may be given it with more than
    1/l certainty. Not having a value needs no protection.
    """
    promises = promises_of(policy)
    problems = list(_unknown_values(promises, table))
    resolved = tuple(
        part for promise in promises for part in _resolve_promise(promise, policy, table, problems)
    )
    PolicyError.refuse(problem.within(policy.name) for problem in dict.fromkeys(problems))
    return resolved


def _resolve_promise(
    promise: Promise, policy: Policy, table: Table, problems: list[Problem]
) -> Iterator[Promise]:
    given = table.expand(promise.given)
    if isinstance(promise.guarantee, KAnonymity):
        k = promise.guarantee.k
        if k > table.n_people:
            section = "guarantee" if policy.guarantee.k == k else "publish"
            what = f"k = {k} but there are {table.n_people} rows."
            problems.append(Problem(f"{section}.k", what, "Lower k."))
        yield replace(promise, given=given)
        return
    for names in product(*(table.expand((name,)) for name in promise.protects)):
        guarantee = _grounded(promise.guarantee, names, table)
        if not _concerns(promise, names, table):
            continue
        misfits = list(_misfits(guarantee, names, policy, table))
        problems += misfits
        if not misfits:
            insensitive = _insensitive(promise, names, table)
            yield replace(promise, guarantee=guarantee, given=given, protects=names, insensitive=insensitive)


def _is_derived(names: tuple[str, ...], table: Table) -> bool:
    """Whether one of the attributes is the 0/1 attribute of a value."""
    return any(table.atom(name) is not None for name in names)


def _insensitive(promise: Promise, names: tuple[str, ...], table: Table) -> frozenset[str]:
    """Not having a value needs no protection; in a combination with other attributes all values count."""
    if not _is_derived(names, table):
        return promise.insensitive
    return frozenset({"0"}) if len(names) == 1 else frozenset()


def _concerns(promise: Promise, names: tuple[str, ...], table: Table) -> bool:
    """Whether a promise says anything of these attributes.

    The derived attribute of an insensitive value is held to closeness alone, for which insensitive values make
    no difference. A capped share may list its values, but caps every combination.
    """
    if len(names) > 1:
        return True
    atom = table.atom(names[0])
    if atom is not None and atom in promise.insensitive and promise.guarantee.spares_insensitive:
        return False
    listed = promise.guarantee.listed
    return not listed or not set(listed).isdisjoint(table[names[0]].texts if atom is None else (atom,))


def _grounded(guarantee: Guarantee, names: tuple[str, ...], table: Table) -> Guarantee:
    if len(names) > 1:
        return guarantee.for_combination()
    if _is_derived(names, table):
        return guarantee.for_one_value()
    return guarantee.with_ground("equal" if table[names[0]].kind == "categorical" else "ordered")


def _unknown_values(promises: tuple[Promise, ...], table: Table) -> Iterator[Problem]:
    """Values of alpha_values that occur nowhere: a misspelt one would promise nothing."""
    texts_of: dict[tuple[str, ...], set[str]] = {}
    for promise in promises:
        guarantee = promise.guarantee
        if guarantee.listed and len(promise.protects) == 1:
            name = promise.protects[0]
            atoms = tuple(table.atom(derived) or "" for derived in table.derived.get(name, ()))
            texts_of.setdefault(guarantee.listed, set()).update(atoms or table[name].texts)
    for values, texts in texts_of.items():
        unknown = len(set(values) - texts)
        if unknown:
            what = f"{unknown} of {len(values)} values do not occur in the data."
            yield Problem("guarantee.alpha_values", what, "Correct the spelling or drop them.")


def _misfits(guarantee: Guarantee, names: tuple[str, ...], policy: Policy, table: Table) -> Iterator[Problem]:
    # The name of a derived attribute holds a value of the data, so messages name the attribute it comes from.
    where = f"guarantee of {'+'.join(table.home(name) for name in names)}"
    first = table[names[0]]
    if guarantee.numeric_only and any(table[name].kind != "numeric" for name in names):
        what = f"{guarantee.kind} needs numbers, and the attribute is not numeric."
        yield Problem(where, what, "Move it to [attributes.NAME.guarantee] of a numeric attribute.")
    ground, l = guarantee.parameters.get("ground"), getattr(guarantee, "l", 0)
    if ground == "hierarchical" and len(first.levels) < 3:
        yield Problem(
            where, "ground = hierarchical needs a hierarchy with groups.", "Give the attribute one."
        )
    if ground == "ordered" and first.kind == "categorical":
        yield Problem(where, "ground = ordered needs an order.", 'Set kind = "ordinal" or "numeric".')
    if guarantee.counts_values and len(names) == 1 and l > first.n_values:
        key = "l" if policy.guarantee.l == l or alpha_beta_k_of(policy) is None else "beta"
        what = f"{key} = {l} but the attribute has {first.n_values} different values."
        yield Problem(where, what, f"Lower {key} to {first.n_values}.")
