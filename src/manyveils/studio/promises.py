"""The promises that pages offer, each with a sentence on what it means and whom it holds against."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from manyveils.studio.document import with_key


@dataclass(frozen=True)
class Offer:
    """A promise: its key in [guarantee], what a reader may take from it, and what may be entered."""

    key: str
    title: str
    means: str
    entered: Literal["whole", "share"]
    most: float | None = None


OFFERS = (
    Offer(
        "k",
        "k: people in every group",
        "Whoever knows the quasi-identifiers of a person finds at least k people who look like her. "
        "It says nothing of what these have in common.",
        "whole",
    ),
    Offer(
        "l",
        "l: values in every group",
        "Whoever knows the quasi-identifiers of a person is left with at least l values for each sensitive attribute, "
        "as l_kind counts them.",
        "whole",
    ),
    Offer(
        "t",
        "t: distance from everybody",
        "The values of a group are spread as those of the whole table are, up to a distance of t: 0 is the same, 1 is "
        "no promise. Whoever finds the group of a person learns little beyond what the table says of everybody.",
        "share",
        1.0,
    ),
    Offer(
        "alpha",
        "alpha: share of one value",
        "No value is that of more than this share of a group, so that nobody's value can be guessed better.",
        "share",
        1.0,
    ),
    Offer(
        "beta",
        "beta: gain of a belief",
        "Nobody's belief in a value grows by more than this factor of what the whole table says of it.",
        "share",
    ),
)
KINDS: Mapping[str, str] = {
    "distinct": "distinct: that many different values",
    "frequency": "frequency: no value more often than one in l",
    "entropy": "entropy: as uncertain as l values that are equally frequent",
}
CONDITIONAL = "It holds even against somebody who knows the person's other sensitive values."


def entered(offer: Offer, number: float | None) -> int | float | None:
    """A number as the policy writes it; None where nothing is promised.

    >>> entered(OFFERS[0], 5.0), entered(OFFERS[2], 0.2), entered(OFFERS[0], None)
    (5, 0.2, None)
    """
    if number is None or offer.entered == "share" or number != int(number):
        return number
    return int(number)


def with_promise(text: str, key: str, value: Any) -> str:
    """The text with another promise for all sensitive attributes; without it, and what goes with it, for None."""
    if key == "l" and value is None:
        text = with_key(text, "guarantee", "l_kind", None)
    return with_key(text, "guarantee", key, value)


def own_promises(sections: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The attributes that have promises of their own, which come before those for all."""
    attributes = sections.get("attributes", {})
    return {
        name: body["guarantee"]
        for name, body in attributes.items()
        if isinstance(body, Mapping) and isinstance(body.get("guarantee"), Mapping)
    }
