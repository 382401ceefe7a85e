"""The lattice: levels by hand, what every node comes to at once, the optimum, and neighbours to step to."""

from collections.abc import Callable

from nicegui import run, ui

from manyveils.errors import Change, ManyveilsError
from manyveils.profiling.guesses import percent
from manyveils.studio import document
from manyveils.studio.lattice import WHY_NOT, Explorer, Standing
from manyveils.studio.pages.layout import (
    element,
    follow,
    html,
    places,
    show_problem,
    show_problems,
    table,
    telling,
)
from manyveils.studio.work import Job
from manyveils.studio.workbench import Workbench

Node = tuple[int, ...]


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
                    _Nodes(bench, explorer)
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


class _Nodes:
    """Sliders for a node, what it comes to, and the ways to others."""

    def __init__(self, bench: Workbench, explorer: Explorer) -> None:
        self.bench, self.explorer = bench, explorer
        self.node = bench.node_in(explorer)
        self.sliders = [self._slider(axis, name) for axis, name in enumerate(explorer.names)]
        self.said = ui.column().classes("wide").props("aria-live=polite")
        with element("div", css="row"):
            self.find = ui.button("Find the optimum", on_click=self._search)
            self.there = ui.button(
                "Go to the optimum", on_click=lambda: self._go(self._optimum() or self.node)
            )
        self.running, self.refused, self.neighbours = places()
        self.there.set_enabled(self._optimum() is not None)
        if bench.optimum is not None and bench.optimum.is_running:
            self._watch(bench.optimum)
        ui.timer(0.05, self._look, once=True)

    def _slider(self, axis: int, name: str) -> ui.slider:
        size = self.explorer.shape[axis]
        labels = ", ".join(f"{self.explorer.labels(axis, level):,}" for level in range(size))
        with element("div", css="level"):
            ui.label(f"{name}: level 0 to {size - 1} ({labels} labels)")
            slider = ui.slider(
                min=0,
                max=size - 1,
                step=1,
                value=self.node[axis],
                on_change=lambda event: self._slide(axis, int(event.value)),
            )
            slider.props("label-always snap markers").props["aria-label"] = f"Level of {name}"
        return slider

    async def _slide(self, axis: int, level: int) -> None:
        self.node = (*self.node[:axis], level, *self.node[axis + 1 :])
        await self._look()

    def _go(self, node: Node) -> None:
        self.node = node
        for slider, level in zip(self.sliders, node, strict=True):
            slider.set_value(level)

    async def _look(self) -> None:
        """Show what the node comes to, and then its neighbours, unless another one is looked at by then."""
        node = self.node
        standing = await run.io_bound(self.explorer.at, node)
        if standing is None or node != self.node:
            return
        self.bench.choose(levels=dict(zip(self.explorer.names, node, strict=True)))
        self.said.clear()
        with self.said:
            _standing(standing, is_optimum=self._optimum() == node)
        steps = self.explorer.neighbours(node)
        told = await run.io_bound(lambda: [(words, self.explorer.at(there)) for words, there in steps])
        if told is not None and node == self.node:
            self.neighbours.clear()
            with self.neighbours:
                _neighbours(told, self._go)

    def _optimum(self) -> Node | None:
        job = self.bench.optimum
        if job is None or job.result is None:
            return None
        return tuple(job.result["levels"].get(name, 0) for name in self.explorer.names)

    def _search(self) -> None:
        self.refused.clear()
        with self.refused, telling():
            self._watch(self.bench.find_optimum())

    def _watch(self, job: Job) -> None:
        self.find.disable()
        with self.running:
            follow(job, self._ended)

    async def _ended(self, job: Job) -> None:
        self.find.enable()
        self.there.set_enabled(self._optimum() is not None)
        show_problems(self.refused, job.problems, heading=job.heading)
        await self._look()


def _standing(standing: Standing, *, is_optimum: bool) -> None:
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


def _neighbours(told: list[tuple[str, Standing]], go: Callable[[Node], None]) -> None:
    html("h2", "Neighbours")
    with element("div", css="row"):
        for words, standing in told:
            lost = f"{percent(standing.loss)} lost, {standing.left_out:,} left out"
            verdict = "kept" if standing.is_kept else "not kept"
            ui.button(
                f"{words}: {verdict}, {lost}",
                color=None,
                on_click=lambda standing=standing: go(standing.node),
            ).props("outline")
