"""What every command shares: errors become exit statuses, results become tables or one JSON document."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from signal import SIGTERM, default_int_handler, signal
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

import typer

from manyveils.errors import ManyveilsError, Problem, fault, out_of_memory
from manyveils.plain import plain, readable

if TYPE_CHECKING:
    from rich.progress import ProgressColumn
    from rich.table import Table

INTERRUPTED, FAULT = 130, 70
WITHOUT_TERMINAL = 140
# Stages that tell how many rows they pass.
OF_ROWS = re.compile(r"([0-9,]+) rows$")

Progress = Callable[[str, float], None]
ShowTable = Callable[[str, Sequence[str], Sequence[Sequence[object]]], None]


@dataclass(frozen=True)
class Door:
    """How a command talks: in JSON or in words, with a progress bar or without."""

    as_json: bool
    progress: Progress

    def show(self, document: object, in_words: Callable[[], None]) -> None:
        """Print a result: one JSON document if that was asked for, or words and tables."""
        if self.as_json:
            show_json(document)
        else:
            in_words()


@contextmanager
def open_door(*, as_json: bool) -> Iterator[Door]:
    """Turn errors into messages and exit statuses: 1 a promise cannot be kept, 2 bad input."""
    try:
        with _heeding_termination(), _progress_bar(as_json=as_json) as progress:
            yield Door(as_json, progress)
    except typer.Exit:
        raise
    except (ManyveilsError, MemoryError) as error:
        raise typer.Exit(_show(error, as_json=as_json)) from None
    except BrokenPipeError:
        # Whoever was reading has read enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except KeyboardInterrupt:
        stopped = [Problem("", "Nothing was left behind.")]
        show_error("Interrupted", "Interrupted.", INTERRUPTED, stopped, as_json=as_json)
        raise typer.Exit(INTERRUPTED) from None
    except BaseException as error:
        # Panics of the library that reads tables are no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        show_error("Fault", "This is a fault of manyveils:", FAULT, [fault(error)], as_json=as_json)
        raise typer.Exit(FAULT) from None


def _show(error: ManyveilsError | MemoryError, *, as_json: bool) -> int:
    """Print an error of ours, and give its exit status."""
    ours = error if isinstance(error, ManyveilsError) else out_of_memory()
    kind = type(ours).__name__
    show_error(kind, ours.heading, ours.exit_status, ours.problems, as_json=as_json)
    return ours.exit_status


@contextmanager
def _heeding_termination() -> Iterator[None]:
    """Take a request to end like Ctrl-C, so that half-written folders are cleared away."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal(SIGTERM, default_int_handler)
    try:
        yield
    finally:
        signal(SIGTERM, before)


def show_error(kind: str, heading: str, status: int, problems: Sequence[Problem], *, as_json: bool) -> None:
    """Print what is wrong: on stderr for people, or as one JSON document on stdout."""
    if as_json:
        show_json({"error": kind, "exit_status": status, "problems": list(map(asdict, problems))})
    else:
        typer.echo("\n".join([heading, *(f"  {problem}" for problem in problems)]), err=True)


def show_json(document: object) -> None:
    """Print one JSON document; infinities become null, which JSON can say."""
    typer.echo(json.dumps(plain(document), indent=2, ensure_ascii=False))


def width() -> int:
    """How many letters a line has room for; where nobody looks, room enough for most tables."""
    from rich.console import Console

    return Console().width if sys.stdout.isatty() else WITHOUT_TERMINAL


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a readable table."""
    from rich.console import Console

    Console(width=width()).print(_table(title, header, rows))


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> "Table":
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    for place, name in enumerate(header):
        # Where there is no room, texts go on in the next line; a number is never cut in two, nor cut off.
        are_numbers = all(row[place] is None or isinstance(row[place], int | float) for row in rows)
        table.add_column(
            name, overflow="fold", no_wrap=False, min_width=_widest(rows, place) if are_numbers else None
        )
    for row in rows:
        table.add_row(*(_cell(entry) for entry in row))
    return table


def _widest(rows: Sequence[Sequence[object]], place: int) -> int:
    return max((len(_cell(row[place])) for row in rows), default=0)


@contextmanager
def growing_table(*, as_json: bool) -> Iterator[ShowTable | None]:
    """A table that is shown again whenever it has grown, and goes when the work is done; none without a terminal."""
    if as_json or not sys.stdout.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), transient=True, auto_refresh=False) as live:
        yield lambda title, header, rows: live.update(_table(title, header, rows), refresh=True)


def _cell(value: object) -> str:
    return "NO" if value is False else "" if value is None else readable(value)


def _speed_column() -> "ProgressColumn":
    """A column of a bar with the rows per second of stages that tell how many they pass."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(rows_per_second(task.description, task.finished_speed or task.speed))

    return Speed()


def rows_per_second(stage: str, shares: float | None) -> str:
    """How many rows are passed in a second, of a stage of which so large a share is done in one; nothing if none are told.

    >>> rows_per_second("sorting 2,000 rows", 0.25), rows_per_second("deciding", 0.25)
    ('500 rows/s', '')
    """
    told = OF_ROWS.search(stage)
    return f"{int(told[1].replace(',', '')) * shares:,.0f} rows/s" if told and shares else ""


@contextmanager
def _progress_bar(*, as_json: bool) -> Iterator[Progress]:
    """A progress bar on stderr for work over a second; silent when stderr is not a terminal."""
    if as_json or not sys.stderr.isatty():
        yield lambda stage, share: None
        return
    from time import monotonic

    from rich.console import Console
    from rich.progress import Progress as Bar

    columns = (*Bar.get_default_columns(), _speed_column())
    bar, started = Bar(*columns, console=Console(stderr=True), transient=True), monotonic()
    tasks: dict[str, Any] = {}

    def report(stage: str, share: float) -> None:
        if monotonic() - started < 1:
            return
        if not bar.live.is_started:
            bar.start()
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=1.0)
        bar.update(tasks[stage], completed=share)

    try:
        yield report
    finally:
        bar.stop()
