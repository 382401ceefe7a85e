"""Promises: what is guaranteed and to whom, what contradicts itself, and what no method could keep."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from manyveils.studio import standing
from manyveils.studio.pages.layout import element, html, table, telling
from manyveils.studio.promises import CONDITIONAL, KINDS, OFFERS, Offer, entered, own_promises, with_promise
from manyveils.studio.workbench import Workbench


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    html("p", "What is left empty is not promised. Contradictions are said beside the policy at once.")
    guarantee = bench.sections.get("guarantee", {})

    def choose(key: str, value: Any) -> None:
        with telling():
            bench.change(with_promise(bench.text, key, value), about=key)
            changed()

    for offer in OFFERS:
        _offer(offer, guarantee.get(offer.key), choose)
        if offer.key == "l":
            _kind(guarantee.get("l_kind", "distinct"), choose)
    with element("div", css="promise"):
        ui.switch(
            "conditional: against who knows the other sensitive values",
            value=bool(guarantee.get("conditional", False)),
            on_change=lambda event: choose("conditional", True if event.value else None),
        )
        html("p", CONDITIONAL)
    _own(bench)
    _bounds(bench)


def _offer(offer: Offer, value: object, choose: Callable[[str, Any], None]) -> None:
    with element("div", css="promise"):
        ui.number(
            offer.title,
            value=value if isinstance(value, int | float) else None,
            min=1 if offer.entered == "whole" else 0,
            max=offer.most,
            step=1 if offer.entered == "whole" else 0.05,
            on_change=lambda event: choose(offer.key, entered(offer, event.value)),
        )
        html("p", offer.means)


def _kind(value: str, choose: Callable[[str, Any], None]) -> None:
    kinds = dict(KINDS) if value in KINDS else {**KINDS, value: value}
    chosen = ui.select(
        kinds,
        label="l_kind: how values are counted",
        value=value,
        on_change=lambda event: choose("l_kind", event.value),
    )
    chosen.classes("wide")


def _own(bench: Workbench) -> None:
    own = own_promises(bench.sections)
    if own:
        rows = [
            [name, ", ".join(f"{key} = {value}" for key, value in keys.items())] for name, keys in own.items()
        ]
        table(
            "Attributes with promises of their own, which come first (change them in the text)",
            ["attribute", "promised"],
            rows,
        )


def _bounds(bench: Workbench) -> None:
    people = bench.people()
    bounds = standing.bounds_of(people, bench.chosen("sensitive"))
    html("h2", "What no method could exceed")
    html(
        "p",
        f"k can be {people.n_persons:,} at most: there are no more people. Leaving people out may allow a little more of l.",
    )
    rows = [[bound.attribute, bound.distinct, bound.frequency] for bound in bounds]
    table("The largest l", ["sensitive attribute", "distinct", "frequency"], rows)
