"""What a method is given and what it gives back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from manyveils.errors import InfeasibleError, PolicyError, Problem
from manyveils.keys.key import Key
from manyveils.methods.dealt import Dealt
from manyveils.methods.leveled import Leveled
from manyveils.policy import Policy
from manyveils.policy.promises import dependencies_of
from manyveils.policy.rules import PrivacyRule, tellers
from manyveils.promises.entries import Ids
from manyveils.promises.work import Work
from manyveils.release import Draft


class Options(BaseModel):
    """The keys of [publish] that belong to a method; others are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


@dataclass(frozen=True)
class Decided:
    """Views to be made, by whoever holds the rows, notes on how they were decided, and the key to what is secret in them."""

    views: tuple[Leveled | Dealt, ...]
    notes: Mapping[str, object] = field(default_factory=dict)
    key: Key | None = None


@dataclass(frozen=True)
class InParts:
    """Rows to be cut by quasi-identifiers, in the style of some labels, and made part by part with the same options.

    Whatever is chosen by looking at all rows is in the options, so that parts choose alike.
    """

    options: Options
    labels: Literal["auto", "ranges", "sets", "hierarchy"]
    # The columns that stand beside a protected one in every part; others are told apart inside.
    beside: tuple[str, ...]
    notes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Made:
    """Drafts of views, and for the publisher notes on how they came about and the key to what is secret in them."""

    drafts: tuple[Draft, ...]
    notes: Mapping[str, object] = field(default_factory=dict)
    key: Key | None = None


def drafted(work: Work, decided: Decided, shuffled: Ids | None = None) -> Made:
    """The decided views of the rows at hand; where rows are dealt, equal ones in the order of `shuffled`."""
    drafts = []
    for view in decided.views:
        if isinstance(view, Dealt):
            assert shuffled is not None
            drafts.append(view.drafted(work.table, shuffled))
        else:
            drafts.append(view.drafted(work.table))
    return Made(tuple(drafts), decided.notes, decided.key)


@dataclass(frozen=True)
class Method:
    """A way to make views: its name, where it comes from, its options, and the making."""

    name: str
    source: str
    options: type[Options]
    make: Callable[[Work], Made]
    # What to do, decided from counts alone; nothing where a decision needs the rows.
    decide: "Callable[[Work], Decided | None]" = lambda work: None
    # How parts of the rows are made one by one, once they are cut by quasi-identifiers; nothing where all must be seen.
    part: "Callable[[Work], InParts | None]" = lambda work: None
    takes_rules: bool = False
    # Whether its views may enforce rules, and whether its labels may be secret.
    enforces: bool = False
    secret: bool = False
    # Whether leaving out single rows can make a promise keepable.
    suppresses: bool = False
    # Other ways to publish with it: a name, as in `compare --methods generalize:mondrian`, and keys of [publish].
    variants: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The variants that are tried beside its defaults wherever all methods are.
    tried: tuple[str, ...] = ()
    # The keys of [publish] without which it keeps no promise.
    promising: Mapping[str, Any] = field(default_factory=dict)
    # The releases that the demo makes with it: a name, and keys of [publish].
    demo: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # Whether it takes a cell of several values as one value.
    whole_cells: bool = False


def refuse_ties(method: Method, policy: Policy) -> None:
    """Methods that do not look at dependencies would publish what tells of a protected attribute beside it."""
    known = dependencies_of(policy)
    asked = [PrivacyRule(frozenset(policy.quasi), name) for name in policy.sensitive]
    tied = {rule.protect: sorted(tellers(rule, known) & set(policy.published)) for rule in asked}
    problems = [
        Problem(
            f"{policy.name}: {name}",
            f"known dependencies tie it to {', '.join(others)}, and method {method.name!r} does not part them.",
            'Use method = "guardian", or drop the dependency if it need not be known.',
        )
        for name, others in tied.items()
        if others and not method.takes_rules
    ]
    if problems:
        raise InfeasibleError(problems)


def refuse_rules(method: Method, policy: Policy) -> None:
    """Methods that know quasi-identifiers and sensitive attributes only cannot keep rules."""
    if policy.rules and not method.takes_rules:
        raise PolicyError(
            [
                Problem(
                    f"{policy.name}: rules",
                    f"method {method.name!r} cannot keep rules between arbitrary attributes.",
                    'Use method = "separate" or roles instead of rules.',
                )
            ]
        )
