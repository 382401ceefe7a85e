"""Hierarchies: how values become coarser, attribute by attribute, with every level previewed."""

from collections.abc import Callable, Mapping
from typing import Any

from nicegui import run, ui

from manyveils.profiling.guesses import percent
from manyveils.studio import document, hierarchies
from manyveils.studio.pages.layout import element, html, table, telling
from manyveils.studio.workbench import Workbench

ENDS = {"right": "right: 47906, 4790*, 479**", "left": "left: 47906, *7906, **906"}


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    html(
        "p",
        "Values become coarser level by level: first the value itself, then labels that stand for several, then *.",
    )
    names = [*document.having(bench.sections, "quasi"), *document.having(bench.sections, "sensitive")]
    names = [name for name in names if name in bench.profile.facts]
    if not names:
        html("p", "There is no quasi-identifier and no sensitive attribute.")
        return
    state = {"name": names[0]}

    def turn(name: str) -> None:
        state["name"] = name
        editor.refresh()

    ui.select(names, label="Attribute", value=names[0], on_change=lambda event: turn(event.value)).classes(
        "wide"
    )

    @ui.refreshable
    def editor() -> None:
        _editor(bench, state["name"], changed, editor.refresh)

    editor()


def _editor(bench: Workbench, name: str, changed: Callable[[], None], refresh: Callable[[], object]) -> None:
    """The hierarchy of one attribute, to be changed and previewed."""
    form, value = hierarchies.form_of(bench.sections["attributes"][name])
    levels = ui.column().classes("wide")

    def write(hierarchy: Mapping[str, Any] | None) -> None:
        bench.change(document.with_hierarchy(bench.text, name, hierarchy), about=f"hierarchy {name}")
        changed()

    def choose(form: str) -> None:
        with telling():
            write(hierarchies.proposed(form, name, bench.profile))
            refresh()

    async def preview() -> None:
        text, told = bench.text, bench.sections
        with levels, telling(before=levels.clear):
            rungs = await run.io_bound(
                hierarchies.rungs_of, bench.place, told.get("data", {}), told["attributes"][name], name
            )
            # What was typed meanwhile has a preview of its own.
            if rungs is not None and text == bench.text:
                levels.clear()
                _rungs(name, rungs)

    async def enter(read: Callable[[], Mapping[str, Any]]) -> None:
        with levels, telling(before=levels.clear):
            write(read())
            await preview()

    forms = {key: words for key, words in hierarchies.FORMS.items() if key != "tree" or form == "tree"}
    ui.select(forms, label="Form", value=form, on_change=lambda event: choose(event.value)).classes("wide")
    _fields(form, value, enter)
    levels.move(target_index=-1)
    ui.timer(0.05, preview, once=True)


def _fields(form: str, value: Any, enter: Callable[[Callable[[], Mapping[str, Any]]], Any]) -> None:
    """What can be entered for a form of hierarchy."""
    if form == "widths":
        text = ", ".join(f"{width:g}" for width in value)
        ui.input(
            "Widths, each a multiple of the one before",
            value=text,
            on_change=lambda event: enter(lambda: {"widths": hierarchies.read_widths(event.value or "")}),
        ).classes("wide").props("debounce=300")
    elif form == "mask":
        ui.select(
            ENDS,
            label="Which end is masked first",
            value=value,
            on_change=lambda event: enter(lambda: {"mask": event.value}),
        ).classes("wide")
    elif form == "dates":
        ui.select(
            list(hierarchies.UNITS),
            label="Parts of the calendar",
            value=list(value),
            multiple=True,
            on_change=lambda event: enter(lambda: {"dates": _in_order(event.value)}),
        ).classes("wide").props("use-chips")
    elif form == "known":
        ui.input(
            "Which: icd10, icd9, countries, nuts, isco, ages, dates or postcodes",
            value=value,
            on_change=lambda event: enter(lambda: {"known": event.value}),
        ).classes("wide")
    elif form == "file":
        field = ui.input("File, seen from the policy", value=value).classes("wide")
        ui.button("Read the file", on_click=lambda: enter(lambda: {"file": field.value or ""}))
    elif form == "tree":
        html("p", "The tree stands in the policy's text, and is changed there.")


def _in_order(units: list[str]) -> list[str]:
    return [unit for unit in hierarchies.UNITS if unit in units]


def _rungs(name: str, rungs: list[hierarchies.Rung]) -> None:
    """A row for each level, and its commonest labels below."""
    rows = [[own.level, own.n_labels, percent(own.loss), own.fewest] for own in rungs]
    table(f"Levels of {name}", ["level", "labels", "detail lost", "fewest people of a label"], rows)
    with element("div", css="cards"):
        for own in rungs:
            caption = f"Level {own.level}: the commonest of {own.n_labels:,} labels"
            table(caption, ["label", "people"], [list(pair) for pair in own.commonest])
