"""What the promises of a policy mean for the attributes of one table."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from manyveils.errors import Change, PolicyError, Problem
from manyveils.policy import Promise
from manyveils.policy.guarantees import (
    DistinctDiversity,
    Diverse,
    Guarantee,
    KeyAnonymity,
    KnownItems,
    LeastSize,
    PopulationSize,
)
from manyveils.policy.model import Policy
from manyveils.policy.promises import alpha_beta_k_of, effective, promises_of
from manyveils.table.attributes import Table
from manyveils.wording import counted


def resolve(policy: Policy, table: Table, *, is_made: bool = False) -> tuple[Promise, ...]:
    """The promises in terms of the table: ground distances filled in, multi-valued attributes value by value.

    Of each value of a multi-valued attribute, l (of any kind) says that nobody may be given it with more than
    1/l certainty. Not having a value needs no protection. What no release of the table could keep is refused; where the
    table itself is what was published (`is_made`), it just is not kept.
    """
    promises = promises_of(policy)
    hopeless, problems = [*_unknown_values(promises, policy, table)], [*_missing_levels(policy, table)]
    problems += _of_rows_alone(policy, table)
    resolved = [
        part for promise in promises for part in _resolve_promise(promise, policy, table, problems, hopeless)
    ]
    refused = [*(() if is_made else hopeless), *problems]
    PolicyError.refuse(problem.within(policy.name) for problem in dict.fromkeys(refused))
    if table.persons is not None:
        resolved = [part for promise in resolved for part in _for_less_knowledge(promise)]
    return tuple(dict.fromkeys(resolved))


def _of_rows_alone(policy: Policy, table: Table) -> Iterator[Problem]:
    """What is worked out for people with one row each."""
    if table.persons is not None and any(effective(policy, name).everybody for name in policy.sensitive):
        what = "is not worked out where somebody has several rows."
        yield Problem("guarantee.everybody", what, 'Drop it, or write person = "row" if rows are people.')


def resolve_one(promise: Promise, policy: Policy, table: Table) -> tuple[Promise, ...]:
    """A promise that a release claims, in terms of the table; what does not fit its attributes is refused."""
    problems, hopeless = list[Problem](), list[Problem]()
    resolved = tuple(_resolve_promise(promise, policy, table, problems, hopeless))
    PolicyError.refuse(problem.within(policy.name) for problem in problems)
    return resolved


def _for_less_knowledge(promise: Promise) -> Iterator[Promise]:
    """A promise, and the one it does not imply where somebody has several rows: against those who know less."""
    if promise.conditional and not promise.guarantee.persons_add:
        yield replace(promise, conditional=False)
    yield promise


def _resolve_promise(
    promise: Promise, policy: Policy, table: Table, problems: list[Problem], hopeless: list[Problem]
) -> Iterator[Promise]:
    given = table.expand(promise.given)
    if isinstance(promise.guarantee, PopulationSize) and table.population is not None:
        n_people = int(table.population.counts.sum())
        if promise.guarantee.least_people > n_people:
            what = f"{promise.guarantee.kind} needs {promise.guarantee.least_people} people who look alike, and the "
            what += f"population has {n_people} whose values the hierarchies list."
            hopeless.append(Problem("guarantee", what, "Ask for less, or check the file."))
    if isinstance(promise.guarantee, KnownItems | PopulationSize):
        yield replace(promise, given=given)
        return
    if isinstance(promise.guarantee, LeastSize):
        if promise.guarantee.least_rows > table.n_persons:
            hopeless.append(_too_large(promise.guarantee, policy, table))
        yield replace(promise, given=given)
        return
    for names in product(*(table.expand((name,)) for name in promise.protects)):
        guarantee = _fitted(_grounded(promise.guarantee, names, table), names, policy, table)
        if not _concerns(promise, names, table):
            continue
        misfits = list(_misfits(guarantee, names, policy, table))
        problems += misfits
        hopeless += _too_many(guarantee, names, policy, table)
        if not misfits:
            insensitive = _insensitive(promise, names, table)
            yield replace(promise, guarantee=guarantee, given=given, protects=names, insensitive=insensitive)


def _too_large(guarantee: LeastSize, policy: Policy, table: Table) -> Problem:
    """What is wrong with a group that needs more people than there are."""
    [name, *_], [number, *_] = guarantee.parameters, guarantee.parameters.values()
    if name == "risk":
        key, remedy = guarantee.keys[name], f"Raise it to 1/{table.n_persons}, at least."
        what = f"{number} needs {guarantee.least_rows} people to look alike, and {_there_are(table)}."
        return Problem(f"guarantee.{key}", what, remedy)
    section = "guarantee" if policy.guarantee.k == number else "publish"
    if isinstance(guarantee, KeyAnonymity):
        listed = [{*key.attributes} for key in policy.keys]
        section = f"keys[{listed.index({*guarantee.attributes}) + 1}]"
    changes = (Change("guarantee", "k", table.n_persons),) if section == "guarantee" else ()
    return Problem(f"{section}.k", f"k = {number} but {_there_are(table)}.", "Lower k.", changes)


def _there_are(table: Table) -> str:
    """How many persons there are, in the words of a message."""
    rows = counted(table.n_people, "row")
    if table.persons is None:
        return f"there {'is' if table.n_people == 1 else 'are'} {rows}"
    return f"there {'is' if table.n_persons == 1 else 'are'} {counted(table.n_persons, 'person')} in {rows}"


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
    atom = table.atom(names[0])
    if atom is not None:
        return guarantee.for_one_value(atom)
    return guarantee.with_ground("equal" if table[names[0]].kind == "categorical" else "ordered")


def _fitted(guarantee: Guarantee, names: tuple[str, ...], policy: Policy, table: Table) -> Guarantee:
    """What l counts of one attribute: at the highest level it has, if it has fewer, and with an l of its own values only."""
    if len(names) > 1 or not isinstance(guarantee, Diverse) or not guarantee.terms:
        return guarantee
    level = min(guarantee.level, table[names[0]].levels.highest)
    known = {*_texts(names[0], level, table), *_written(names[0], level, policy, table)}
    l_of = tuple((value, l) for value, l in guarantee.l_of if value in known)
    return replace(guarantee, l_level=level, l_of=l_of)  # type: ignore[call-arg]


def _missing_levels(policy: Policy, table: Table) -> Iterator[Problem]:
    """Levels that were asked of an attribute itself and that it does not have."""
    for name in policy.sensitive:
        own = policy.attributes[name].guarantee
        level = own.l_level if own else None
        # A multi-valued one was refused with the policy.
        if not level or name in table.derived or level <= table[name].levels.highest:
            continue
        highest = table[name].levels.highest
        what = f"l_level = {level}, but the highest level of the hierarchy below the top is {highest}."
        what = what if highest else f"l_level = {level}, but there is no hierarchy with labels to count."
        remedy = (
            f"Lower l_level to {highest}, or add levels." if highest else "Give the attribute a hierarchy."
        )
        yield Problem(f"attributes.{name}.guarantee.l_level", what, remedy)


def _unknown_values(promises: tuple[Promise, ...], policy: Policy, table: Table) -> Iterator[Problem]:
    """Values of alpha_values and l_of that occur nowhere: a misspelt one would promise nothing."""
    texts_of: dict[tuple[str, tuple[str, ...]], set[str]] = {}
    for promise in promises:
        guarantee = promise.guarantee
        if len(promise.protects) > 1:
            continue
        if guarantee.listed:
            texts = texts_of.setdefault(("alpha_values", guarantee.listed), set())
            texts.update(_texts(promise.protects[0], 0, table))
        if guarantee.singled_out:
            texts = texts_of.setdefault(("l_of", guarantee.singled_out), set())
            texts.update(_texts(promise.protects[0], guarantee.level, table))
            texts.update(_written(promise.protects[0], guarantee.level, policy, table))
    for (key, values), texts in texts_of.items():
        unknown = len(set(values) - texts)
        if unknown:
            what = f"{unknown} of {len(values)} values do not occur in the data"
            what += "." if key == "alpha_values" else " or the hierarchy, at the level that l counts."
            yield Problem(f"guarantee.{key}", what, "Correct the spelling or drop them.")


def _texts(name: str, level: int, table: Table) -> tuple[str, ...]:
    """The values of an attribute in the data, or their labels at a level."""
    atoms = tuple(table.atom(derived) or "" for derived in table.derived.get(name, ()))
    return atoms or table[name].at_level(level).texts


def _written(name: str, level: int, policy: Policy, table: Table) -> Iterator[str]:
    """What the lines of a hierarchy have at a level, whether it occurs or not."""
    own = policy.attributes[name].level or 0
    level = own if name in table.derived else min(level, table[name].levels.highest)
    return (line[level] for line in policy.lines(name) or ())


def _about(names: tuple[str, ...], table: Table) -> str:
    """What a problem is about: the name of a derived attribute holds a value of the data, so its home is named."""
    return f"guarantee of {'+'.join(table.home(name) for name in names)}"


def _misfits(guarantee: Guarantee, names: tuple[str, ...], policy: Policy, table: Table) -> Iterator[Problem]:
    where, first = _about(names, table), table[names[0]]
    if guarantee.numeric_only and any(table[name].kind != "numeric" for name in names):
        what = f"{guarantee.kind} needs numbers, and the attribute is not numeric."
        yield Problem(where, what, "Move it to [attributes.NAME.guarantee] of a numeric attribute.")
    ground = guarantee.parameters.get("ground")
    if ground == "hierarchical" and len(first.levels) < 3:
        yield Problem(
            where, "ground = hierarchical needs a hierarchy with groups.", "Give the attribute one."
        )
    if ground == "ordered" and first.kind == "categorical":
        yield Problem(where, "ground = ordered needs an order.", 'Set kind = "ordinal" or "numeric".')


def _too_many(
    guarantee: Guarantee, names: tuple[str, ...], policy: Policy, table: Table
) -> Iterator[Problem]:
    """More values, or persons, than there are."""
    where = _about(names, table)
    l, kinds = getattr(guarantee, "l", 0), table[names[0]].at_level(guarantee.level)
    if guarantee.counts_values and len(names) == 1 and l > kinds.n_values:
        key = "l" if policy.guarantee.l == l or alpha_beta_k_of(policy) is None else "beta"
        counted = f"labels at level {guarantee.level}" if guarantee.level else "values"
        what = f"{key} = {l} but the attribute has {kinds.n_values} different {counted}."
        changes = (Change("guarantee", "l", kinds.n_values, table.home(names[0])),)
        yield Problem(where, what, f"Lower {key} to {kinds.n_values}.", changes if key == "l" else ())
    if table.persons is not None and isinstance(guarantee, DistinctDiversity) and l > table.n_persons:
        what = f"l = {l} but {_there_are(table)}, and each stands for one value at most."
        yield Problem(where, what, f"Lower l to {table.n_persons}.")
    if guarantee.counts_values and isinstance(guarantee, Diverse) and guarantee.singled_out:
        most = max([0, *(guarantee.l_for(text) for text in kinds.texts)])
        if most > max(l, kinds.n_values):
            what = f"l_of asks for {most} but the attribute has {kinds.n_values} different values to count."
            yield Problem(where, what, f"Lower it to {kinds.n_values}, or drop it.")
