"""What every command shares: errors become exit statuses, results become tables or one JSON document."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from manyveils.errors import ManyveilsError

Json = typer.Option("--json", help="Print one JSON document on stdout and nothing else.")


@contextmanager
def open_door(*, as_json: bool) -> Iterator[None]:
    """Turn errors into messages and exit statuses: 1 a promise cannot be kept, 2 bad input."""
    try:
        yield
    except ManyveilsError as error:
        if as_json:
            problems = [{"where": p.where, "what": p.what, "remedy": p.remedy} for p in error.problems]
            show_json({"error": type(error).__name__, "exit_status": error.exit_status, "problems": problems})
        else:
            typer.echo(
                f"{_heading(error)}\n" + "\n".join(f"  {problem}" for problem in error.problems), err=True
            )
        raise typer.Exit(error.exit_status) from None
    except KeyboardInterrupt:
        typer.echo("Interrupted; nothing was left behind.", err=True)
        raise typer.Exit(130) from None


def _heading(error: ManyveilsError) -> str:
    return {
        "PolicyError": "The policy has problems:",
        "DataError": "The data have problems:",
        "InfeasibleError": "A promise cannot be kept:",
        "BrokenPromise": "A promise is broken:",
    }.get(type(error).__name__, "This cannot be done:")


def show_json(document: object) -> None:
    """Print one JSON document; infinities become null, which JSON can say."""
    typer.echo(json.dumps(_finite(document), indent=2, ensure_ascii=False))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return value.item() if hasattr(value, "item") else value


def show_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a readable table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, title=title, title_justify="left", title_style="bold", header_style="bold")
    for row in rows:
        table.add_row(*(_cell(entry) for entry in row))
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else ("" if value is None else str(value))


@contextmanager
def progress_bar(*, as_json: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar on stderr for work over a second; silent when stderr is not a terminal."""
    if as_json or not sys.stderr.isatty():
        yield lambda stage, share: None
        return
    from time import monotonic

    from rich.console import Console
    from rich.progress import Progress

    bar, started, tasks = (
        Progress(console=Console(stderr=True), transient=True),
        monotonic(),
        dict[str, Any](),
    )

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
