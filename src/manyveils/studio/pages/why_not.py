"""Why not: what a refused way could not promise, of whom, and each change that would make it possible as a button."""

from collections.abc import Callable

from nicegui import ui

from manyveils.errors import Change, Problem
from manyveils.studio import document, methods
from manyveils.studio.pages.layout import element, html, problem_box, telling
from manyveils.studio.workbench import Try, Workbench


def show_problem(text: str, problem: Problem, take: Callable[[Change], None], suffix: str = "") -> None:
    """A problem of a policy's text, with a button for each change that would mend it."""
    with problem_box(problem), element("div", css="row"):
        for change in problem.changes:
            words = document.change_in_words(text, change)
            ui.button(f"{words}{suffix}", on_click=lambda change=change: take(change))


def show_refusal(bench: Workbench, tried: Try, changed: Callable[[], None]) -> None:
    """The problems of a try, with what can be done about each; nothing where it was not refused."""
    if not tried.job.problems:
        return
    html("h2", f"Why {methods.chosen_in(tried.text)} was refused")

    def take(change: Change) -> None:
        with telling():
            bench.change(document.with_change(tried.text, change))
            bench.try_method()
            ui.navigate.reload()

    for problem in tried.job.problems:
        show_problem(tried.text, problem, take, ", and try again")
