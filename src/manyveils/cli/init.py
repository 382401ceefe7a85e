"""`manyveils init`: look at the data and write a commented policy to start from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Force, option, place_of
from manyveils.errors import InputError

WITH_OTHERS = "and all other sensitive values"

if TYPE_CHECKING:
    from manyveils.audits.kept import Kept
    from manyveils.profiling import Profile


def command(
    data: Annotated[
        Any,
        typer.Argument(
            help="The data: a file (csv, parquet, arrow, Excel, SPSS, Stata, SAS, DuckDB), or the address of a database.",
            parser=place_of,
            metavar="DATA",
        ),
    ],
    out: Annotated[Path, option("Where the policy is written.", "--out", "-o")] = Path("policy.toml"),
    delimiter: Annotated[
        str | None, option("What separates the fields of a csv file, if not , ; | tab.")
    ] = None,
    encoding: Annotated[str | None, option("The encoding of a csv file, if not UTF-8.")] = None,
    decimal: Annotated[str | None, option("What stands before decimals, if not a point.")] = None,
    thousands: Annotated[str | None, option("What stands between thousands.")] = None,
    dates: Annotated[str | None, option("The order of day, month and year: dmy, mdy or ymd.")] = None,
    sheet: Annotated[str | None, option("The sheet of a spreadsheet.")] = None,
    table: Annotated[str | None, option("The table of a database.")] = None,
    query: Annotated[str | None, option("What a database is asked, instead of a table.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Guess roles, hierarchies and promises from the data, each with its reason, and write them as a policy."""
    with open_door(as_json=as_json) as door:
        from manyveils.profiling import profile
        from manyveils.release.folder import path_from, refuse_file, write_file

        _refuse_place(out, data)
        refuse_file(out, force=force)
        form = {"encoding": encoding, "decimal": decimal, "thousands": thousands, "dates": dates}
        form |= {"sheet": sheet, "table": table, "query": query}
        told = {key: value for key, value in form.items() if value is not None}
        guessed = profile(data, delimiter=delimiter, form=told, progress=door.progress)
        seen = data if isinstance(data, str) else path_from(out.parent, data)
        write_file(out, guessed.policy_text(seen), force=force)
        kept = _kept(data, guessed)
        document = {"policy": str(out), "profile": guessed.describe(), "keeps": kept and kept.describe()}
        door.show(document, lambda: _show(guessed, kept, out))


def _kept(data: Path | str, guessed: "Profile") -> "Kept | None":
    """What the table keeps as it stands; None where it cannot be judged before somebody decides."""
    from manyveils.examining import keeps

    try:
        return keeps(data, guessed)
    except InputError:
        return None


def _refuse_place(out: Path, data: Path | str) -> None:
    if out.suffix.lower() != ".toml":
        raise InputError.at(str(out), "a policy is written as TOML.", "End its name in .toml.")
    if not out.parent.is_dir():
        raise InputError.at(str(out), "its folder does not exist.", "Make it first.")
    if isinstance(data, Path) and out.exists() and data.exists() and out.samefile(data):
        raise InputError.at(str(out), "is the data file itself.", "Choose another name.")


def _show(guessed: "Profile", kept: "Kept | None", out: Path) -> None:
    from manyveils.profiling.guesses import percent

    rows = [
        [name, facts.type, facts.distinct, facts.missing, percent(facts.alone), decided.role, decided.reason]
        for (name, facts), decided in zip(guessed.facts.items(), guessed.decided.values(), strict=True)
    ]
    header = ["column", "type", "distinct", "missing", "unique", "role", "why"]
    show_table(f"{guessed.n_rows:,} rows", header, rows)
    _show_combinations(guessed)
    if kept is not None:
        _show_kept(kept)
    typer.echo(f"Wrote {out}. Every guess in it has its reason beside it: read them before you publish.")
    for warning in guessed.warnings:
        typer.echo(f"Decide: {warning}")
    typer.echo(f"Next: manyveils plan {out}")


def _show_combinations(guessed: "Profile") -> None:
    from manyveils.profiling.guesses import percent

    measured = guessed.uniqueness
    shown = [*measured.growing[:1], *measured.pairs[:3], *measured.threes[:3], *measured.growing[-1:]]
    if shown:
        of = f"a sample of {measured.n_rows:,} rows" if measured.is_sample else "all rows"
        rows = [[", ".join(known.names), percent(known.alone)] for known in dict.fromkeys(shown)]
        show_table(f"Unique rows, of {of}", ["an adversary knows", "unique rows"], rows)


def _show_kept(kept: "Kept") -> None:
    """Say what could be promised of the table if it were published as it is, by these roles."""
    k = "nothing" if kept.k is None else f"k = {kept.k:,.0f}"
    rows = [
        [of.attribute, "the quasi-identifiers" if of.reading == "marginal" else WITH_OTHERS, of.l, of.t]
        for of in kept.attributes
        if of.reading in ("marginal", "conditional")
    ]
    if rows:
        header = ["sensitive attribute", "someone knows", "largest l (distinct)", "smallest t"]
        show_table(f"What this table keeps as it stands: {k}", header, rows)
    else:
        typer.echo(f"What this table keeps as it stands: {k}.")
