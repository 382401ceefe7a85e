"""Why not: what a refused way could not promise, of whom, and each change that would make it possible as a button."""

from collections.abc import Callable

from nicegui import ui

from manyveils.errors import Change
from manyveils.studio import document, methods
from manyveils.studio.pages.layout import html, show_problem, telling
from manyveils.studio.workbench import Try, Workbench


def show_refusal(bench: Workbench, tried: Try, changed: Callable[[], None]) -> None:
    """The problems of a try, with what can be done about each; nothing where it was not refused."""
    if not tried.job.problems:
        return
    html("h2", f"Why {methods.chosen_in(tried.text)} was refused")
    html("p", tried.job.heading).classes("heading")

    def take(change: Change) -> None:
        with telling():
            bench.change(document.with_change(tried.text, change))
            bench.try_method()
            ui.navigate.reload()

    for problem in tried.job.problems:
        show_problem(tried.text, problem, take, ", and try again")
