"""The lattice: levels by hand, what every node comes to at once, the optimum, and neighbours to step to."""

from collections.abc import Callable
from dataclasses import dataclass

from nicegui import run, ui

from manyveils.errors import Change, ManyveilsError
from manyveils.profiling.guesses import percent
from manyveils.studio import document
from manyveils.studio.lattice import WHY_NOT, Explorer, Standing
from manyveils.studio.pages.layout import element, follow, html, places, problem_box, table, telling
from manyveils.studio.pages.why_not import show_problem
from manyveils.studio.work import Job
from manyveils.studio.workbench import Workbench


@dataclass
class Asked:
    """The node that is looked at."""

    node: tuple[int, ...]


def show(bench: Workbench, changed: Callable[[], None]) -> None:
    """The page."""
    html(
        "p",
        "Full-domain recoding publishes every quasi-identifier at one level of its hierarchy. All combinations of levels "
        "are a lattice; here each can be looked at before anything is published.",
    )
    html("p", WHY_NOT)
    waiting = html("p", "Counting the groups …").props("aria-live=polite")
    body = ui.column().classes("wide")

    async def count() -> None:
        with body, telling():
            try:
                explorer = await run.io_bound(bench.explorer)
                if explorer is not None:
                    _explore(bench, explorer)
            except ManyveilsError as error:
                for problem in error.problems:
                    show_problem(bench.text, problem, take)
            finally:
                waiting.delete()

    def take(change: Change) -> None:
        with telling():
            bench.change(document.with_change(bench.text, change))
            ui.navigate.reload()

    ui.timer(0.05, count, once=True)


def _explore(bench: Workbench, explorer: Explorer) -> None:
    """Sliders, and what the node comes to."""
    optimum = bench.optimum
    asked = Asked(bench.node_in(explorer))
    sliders: list[ui.slider] = []

    async def look() -> None:
        node = asked.node
        standing = await run.io_bound(explorer.at, node)
        if standing is None or node != asked.node:
            return
        bench.choose(levels=dict(zip(explorer.names, node, strict=True)))
        said.clear()
        with said:
            _standing(explorer, standing, is_optimum=optimum_node() == node)
        await step_to(node)

    async def step_to(node: tuple[int, ...]) -> None:
        steps = explorer.neighbours(node)
        told = await run.io_bound(lambda: [(words, explorer.at(there)) for words, there in steps])
        if told is None or node != asked.node:
            return
        neighbours.clear()
        with neighbours:
            _neighbours(told, go)

    def optimum_node() -> tuple[int, ...] | None:
        job = bench.optimum
        if job is None or job.result is None:
            return None
        return tuple(job.result["levels"].get(name, 0) for name in explorer.names)

    def go(node: tuple[int, ...]) -> None:
        asked.node = node
        for slider, level in zip(sliders, node, strict=True):
            slider.set_value(level)

    async def slide(axis: int, level: int) -> None:
        asked.node = (*asked.node[:axis], level, *asked.node[axis + 1 :])
        await look()

    for axis, name in enumerate(explorer.names):
        with element("div", css="level"):
            labels = ", ".join(f"{explorer.labels(axis, level):,}" for level in range(explorer.shape[axis]))
            ui.label(f"{name}: level 0 to {explorer.shape[axis] - 1} ({labels} labels)")
            slider = ui.slider(
                min=0,
                max=explorer.shape[axis] - 1,
                step=1,
                value=asked.node[axis],
                on_change=lambda event, axis=axis: slide(axis, int(event.value)),
            )
            slider.props("label-always snap markers")
            slider.props["aria-label"] = f"Level of {name}"
            sliders.append(slider)
    said = ui.column().classes("wide").props("aria-live=polite")
    with element("div", css="row"):
        find = ui.button("Find the optimum", on_click=lambda: search())
        there = ui.button("Go to the optimum", on_click=lambda: go(optimum_node() or asked.node))
    running, refused, neighbours = places()
    neighbours.props(remove="role")

    def search() -> None:
        refused.clear()
        with refused, telling():
            watch(bench.find_optimum())

    def watch(job: Job) -> None:
        find.disable()
        with running:
            follow(job, ended)

    async def ended(job: Job) -> None:
        find.enable()
        there.set_enabled(optimum_node() is not None)
        with refused:
            for problem in job.problems:
                problem_box(problem)
        await look()

    there.set_enabled(optimum_node() is not None)
    if optimum is not None and optimum.is_running:
        watch(optimum)
    ui.timer(0.05, look, once=True)


def _standing(explorer: Explorer, standing: Standing, *, is_optimum: bool) -> None:
    """What a node comes to, in a sentence and a table of promises."""
    if is_optimum:
        html("p", "This is the optimum: what publishing chooses.").classes("verdict")
    may = f"{standing.left_out:,} people must be left out, and {standing.limit:,} may be."
    kept = "Every promise is kept here" if standing.is_kept else "Promises are not kept here"
    html("p", f"{kept}: {may}").classes("fine" if standing.is_kept else "unkept")
    html(
        "p",
        f"{percent(standing.loss)} of the detail is lost; {standing.n_groups:,} groups, the smallest of {standing.smallest:,}.",
    )
    rows = [
        [own.promise, own.attribute, "yes" if not own.n_broken else "no", own.n_broken]
        for own in standing.promises
    ]
    table(
        "Promises at these levels", ["promise", "about", "kept by all groups", "people in other groups"], rows
    )


def _neighbours(told: list[tuple[str, Standing]], go: Callable[[tuple[int, ...]], None]) -> None:
    html("h2", "Neighbours")
    with element("div", css="row"):
        for words, standing in told:
            lost = f"{percent(standing.loss)} lost, {standing.left_out:,} left out"
            verdict = "kept" if standing.is_kept else "not kept"
            ui.button(
                f"{words}: {verdict}, {lost}", on_click=lambda standing=standing: go(standing.node)
            ).props("outline")
