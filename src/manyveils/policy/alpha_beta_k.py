"""(α,β,k)-anonymity as policies ask for it: `eliminations` in [guarantee], or the keys of the method of that name."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import Field

from manyveils.errors import Problem
from manyveils.policy.sections import Count, Eliminations, Pairs, Section, optional

Keys = Mapping[str, Any]
METHOD = "alpha-beta-k"
CROSS = ("pairs", "sensitive_order")
# Keys of [guarantee] that mean something else than the letters of the method's name, and what would.
NAMESAKES = {
    "beta": ("β-likeness: the relative gain of any value", ("beta",)),
    "alpha": ("(α,k): the share of any value in a group", ("eliminations", "beta")),
}


class AlphaBetaK(Section):
    """The keys of [publish] that promise something: α is what `eliminations` and `pairs` say."""

    k: Count | None = optional("rows in every group, at least")
    beta: Annotated[int, Field(strict=True, ge=2)] = optional(
        "different values of every sensitive attribute in a group, at least", 2
    )
    eliminations: Eliminations = optional("values of other attributes that someone may rule out", 1)
    pairs: Pairs = optional("whose values may be ruled out: of every other attribute, or of one", "all")
    sensitive_order: list[str] | None = optional("with consecutive pairs: the attributes in order")
    alpha_reading: Literal["left", "paper"] = optional(
        "α: the values that are left, or the paper's difference of two numbers of values", "left"
    )


def keys_of(publish: Keys) -> dict[str, Any] | None:
    """The keys of the method among those of a [publish] section; None if that names another method."""
    is_meant = publish.get("method") == METHOD
    return {key: publish[key] for key in AlphaBetaK.model_fields if key in publish} if is_meant else None


def ruled_out(
    name: str, sensitive: Sequence[str], pairs: Pairs, order: Sequence[str] | None
) -> tuple[str, ...]:
    """The attributes whose values may be ruled out to learn one: all others, or the one before it.

    >>> ruled_out("job", ["illness", "job", "pay"], "consecutive", None)
    ('illness',)
    """
    if pairs == "all":
        return tuple(other for other in sensitive if other != name)
    ordered = list(order or sensitive)
    index = ordered.index(name)
    return tuple(ordered[max(index - 1, 0) : index])


def order_problems(keys: Keys, sensitive: Sequence[str], where: str) -> Iterator[Problem]:
    """What is wrong with the order of sensitive attributes that consecutive pairs are taken from."""
    order = keys.get("sensitive_order")
    if not isinstance(order, list):
        return
    if keys.get("pairs") != "consecutive":
        what = 'goes with pairs = "consecutive".'
        yield Problem(f"{where}.sensitive_order", what, "Set the pairs or drop it.")
    if sorted(map(str, order)) != sorted(sensitive):
        what = f"must list each of the {len(sensitive)} sensitive attributes once."
        yield Problem(f"{where}.sensitive_order", what, f"They are {', '.join(sensitive)}.")


def keys_problems(keys: Keys, sensitive: Sequence[str], general: Keys) -> Iterator[Problem]:
    """Contradictions between the method's keys, and with those of [guarantee]."""
    yield from order_problems(keys, sensitive, "publish")
    yield from _namesake_problems(keys, general)
    beta, ks = keys.get("beta", 2), [keys.get("k"), general.get("k")]
    k = max((k for k in ks if _is_count(k)), default=None)
    if k is not None and _is_count(beta) and beta > k:
        remedy = f"A group of k rows has at most k values: raise k to {beta} or lower beta."
        yield Problem("publish.beta", f"beta = {beta} is above k = {k}.", remedy)
    if keys.get("alpha_reading") == "paper" and keys.get("eliminations", 1) != 1:
        yield Problem(
            "publish.eliminations",
            "the paper's α rules out one value.",
            'Drop it, or alpha_reading = "paper".',
        )
    if not sensitive:
        what = f"{METHOD} needs a sensitive attribute."
        yield Problem("publish.method", what, 'Use method = "generalize".')


def _is_count(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _namesake_problems(keys: Keys, general: Keys) -> Iterator[Problem]:
    """Letters in [guarantee] that were probably meant for the method; not where its own stand beside them."""
    for key, (meaning, ours) in NAMESAKES.items():
        if general.get(key) is not None and not any(keys.get(own) is not None for own in ours):
            remedy = f"Set {ours[0]} in [publish] instead, or beside it if both are meant."
            yield Problem(f"guarantee.{key}", f"means {meaning}, not the {key} of {METHOD}.", remedy)
