"""Data: the rows in pages, and for each column what it holds, the role it plays and why; whose rows they are."""

from collections.abc import Callable
from typing import get_args

from nicegui import ui

from manyveils.policy.sections import Role
from manyveils.studio import document
from manyveils.studio.distribution import distribution_of
from manyveils.studio.pages.layout import element, html, table, telling
from manyveils.studio.workbench import Workbench

A_PAGE = 20
ROLES = list(get_args(Role))


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    _person(bench, changed)
    html("h2", "Columns")
    html(
        "p",
        "Identifiers are never published; quasi-identifiers may be known to others; sensitive values are to be protected. "
        "Bars are ranges of numbers and dates, or the commonest values.",
    )
    with element("div", css="scrolls"), element("table", css="columns"):
        with element("thead"), element("tr"):
            for title in ("Column", "Kind", "Missing", "Distinct", "Values", "Role, and why it was proposed"):
                html("th", title).props("scope=col")
        with element("tbody"):
            for name in bench.profile.facts:
                _column(bench, name, changed)
    _preview(bench)


def _column(bench: Workbench, name: str, changed: Callable[[], None]) -> None:
    facts, guess = bench.profile.facts[name], bench.profile.decided[name]

    def choose(role: str) -> None:
        with telling():
            bench.change(document.with_role(bench.text, name, role))
            changed()

    with element("tr"):
        html("th", name).props("scope=row")
        html("td", facts.type)
        html("td", f"{facts.missing:,}").classes("number")
        html("td", f"{facts.distinct:,}").classes("number")
        with element("td"):
            if facts.attribute is not None:
                ui.html(distribution_of(facts.attribute).drawn(name), sanitize=False)
        with element("td"):
            role = document.role_of(bench.sections, name)
            buttons = ui.toggle(
                ROLES, value=role if role in ROLES else None, on_change=lambda event: choose(event.value)
            )
            buttons.props("no-caps dense size=sm role=group")
            buttons.props["aria-label"] = f"Role of {name}"
            html("p", f"{guess.role}: {guess.reason}").classes("why")


def _person(bench: Workbench, changed: Callable[[], None]) -> None:
    """Whose row is whose."""
    names = list(bench.profile.facts)

    def choose(told: list[str]) -> None:
        with telling():
            text = document.with_person(bench.text, told)
            for name in told:
                text = document.with_role(text, name, "identifier")
            bench.change(text)
            changed()

    whose = bench.profile.whose
    html("h2", "Whose rows they are")
    html("p", f"{bench.frame.height:,} rows, {len(names)} columns. {whose.reason + '.' if whose else ''}")
    key = ui.select(
        names,
        label="What tells persons apart (none: every row is a person)",
        value=[name for name in document.person_in(bench.sections) if name in names],
        multiple=True,
        on_change=lambda event: choose(list(event.value)),
    )
    key.classes("wide").props("use-chips")


def _preview(bench: Workbench) -> None:
    """The rows as they were read, a page at a time."""
    html("h2", "Rows")
    last = max((bench.frame.height - 1) // A_PAGE, 0)
    at = {"page": 0}

    @ui.refreshable
    def rows() -> None:
        start = at["page"] * A_PAGE
        part = bench.frame.slice(start, A_PAGE)
        told = ([None if cell is None else str(cell) for cell in row] for row in part.iter_rows())
        caption = f"Rows {start + 1:,} to {start + part.height:,} of {bench.frame.height:,}"
        table(caption, part.columns, told)

    def turn(by: int) -> None:
        at["page"] = min(max(at["page"] + by, 0), last)
        rows.refresh()

    rows()
    with element("div", css="row"):
        ui.button("Rows before", on_click=lambda: turn(-1))
        ui.button("Rows after", on_click=lambda: turn(1))
