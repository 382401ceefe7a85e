"""Ways to make views: each method is one file or folder, found by its name in the policy."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict

from manyveils import plugins
from manyveils.errors import Change, InfeasibleError, PolicyError, Problem
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Elimination, KnownItems, PopulationSize
from manyveils.policy.promises import dependencies_of
from manyveils.policy.rules import PrivacyRule, known_from, tellers
from manyveils.policy.sections import Publish
from manyveils.policy.shape import section_problems, suggest
from manyveils.promises.sightings import about_constants
from manyveils.promises.work import Work as Work
from manyveils.promises.work import silent
from manyveils.release.draft import Drafts
from manyveils.release.plan import FromRows, Plan, carry_out
from manyveils.table import Streams, Table, resolve

if TYPE_CHECKING:
    from manyveils.methods.generalize.demand import Demand

METHODS = (
    "generalize",
    "anatomize",
    "angelize",
    "slice",
    "codip",
    "guardian",
    "alpha-beta-k",
    "grade",
    "multi-sa",
    "separate",
)
A = TypeVar("A")


class Options(BaseModel):
    """The keys of [publish] that belong to a method; others are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Gap:
    """Why Spark cannot do what some options of a method ask for, and what to do instead."""

    reason: str
    remedy: str


@dataclass(frozen=True)
class Method:
    """A way to make views: its name, where it comes from, its options, and the function that plans."""

    name: str
    source: str
    options: type[Options]
    plan: Callable[[Work], Plan | FromRows]
    takes_rules: bool = False
    # Whether its views may enforce rules, and whether its labels may be secret.
    enforces: bool = False
    secret: bool = False
    # Whether leaving out single rows can make a promise keepable.
    suppresses: bool = False
    # Whether it leaves anybody out with such options, if the policy allows it.
    leaves_out: Callable[[Any], bool] = lambda _: False
    # Other ways to publish with it: a name, as in `compare --methods generalize:mondrian`, and keys of [publish].
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The variants that are tried beside its defaults wherever all methods are.
    tried: tuple[str, ...] = ()
    # The keys of [publish] without which it keeps no promise.
    promising: Mapping[str, Any] = field(default_factory=dict)
    # The releases that the demo makes with it: a name, and keys of [publish].
    demo: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Whether single values of a multi-valued attribute may be hidden in its groups.
    hides: bool = False
    # Whether it takes a cell of several values as one value.
    whole_cells: bool = False
    # What Spark says where a plan needs rows that may not be cut into parts.
    gap: Gap | None = None
    # Whether it counts people of a population with such options.
    counts_population: Callable[[Any], bool] = lambda _: False
    # Whether it can publish after earlier releases of the same people, and if not, why.
    continues: bool = False
    why_not: str = ""
    # What is asked of every node of its lattice of levels; None where it has none with such options.
    lattice: "Callable[[Work], Demand | None] | None" = None


def united(sets: Iterable[set[A]], together: Iterable[Iterable[A]]) -> list[set[A]]:
    """Sets that share no member, after those that meet one of `together` became one; those that did come last."""
    apart = list(sets)
    for group in map(set, together):
        touched = [members for members in apart if members & group]
        apart = [members for members in apart if not members & group]
        apart += [set().union(*touched)] if touched else []
    return apart


def drafts_of(work: Work, plan: Plan | FromRows) -> Drafts:
    """The drafts of a plan, made from the rows at hand."""
    drafts = plan.make(work) if isinstance(plan, FromRows) else carry_out(plan, work.table, work.streams)
    if not work.hiding:
        return drafts
    from manyveils.methods.hiding import hidden  # Few policies ask for it.

    return hidden(work, drafts)


def plan_of_counts(work: Work, plan: Plan | FromRows) -> Plan | None:
    """What can be done without a look at rows; nothing where they must be seen."""
    if isinstance(plan, Plan):
        return plan
    return None if plan.from_counts is None else plan.from_counts(work)


def refuse_ties(method: Method, policy: Policy) -> None:
    """Methods that do not look at dependencies would publish what tells of a protected attribute beside it."""
    known = dependencies_of(policy)
    rules = [PrivacyRule(frozenset(policy.quasi), name) for name in policy.sensitive]
    tied = {rule.protect: sorted(tellers(rule, known) & set(policy.published)) for rule in rules}
    InfeasibleError.refuse(
        Problem(
            f"{policy.name}: {name}",
            f"known dependencies tie it to {', '.join(others)}, and method {method.name!r} does not part them.",
            'Use method = "guardian", or drop the dependency if it need not be known.',
            (Change("publish", "method", "guardian"),),
        )
        for name, others in tied.items()
        if others and not method.takes_rules
    )


def refuse_given_away(method: Method, policy: Policy) -> None:
    """Methods that do not look at dependencies would take a neutral attribute for unknown that follows from what is known."""
    known = known_from(frozenset(policy.quasi), dependencies_of(policy))
    PolicyError.refuse(
        Problem(
            f"{policy.name}: attributes.{name}.role",
            f"whoever knows the quasi-identifiers knows it by a dependency, and method {method.name!r} takes it for unknown.",
            'Use role = "quasi", or drop the dependency if it need not be known.',
            (Change("attributes", "role", "quasi", name),),
        )
        for name in policy.having("neutral")
        if name in known and not method.takes_rules
    )


def refuse_rules(method: Method, policy: Policy) -> None:
    """Methods that know quasi-identifiers and sensitive attributes only cannot keep rules."""
    if policy.rules and not method.takes_rules:
        what = f"method {method.name!r} cannot keep rules between arbitrary attributes."
        remedy = 'Use method = "separate" or roles instead of rules.'
        changes = (Change("publish", "method", "separate"),)
        raise PolicyError([Problem(f"{policy.name}: rules", what, remedy, changes)])


def refuse_breaks(policy: Policy) -> None:
    """Methods whose releases cannot be held against earlier ones of the same people cannot go on from them."""
    method = method_of(policy)
    if not method.continues:
        others = [f'"{name}"' for name in method_names() if load(name).continues]
        what = f"method {method.name!r} cannot publish after earlier releases: {method.why_not}."
        remedy = f"Use method = {', '.join(others[:-1])} or {others[-1]}."
        raise PolicyError.at(f"{policy.name}: publish.method", what, remedy)


def method_of(policy: Policy) -> Method:
    """The method the policy names."""
    return load(policy.publish.method)


def read_options(policy: Policy) -> Options:
    """The method's own keys of [publish], checked by the method; called once per publication."""
    PolicyError.refuse(method_problems(policy.publish.model_dump(), policy.name))
    method = method_of(policy)
    refuse_rules(method, policy)
    refuse_ties(method, policy)
    refuse_given_away(method, policy)
    return method.options.model_validate(policy.publish.options)


def unused_suppression(policy: Policy) -> dict[str, str]:
    """A note where the policy allows suppression and the method leaves nobody out."""
    if not policy.publish.suppression or method_of(policy).leaves_out(read_options(policy)):
        return {}
    share, method = f"{policy.publish.suppression:g}", policy.publish.method
    told = f"suppression = {share} is not used: with these keys, {method} leaves nobody out."
    return {"suppression": told}


def work_of(
    policy: Policy,
    table: Table,
    streams: Streams,
    progress: Callable[[str, float], None] = silent,
    *,
    options: Options | None = None,
    counted: Callable[[tuple[str, ...]], Table] | None = None,
) -> Work:
    """What the policy's method is given; options that were not read before are validated here."""
    options = read_options(policy) if options is None else options
    method, resolved = method_of(policy), resolve(policy, table)
    hiding = tuple(promise for promise in resolved if isinstance(promise.guarantee, KnownItems))
    promises = tuple(promise for promise in resolved if promise not in hiding)
    _refuse_hiding(method, policy, hiding, promises)
    if not method.counts_population(options):
        _refuse_population(method, policy, promises)
    room = _room(method, policy, table, promises)
    if table.earlier is not None and not about_constants(policy, table, promises):
        # Earlier releases bind nothing of what may change.
        table = replace(table, earlier=None)
    return Work(policy, table, promises, options, streams, progress, method.suppresses, counted, hiding, room)


def _room(method: Method, policy: Policy, table: Table, promises: tuple[Promise, ...]) -> int:
    """How many persons a group needs so that those who leave it until the next release will differ, if there may be one."""
    if not method.continues or table.keys is None or table.earlier is not None:
        return 1
    from manyveils.promises.exchanges import LEAVING, room_to_leave  # Few tables ask for it.

    share = policy.publish.leaving
    if share is None:
        # What somebody has in all her rows may be constant without a thought of further releases.
        share = LEAVING if table.persons is None else 0.0
    return room_to_leave(policy, table, promises, float(share))


def _refuse_population(method: Method, policy: Policy, promises: tuple[Promise, ...]) -> None:
    """Refuse to count people whom groups look like where these are made without a look at them."""
    InfeasibleError.refuse(
        Problem(
            f"{policy.name}: guarantee",
            f"method {method.name!r} with these keys makes groups without a look at the population, which {kind} counts.",
            'Use method = "generalize" with recoding = "full-domain", or ask for k instead.',
        )
        for kind in (one.guarantee.kind for one in promises if isinstance(one.guarantee, PopulationSize))
    )


def _refuse_hiding(
    method: Method, policy: Policy, hiding: tuple[Promise, ...], others: tuple[Promise, ...]
) -> None:
    """Refuse to hide values where other promises are judged by what is shown beside them."""
    where = f"{policy.name}: guarantee.known_items"
    # What is hidden would count as a value of a combination, and merges parts that a conditional promise tells apart.
    crossing = [
        promise
        for promise in others
        if len(promise.protects) > 1
        or isinstance(promise.guarantee, Elimination)
        or (promise.conditional and not promise.merging_keeps)
    ]
    if hiding and crossing:
        kind = crossing[0].guarantee.kind
        what = f"hides values that a promise of {kind} looks at together with others."
        raise PolicyError.at(where, what, "Drop joint, eliminations or conditional, or known_items.")
    PolicyError.refuse(
        Problem(
            where,
            f"method {method.name!r} cannot hide values of {promise.subject}.",
            'Use method = "generalize", "anatomize" or "codip".',
        )
        for promise in hiding
        if not method.hides
    )


def method_problems(section: Mapping[str, Any], name: str) -> Iterator[Problem]:
    """What is wrong with the method of a [publish] section and the keys that belong to it."""
    method = section.get("method", "generalize")
    names = method_names()
    if method not in names:
        yield Problem(f"{name}: publish.method", f"{method!r} is not a method.", suggest(str(method), names))
        return
    keys = {key: value for key, value in section.items() if key not in Publish.model_fields}
    yield from section_problems(load(method).options, keys, f"{name}: publish")


def method_names() -> tuple[str, ...]:
    """The names of all methods: ours, and those that other packages bring along."""
    return (*METHODS, *plugins.installed(plugins.METHODS, METHODS))


def load(name: str) -> Method:
    """A method by its name; its module is imported only now."""
    if name not in METHODS:
        entry = plugins.installed(plugins.METHODS, METHODS)[name]
        brought: Method = plugins.loaded(
            entry, lambda value: isinstance(value, Method) and value.name == name, "a Method of that name"
        )
        return brought
    method: Method = import_module(f"manyveils.methods.{name.replace('-', '_')}").METHOD
    return method
