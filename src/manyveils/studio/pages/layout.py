"""What all pages share: the way through them, the policy as text beside them, and how refusals are shown."""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from nicegui import app, run, ui
from starlette.responses import FileResponse, PlainTextResponse, Response

from manyveils.errors import Change, ManyveilsError, Problem, fault
from manyveils.plain import readable
from manyveils.studio import document
from manyveils.studio.session import file_of
from manyveils.studio.work import Job
from manyveils.studio.workbench import Workbench

if TYPE_CHECKING:
    from manyveils.studio.serving import Studio

Show = Callable[[Workbench, Callable[[], None]], None]
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
# Stands out from white and from black, as from the letters on it.
TEAL = "#00796b"
LOOK_EVERY = 0.3


def register(studio: "Studio") -> None:
    """Give every page its address."""
    from manyveils.studio.pages import data, hierarchies, lattice, people, promises, release, ways

    shown: dict[str, tuple[str, Show]] = {
        "/": ("Data", data.show),
        "/people": ("Who stands out", people.show),
        "/hierarchies": ("Hierarchies", hierarchies.show),
        "/promises": ("Promises", promises.show),
        "/ways": ("Ways", ways.show),
        "/lattice": ("Lattice", lattice.show),
        "/release": ("Release", release.show),
    }
    titles = {path: title for path, (title, _) in shown.items()}
    ui.page("/open", title="Open · manyveils studio")(_open_another(studio, titles))
    for path, (title, show) in shown.items():
        ui.page(path, title=f"{title} · manyveils studio")(_page(studio, titles, path, show))

    @app.get("/report")
    def report() -> Response:
        """The report that was written last."""
        job = studio.bench.reporting if studio.bench else None
        if job is None or job.result is None:
            return PlainTextResponse("There is no report yet.\n", 404)
        return FileResponse(job.result["report"], media_type="text/html")


def _open_another(studio: "Studio", titles: dict[str, str]) -> Callable[[], None]:
    def page() -> None:
        ui.add_css(STYLE)
        ui.colors(primary=TEAL)
        _header(titles, "/open")
        with element("div", css="main"):
            html("h1", "Open")
            _opening(studio)

    return page


def _page(studio: "Studio", titles: dict[str, str], here: str, show: Show) -> Callable[[], None]:
    def page() -> None:
        ui.add_css(STYLE)
        ui.colors(primary=TEAL)
        _header(titles, here)
        with element("div", css="sides"):
            # What stands around is the one main landmark already.
            main = element("div", css="main")
            with main:
                html("h1", titles[here])
            if studio.bench is None:
                with main:
                    _opening(studio)
                return
            with element("section", css="side", label="The policy"):
                changed = _policy(studio.bench)
            with main, telling():
                show(studio.bench, changed)

    return page


def _header(titles: dict[str, str], here: str) -> None:
    with element("header"):
        html("span", "manyveils studio").classes("brand")
        with element("nav", label="Steps"):
            for path, title in {**titles, "/open": "Open"}.items():
                link = ui.link(title, path)
                if path == here:
                    link.props["aria-current"] = "page"


def _opening(studio: "Studio") -> None:
    """Ask for a table or a policy."""
    ui.label("Name a table on this machine (csv, parquet, Excel, …), or a policy that names one.")
    place = ui.input("Path of the table or policy").classes("wide")

    async def open_it() -> None:
        refused.clear()
        with refused, telling():
            await run.io_bound(studio.open, Path(place.value or ""))
            ui.navigate.to("/")

    ui.button("Open", on_click=open_it)
    refused = ui.column()


def _policy(bench: Workbench) -> Callable[[], None]:
    """The policy as text, to change and to copy; gives what is to be called when a page has changed it."""
    html("h2", "The policy")
    problems = ui.column().props("aria-live=polite")
    text = (
        ui.textarea("Policy as text (TOML)", value=bench.text)
        .classes("policy")
        .props("autogrow spellcheck=false")
    )

    def changed() -> None:
        text.value = bench.text
        undo.set_enabled(bool(bench.earlier))
        found = bench.problems()
        show_problems(problems, (), "" if found else "The policy has no contradictions.")
        with problems:
            for problem in found:
                show_problem(bench.text, problem, mend)

    def take() -> None:
        with telling():
            bench.change(text.value or "")
            ui.navigate.reload()

    def mend(change: Change) -> None:
        with telling():
            bench.change(document.with_change(bench.text, change))
            ui.navigate.reload()

    def back() -> None:
        bench.undo()
        ui.navigate.reload()

    with element("div", css="row"):
        ui.button("Take this text", on_click=take)
        undo = ui.button("Undo", on_click=back)
        ui.button("Copy the policy", on_click=lambda: ui.clipboard.write(bench.text))
    kept = f"What you chose is kept in {file_of(bench.policy_file).name}, without data."
    html(
        "p",
        kept
        if bench.is_kept
        else "Choices are not kept: another studio is open, or the folder cannot be written.",
    ).classes("why")
    changed()
    return changed


def element(tag: str, *, css: str = "", label: str = "") -> ui.element:
    """An element of the page; its label is for those who do not see it."""
    made = ui.element(tag).classes(css)
    if label:
        made.props["aria-label"] = label
    return made


def html(tag: str, text: str) -> ui.html:
    """A text in a tag; nothing in it is taken for markup."""
    return ui.html(escape(text), tag=tag, sanitize=False)


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> ui.html:
    """A table of texts and numbers, which scrolls where it is too wide."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(readable(entry))}</td>" for entry in row) + "</tr>" for row in rows
    )
    inside = f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    shown = ui.html(inside, sanitize=False).classes("scrolls").props("tabindex=0 role=region")
    shown.props["aria-label"] = caption
    return shown


def show_problems(
    place: ui.element, problems: Sequence[Problem], otherwise: str = "", *, heading: str = ""
) -> None:
    """Show problems, each with its remedy, in place of what stood there."""
    place.clear()
    with place:
        if heading and problems:
            html("p", heading).classes("heading")
        for problem in problems:
            problem_box(problem)
        if not problems and otherwise:
            html("p", otherwise).classes("fine")


def problem_box(problem: Problem) -> ui.element:
    """A problem with its remedy."""
    box = element("div", css="problem")
    with box:
        html("strong", problem.where or "This cannot be done")
        html("p", problem.what)
        if problem.remedy:
            html("p", problem.remedy).classes("remedy")
    return box


def show_problem(text: str, problem: Problem, take: Callable[[Change], None], suffix: str = "") -> None:
    """A problem of a policy's text, with a button for each change that would mend it."""
    with problem_box(problem), element("div", css="row"):
        for change in problem.changes:
            words = document.change_in_words(text, change)
            ui.button(f"{words}{suffix}", on_click=lambda change=change: take(change))


@contextmanager
def telling(before: Callable[[], object] = lambda: None) -> Iterator[None]:
    """Show a refusal where it happens, after `before`; of a fault only the place, because its message may quote cells."""
    try:
        yield
    except ManyveilsError as error:
        before()
        show_problems(ui.column().props("role=alert"), error.problems, heading=error.heading)
    except Exception as error:
        before()
        show_problems(ui.column().props("role=alert"), [fault(error)])


def places() -> tuple[ui.column, ui.column, ui.column]:
    """Where work that is going on is shown, what refuses it, and what came of it."""
    running, refused, done = (ui.column().classes("wide") for _ in range(3))
    refused.props("role=alert")
    return running, refused, done


def follow(job: Job, done: Callable[[Job], Awaitable[None] | None], *, name: str = "") -> None:
    """Show how far a job is, with a way to cancel it; `done` is called when it has come to an end."""
    place = element("div", css="job")
    prefix = f"{name}: " if name else ""
    with place:
        stage = ui.label(prefix + job.stage).props("aria-live=polite")
        bar = ui.linear_progress(0.0, show_value=False)
        bar.props["aria-label"] = "Progress"

        async def cancel() -> None:
            button.disable()
            stage.text = "cancelling"
            await run.io_bound(job.cancel)

        button = ui.button("Cancel", on_click=cancel)

    async def look() -> None:
        if job.look():
            stage.text, bar.value = f"{prefix}{job.stage} …", job.share
            return
        timer.deactivate()
        place.delete()
        waits = done(job)
        if waits is not None:
            await waits

    timer = ui.timer(LOOK_EVERY, look)
