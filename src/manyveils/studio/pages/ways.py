"""Ways: a method is tried in a process of its own, and what came of each try stands beside the others."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from manyveils.studio import document, methods
from manyveils.studio.pages.layout import element, follow, html, places, show_problems, table, telling
from manyveils.studio.work import Job
from manyveils.studio.workbench import Try, Workbench

MEASURES = {
    "query_error": "error of counts",
    "loss": "loss",
    "kl": "divergence",
    "singled_out": "singled out",
    "marketer_risk": "found on average",
}


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    html("p", "A try publishes in memory, judges what came of it and measures it. Nothing is written.")
    publish = bench.sections.get("publish", {})
    ways, way = methods.offered(), methods.chosen(publish)

    def choose(name: str) -> None:
        with telling():
            method, keys = ways[name]
            bench.change(document.with_method(bench.text, method, keys))
            changed()

    def leave_out(percents: float | None) -> None:
        with telling():
            bench.change(
                document.with_key(bench.text, "publish", "suppression", (percents or 0) / 100 or None)
            )
            changed()

    names = list(ways) if way in ways else [*ways, way]
    ui.select(names, label="Method", value=way, on_change=lambda event: choose(event.value)).classes("wide")
    share = publish.get("suppression", 0)
    ui.number(
        "Rows that may be left out (percent)",
        value=share * 100 if isinstance(share, int | float) else 0,
        min=0,
        max=100,
        step=0.5,
        on_change=lambda event: leave_out(event.value),
    )
    with element("div", css="row"):
        ui.button("Try it", on_click=lambda: begin()).classes("main")
    running, refused, done = places()

    def begin() -> None:
        refused.clear()
        with refused, telling():
            watch(bench.try_method())

    def watch(tried: Try) -> None:
        with running:
            follow(tried.job, ended)

    def ended(job: Job) -> None:
        show_problems(refused, job.problems)
        lay_out()

    def lay_out() -> None:
        done.clear()
        with done:
            _tries(bench)

    lay_out()
    for tried in bench.tries:
        if tried.job.is_running:
            watch(tried)


def _tries(bench: Workbench) -> None:
    ended = [tried for tried in bench.tries if not tried.job.is_running]
    if not ended:
        return
    header = [
        "try",
        "method",
        "promised to all",
        "came of it",
        "rows",
        "left out",
        *MEASURES.values(),
        "seconds",
    ]
    table("Tries", header, [_row(number, tried) for number, tried in enumerate(ended, 1)])
    with element("div", css="row"):
        for number, tried in enumerate(ended, 1):
            if tried.text != bench.text:
                ui.button(
                    f"Go back to the policy of try {number}", on_click=lambda tried=tried: _take(bench, tried)
                )


def _take(bench: Workbench, tried: Try) -> None:
    bench.change(tried.text)
    ui.navigate.reload()


def _row(number: int, tried: Try) -> list[Any]:
    sections, result = document.sections_of(tried.text), tried.job.result
    promised = ", ".join(f"{key} = {value}" for key, value in sections.get("guarantee", {}).items())
    start = [number, methods.chosen(sections.get("publish", {})), promised]
    if result is None:
        came = (
            "cancelled"
            if tried.job.is_cancelled
            else "refused: " + " ".join(own.what for own in tried.job.problems)
        )
        return [*start, came, None, None, *(None for _ in MEASURES), tried.job.seconds]
    measured = [result["utility"].get(key) for key in MEASURES]
    return [
        *start,
        "every promise is kept",
        result["rows"],
        result["suppressed"],
        *measured,
        tried.job.seconds,
    ]
