"""What is asked of a release: `manyveils audit`, `measure`, `query` and `report`."""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import open_door, show_table, width
from manyveils.cli.options import (
    After,
    AsJson,
    Data,
    Engine,
    Force,
    Master,
    Memory,
    PolicyOption,
    ReleaseFolder,
    option,
)
from manyveils.cli.words import measure_means, promises_mean
from manyveils.errors import InputError
from manyveils.wording import counted

if TYPE_CHECKING:
    from manyveils.audits import Audit, Finding
    from manyveils.audits.grouped import Row
    from manyveils.reading import Count

# Consequences beyond the promises that are said in words; --json has all.
MOST_TOLD = 5
# What stands over a column, and the field of a finding that it shows.
COLUMNS = {
    "promise": "named",
    "of": "attribute",
    "view": "view",
    "reading": "reading",
    "required": "required",
    "measured": "measured",
    "kept": "kept",
    "smallest": "worst_group_size",
    "groups short": "groups_short",
    "rows short": "rows_short",
}
# Without these a table fits a terminal of a hundred letters and a few; --json has them.
WIDE = ("worst_group_size", "groups_short")
FULL, NARROW = 140, 110
PARTS: "Mapping[str, Callable[[Finding], bool]]" = {
    "Promised": lambda finding: finding.promised and finding.reading != "release",
    "What holds for every release": lambda finding: finding.promised and finding.reading == "release",
    "Not promised": lambda finding: not finding.promised,
}


def audit(
    release: ReleaseFolder,
    policy: PolicyOption,
    data: Data = None,
    level: Annotated[
        list[str] | None, option("Also count what falls short of a level, such as k=10.")
    ] = None,
    private: Annotated[
        Path | None, option("The private folder, which says who stands where; <release>.private by default.")
    ] = None,
    rows: Annotated[
        Path | None, option("Of a table: write which rows fall short of what, for its owner (csv).")
    ] = None,
    after: After = None,
    engine: Engine = "local",
    master: Master = None,
    memory: Memory = None,
    force: Force = False,
    expectations: Annotated[
        bool,
        option("Print one JSON document as Great Expectations writes results.", "--expectations"),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Check every promise of a release, or of any table that is a file or a folder of parts; exit status 1 if one is broken.

    A release is checked against its original. A table is judged as it stands, and with --data against its original too.
    """
    with open_door(as_json=as_json or expectations) as door:
        from manyveils.examining import audit

        if rows is not None:
            _refuse_rows(rows, release, force=force)
        levels = dict(map(_level, level or []))
        verdict = audit(
            release,
            data,
            policy,
            levels=levels,
            rows=rows is not None,
            private=private,
            after=after or (),
            engine=engine,
            master=master,
            memory=memory,
            progress=door.progress,
        )
        if rows is not None:
            _write_rows(verdict, rows, force=force)
        told = verdict.expectations() if expectations else verdict.describe()
        door.show(told, lambda: show_audit(verdict))
        if not verdict.kept:
            raise typer.Exit(1)


def _refuse_rows(rows: Path, release: Path, *, force: bool) -> None:
    """Rows go into a file of their own, which is not the table itself."""
    from manyveils.release.folder import refuse_file

    if rows.resolve() == release.resolve():
        raise InputError.at("--rows", "is the table itself.", "Choose another file.")
    refuse_file(rows, force=force)


def _write_rows(verdict: "Audit", rows: Path, *, force: bool) -> None:
    """Write which rows fall short, where only the owner reads it."""
    from manyveils.release.folder import write_file

    write_file(rows, verdict.rows.write_csv(), force=force, mode=0o600)


def _level(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = float("nan")
    if not isfinite(value):
        raise InputError.at("--level", "must look like k=10.")
    return name.strip(), value


def show_audit(verdict: "Audit") -> None:
    """Print findings as a table, promises first, and the verdict in words."""
    from manyveils.audits.finding import REMEDY, UNTOLD
    from manyveils.audits.grouped import grouped

    rows = grouped(verdict)
    for title, belongs in PARTS.items():
        part = [row for row in rows if belongs(row.worst)]
        if part and width() < NARROW:
            typer.echo("\n".join([title, *(_line(str(row)) for row in part)]))
        elif part:
            columns = _columns(part)
            lines = [[row.shown(field) for field in columns.values()] for row in part]
            show_table(title, list(columns), lines)
    for line in promises_mean(row.worst.promise for row in rows):
        typer.echo(line)
    show_persons(verdict.persons)
    if verdict.kept:
        typer.echo("Every promise is kept.")
    else:
        names = ", ".join(sorted({finding.promise for finding in verdict.broken}))
        typer.echo(f"{len(verdict.broken)} promises are BROKEN: {names}.")
    if verdict.beside:
        typer.echo(verdict.beside)
    for told in verdict.not_promised[:MOST_TOLD]:
        typer.echo(f"{told.what} {told.remedy}")
    for gap in verdict.not_judged:
        typer.echo(f"Not judged ({gap['promise']}): {gap['why']}.")
    show_accepted(verdict.accepted)
    if verdict.untold:
        typer.echo(f"Views {', '.join(verdict.untold)}: {UNTOLD} {REMEDY}")


def _line(words: str) -> str:
    """A finding as a line; what does not fit goes on further in."""
    return fill(words, width(), initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def _columns(rows: "Sequence[Row]") -> dict[str, str]:
    """The columns that say something of these lines, as far as there is room."""
    room = WIDE if width() < FULL else ()
    return {
        title: field
        for title, field in COLUMNS.items()
        if field not in room and any(row.shown(field) not in ("", None) for row in rows)
    }


def show_accepted(accepted: Sequence[Mapping[str, str]]) -> None:
    """Say what the policy accepts although it is doubtful."""
    for doubt in accepted:
        typer.echo(f"Accepted by the policy ({doubt['code']}): {doubt['what']}")


def show_persons(persons: Mapping[str, Any]) -> None:
    """Say in a line who is who, where that is not a matter of course: somebody has several rows, or nobody is told apart."""
    if persons["n"] < persons["rows"]:
        typer.echo(f"{counted(persons['n'], 'person')} in {persons['rows']:,} rows. {persons['note']}")
    elif persons["is_assumed"]:
        typer.echo(persons["note"])


def measure(
    release: ReleaseFolder,
    policy: PolicyOption,
    data: Data = None,
    learn: Annotated[str | None, option("An attribute for models to learn; needs --held-out.")] = None,
    held_out: Annotated[Path | None, option("People not in the release, in the same columns.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure loss, distortion, divergence, the error of counts and more; with --learn, what models still learn."""
    with open_door(as_json=as_json) as door:
        from manyveils.examining import measure

        utility = measure(release, data, policy, learn=learn, held_out=held_out).describe()
        door.show(utility, lambda: _show_utility(utility))


def _show_utility(utility: Mapping[str, Any]) -> None:
    single = [[key, value] for key, value in utility.items() if not isinstance(value, dict)]
    by_part = [
        [f"{key}: {part}", value]
        for key, values in utility.items()
        if isinstance(values, dict)
        for part, value in values.items()
    ]
    rows = [[key, value, measure_means(str(key))] for key, value in single + by_part]
    show_table("Utility", ["measure", "value", "is"], rows)


def query(
    release: ReleaseFolder,
    conditions: Annotated[str, typer.Argument(help="Conditions joined by `and`.")],
    as_json: AsJson = False,
) -> None:
    """Estimate for how many of the published rows conditions hold, and what the number must lie between."""
    with open_door(as_json=as_json) as door:
        from manyveils.release import Release

        count = Release.load(release).count(conditions)
        numbers: dict[str, Any] = {key: getattr(count, key) for key in ("estimate", "low", "high", "how")}
        door.show(
            numbers | ({"compares_codes": True} if count.compares_codes else {}), lambda: _show_count(count)
        )


def _show_count(count: "Count") -> None:
    if count.compares_codes:
        typer.echo("Codes and grades are compared as they are published; what they stand for is secret.")
    if count.low == count.high:
        typer.echo(f"Exactly {count.low:,} rows.")
        return
    number = f"{count.estimate:,.0f}" if count.estimate >= 100 else f"{count.estimate:.3g}"
    drawn = ", estimated from rows drawn at random" if count.how == "sample" else ""
    typer.echo(f"About {number} rows{drawn}; between {count.low:,} and {count.high:,} for certain.")
