"""Ways: methods are tried in processes of their own, and appear on a picture of privacy and utility as they finish."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nicegui import ui

from manyveils.studio import document, methods, picture
from manyveils.studio.pages.chosen import show_try
from manyveils.studio.pages.layout import element, follow, html, places, table, telling
from manyveils.studio.pages.why_not import show_refusal
from manyveils.studio.trying import ATTACKED
from manyveils.studio.work import Job
from manyveils.studio.workbench import Try, Workbench

NOTHING = "nothing"


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    html(
        "p",
        "A try publishes in memory, judges what came of it, measures and attacks it. Nothing is written.",
    )
    _method(bench, changed)
    _wish(bench)
    with element("div", css="row"):
        ui.button("Try it", on_click=lambda: begin(lambda: [bench.try_method()])).classes("main")
        ui.button(
            "Try all methods", on_click=lambda: begin(lambda: bench.try_ways(methods.usual(bench.sections)))
        )
        ui.button("Cancel all", on_click=lambda: cancel())
    running, refused, done = places()

    def begin(start: Callable[[], list[Try]]) -> None:
        refused.clear()
        with refused, telling():
            for tried in start():
                watch(tried)

    def cancel() -> None:
        for tried in bench.tries:
            tried.job.cancel()

    def watch(tried: Try) -> None:
        with running:
            follow(tried.job, lambda job: ended(tried, job), name=methods.chosen_in(tried.text))

    def ended(tried: Try, job: Job) -> None:
        refused.clear()
        with refused:
            show_refusal(bench, tried, changed)
        lay_out()

    def lay_out() -> None:
        done.clear()
        with done:
            _tries(bench)

    lay_out()
    for tried in bench.tries:
        if tried.job.is_running:
            watch(tried)


def _method(bench: Workbench, changed: Callable[[], None]) -> None:
    """Which method, and how many rows it may leave out."""
    publish = bench.sections.get("publish", {})
    ways, way = methods.offered(), methods.chosen(publish)

    def choose(name: str) -> None:
        with telling():
            method, keys = ways[name]
            bench.change(document.with_method(bench.text, method, keys))
            changed()

    def leave_out(percents: float | None) -> None:
        with telling():
            share = (percents or 0) / 100 or None
            bench.change(document.with_key(bench.text, "publish", "suppression", share), about="suppression")
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


def _wish(bench: Workbench) -> None:
    """What is asked of tries besides their release."""

    def attack(which: str) -> None:
        bench.choose(wish=replace(bench.wish, attacks=which))

    def learn(name: str) -> None:
        bench.choose(wish=replace(bench.wish, learn=None if name == NOTHING else name))

    with element("div", css="row"):
        ui.select(
            dict(ATTACKED),
            label="Attacked by",
            value=bench.wish.attacks,
            on_change=lambda event: attack(event.value),
        )
        names = [NOTHING, *document.having(bench.sections, "sensitive")]
        ui.select(
            names,
            label="Models learn",
            value=bench.wish.learn if bench.wish.learn in names else NOTHING,
            on_change=lambda event: learn(event.value),
        )


def _tries(bench: Workbench) -> None:
    ended = [(n, tried) for n, tried in enumerate(bench.tries, 1) if not tried.job.is_running]
    if not ended:
        return
    html("h2", "Privacy and utility")
    results = [
        (number, methods.chosen_in(tried.text), tried.job.result)
        for number, tried in ended
        if tried.job.result is not None
    ]
    x, y = (picture.axis_of(key) for key in bench.axes)

    def turn(which: int, key: str) -> None:
        bench.choose(axes=(key, bench.axes[1]) if which == 0 else (bench.axes[0], key))
        drawing.refresh()

    with element("div", css="row"):
        for which, (label, axes, axis) in enumerate(
            (("Across: what is lost", picture.UTILITY, x), ("Up: what is learnt", picture.PRIVACY, y))
        ):
            ui.select(
                {own.key: own.words for own in axes},
                label=label,
                value=axis.key,
                on_change=lambda event, which=which: turn(which, event.value),
            )
    chosen = ui.column().classes("wide")

    def look(number: int) -> None:
        bench.looked_at = number
        chosen.clear()
        with chosen:
            show_try(bench, number)

    @ui.refreshable
    def drawing() -> None:
        x, y = (picture.axis_of(key) for key in bench.axes)
        points = picture.points_of(results, x, y)
        words = picture.in_words(points, x, y)
        if points:
            chart = ui.echart(
                picture.options(points, x, y),
                renderer="svg",
                on_point_click=lambda event: look(points[event.data_index].number),
            )
            chart.classes("picture").props("role=img")
            chart.props["aria-label"] = words
        html("p", words).classes("why")

    drawing()
    chosen.move(target_index=-1)
    header = ["try", "method", "promised to all", "came of it", "rows", "left out"]
    header += [axis.words for axis in (*picture.UTILITY, *picture.PRIVACY)]
    table("Tries", [*header, "seconds"], [_row(number, tried) for number, tried in ended])
    _buttons(bench, ended, look)
    if any(number == bench.looked_at for number, _, _ in results):
        look(bench.looked_at)


def _buttons(bench: Workbench, ended: list[tuple[int, Try]], look: Callable[[int], None]) -> None:
    """What can be done with each try."""
    with element("div", css="row"):
        for number, tried in ended:
            if tried.job.result is not None:
                ui.button(f"Look at try {number}", on_click=lambda number=number: look(number))
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
    start = [number, methods.chosen_in(tried.text), promised]
    axes = (*picture.UTILITY, *picture.PRIVACY)
    if result is None:
        refused = "refused: " + " ".join(own.what for own in tried.job.problems)
        came = "cancelled" if tried.job.is_cancelled else refused
        return [*start, came, None, None, *(None for _ in axes), tried.job.seconds]
    measured = [result["utility"].get(axis.key) for axis in axes]
    came = "every promise is kept" if sections.get("guarantee") or promised else "nothing was promised to all"
    return [*start, came, result["rows"], result["suppressed"], *measured, tried.job.seconds]
