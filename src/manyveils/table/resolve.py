"""What the promises of a policy mean for the columns of one table."""

from collections.abc import Iterator
from dataclasses import replace

from manyveils.errors import PolicyError, Problem
from manyveils.policy.guarantees import (
    CappedShare,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    Ground,
    Guarantee,
    KAnonymity,
    Promise,
    RecursiveDiversity,
    SupersetCloseness,
)
from manyveils.policy.model import Policy
from manyveils.policy.promises import alpha_beta_k_of, promises_of
from manyveils.table.attributes import Table

DIVERSITY = (DistinctDiversity, EntropyDiversity, RecursiveDiversity)


def resolve(policy: Policy, table: Table) -> tuple[Promise, ...]:
    """The promises in terms of columns: natural ground distances filled in, multi-valued attributes bit by bit.

    A multi-valued attribute is protected value by value: of each value, l (of any kind) says that nobody
    may be given it with more than 1/l certainty. Not having a value needs no protection.
    """
    problems: list[Problem] = []
    problems += _unknown_values(promises_of(policy), table)
    resolved = tuple(
        part for promise in promises_of(policy) for part in _resolve_one(promise, policy, table, problems)
    )
    if problems:
        raise PolicyError(problem.within(policy.name) for problem in dict.fromkeys(problems))
    return resolved


def _resolve_one(
    promise: Promise, policy: Policy, table: Table, problems: list[Problem]
) -> Iterator[Promise]:
    given = table.expand(promise.given)
    if isinstance(promise.guarantee, KAnonymity):
        if promise.guarantee.k > table.n_people:
            what = f"k = {promise.guarantee.k} but there are {table.n_people} rows."
            section = "guarantee" if policy.guarantee.k == promise.guarantee.k else "publish"
            problems.append(Problem(f"{section}.k", what, "Lower k."))
        yield replace(promise, given=given)
        return
    for columns in _combinations(promise.protects, table):
        is_bit = any(name not in policy.attributes for name in columns)
        guarantee = _grounded(promise.guarantee, columns, policy, table, is_bit=is_bit)
        insensitive = _insensitive_bits(columns, promise, table) if is_bit else promise.insensitive
        if insensitive is None or not _concerns(promise.guarantee, columns, table, is_bit=is_bit):
            continue
        found = list(_misfits(guarantee, columns, policy, table, is_bit=is_bit))
        problems += found
        if not found:
            yield replace(
                promise, guarantee=guarantee, given=given, protects=columns, insensitive=insensitive
            )


def _combinations(names: tuple[str, ...], table: Table) -> list[tuple[str, ...]]:
    combinations: list[tuple[str, ...]] = [()]
    for name in names:
        combinations = [(*before, column) for before in combinations for column in table.expand((name,))]
    return combinations


def _insensitive_bits(columns: tuple[str, ...], promise: Promise, table: Table) -> frozenset[str] | None:
    """Nothing for a combination; `0` for a value that needs protection; None for one that needs none."""
    if len(columns) > 1:
        return frozenset()
    return None if table.atom(columns[0]) in promise.insensitive else frozenset({"0"})


def _grounded(
    guarantee: Guarantee, columns: tuple[str, ...], policy: Policy, table: Table, *, is_bit: bool
) -> Guarantee:
    if is_bit and len(columns) == 1 and isinstance(guarantee, DIVERSITY):
        return FrequencyDiversity(guarantee.l)
    if isinstance(guarantee, CappedShare) and (is_bit or len(columns) > 1):
        return replace(guarantee, values=())
    if isinstance(guarantee, Closeness | SupersetCloseness):
        return replace(guarantee, ground=_ground(guarantee.ground, columns, table, is_bit=is_bit))
    return guarantee


def _concerns(guarantee: Guarantee, columns: tuple[str, ...], table: Table, *, is_bit: bool) -> bool:
    """Whether a share that is capped for listed values speaks of any value here; combinations are all capped."""
    if not isinstance(guarantee, CappedShare) or not guarantee.values or len(columns) > 1:
        return True
    held = (table.atom(columns[0]) or "",) if is_bit else table[columns[0]].texts
    return bool(set(guarantee.values) & set(held))


def _unknown_values(promises: tuple[Promise, ...], table: Table) -> Iterator[Problem]:
    """Values listed in alpha_values that stand nowhere: a misspelt one would promise nothing."""
    held: dict[tuple[str, ...], set[str]] = {}
    for promise in promises:
        if (
            isinstance(promise.guarantee, CappedShare)
            and promise.guarantee.values
            and len(promise.protects) == 1
        ):
            name = promise.protects[0]
            atoms = [table.atom(column) or "" for column in table.derived.get(name, ())]
            texts = atoms if name in table.derived else table[name].texts
            held.setdefault(promise.guarantee.values, set()).update(texts)
    for values, found in held.items():
        unknown = len(set(values) - found)
        if unknown:
            what = f"{unknown} of {len(values)} values do not occur in the data."
            yield Problem("guarantee.alpha_values", what, "Correct the spelling or drop them.")


def _ground(asked: str, columns: tuple[str, ...], table: Table, *, is_bit: bool) -> Ground:
    if is_bit or len(columns) > 1:
        return "equal"
    if asked:
        return asked  # type: ignore[return-value]
    return "equal" if table[columns[0]].kind == "categorical" else "ordered"


def _misfits(
    guarantee: Guarantee, columns: tuple[str, ...], policy: Policy, table: Table, *, is_bit: bool
) -> Iterator[Problem]:
    # The name of a 0/1 column holds a value of the data, so messages name the attribute it comes from.
    subject = "+".join(table.home(name) for name in columns)
    if guarantee.numeric_only and (is_bit or any(table[name].kind != "numeric" for name in columns)):
        yield Problem(
            f"guarantee of {subject}",
            f"{guarantee.kind} needs numbers, and the attribute is not numeric.",
            "Move it to [attributes.NAME.guarantee] of a numeric attribute.",
        )
    if isinstance(guarantee, Closeness | SupersetCloseness):
        if guarantee.ground == "hierarchical" and len(table[columns[0]].levels) < 3:
            yield Problem(
                f"guarantee of {subject}",
                "ground = hierarchical needs a hierarchy with groups.",
                "Give the attribute one.",
            )
        if guarantee.ground == "ordered" and table[columns[0]].kind == "categorical":
            yield Problem(
                f"guarantee of {subject}",
                "ground = ordered needs an order.",
                'Set kind = "ordinal" or "numeric".',
            )
    if isinstance(guarantee, DIVERSITY) and len(columns) == 1:
        n_values = table[columns[0]].n_values
        if guarantee.l > n_values:
            key = "l" if policy.guarantee.l == guarantee.l or alpha_beta_k_of(policy) is None else "beta"
            yield Problem(
                f"guarantee of {subject}",
                f"{key} = {guarantee.l} but the attribute has {n_values} different values.",
                f"Lower {key} to {n_values}.",
            )
