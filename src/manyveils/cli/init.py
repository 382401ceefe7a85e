"""`manyveils init`: look at the data and write a commented policy to start from."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import Json, open_door, progress_bar, show_json, show_table
from manyveils.errors import InputError, Problem

if TYPE_CHECKING:
    from manyveils.profiling import Profile

EXAMPLE = "Example: manyveils init patients.csv -o policy.toml"


def command(
    data: Annotated[Path, typer.Argument(help="The data: csv, parquet or arrow/feather.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the policy is written.")] = Path(
        "policy.toml"
    ),
    delimiter: Annotated[
        str | None, typer.Option(help="What stands between the fields of a csv file, if not , ; | or tab.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing policy.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Guess roles, hierarchies and promises from the data, each with its reason, and write them as a policy."""
    with open_door(as_json=as_json):
        from manyveils.profiling import profile
        from manyveils.release.folder import refuse_file, write_file

        _refuse_place(out, data)
        refuse_file(out, force=force)
        with progress_bar(as_json=as_json) as progress:
            found = profile(data, delimiter=delimiter, progress=progress)
        write_file(out, found.policy_text(_seen_from(out.parent, data)), force=force)
        if as_json:
            show_json({"policy": str(out), "profile": found.describe()})
            return
        _show(found)
        typer.echo(f"Wrote {out}. Every guess in it has its reason beside it: read them before you publish.")
        typer.echo(f"Next: manyveils publish {out} --out release")


def _refuse_place(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".toml":
        raise InputError([Problem(str(out), "a policy is written as TOML.", "End its name in .toml.")])
    if not out.parent.is_dir():
        raise InputError([Problem(str(out), "its folder does not exist.", "Make it first.")])
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError([Problem(str(out), "is the data themselves.", "Choose another name.")])


def _seen_from(folder: Path, data: Path) -> str:
    """Where the data are, relative to the policy's folder if that can be said."""
    try:
        return Path(os.path.relpath(data.resolve(), folder.resolve())).as_posix()
    except ValueError:
        return data.resolve().as_posix()


def _show(found: "Profile") -> None:
    from manyveils.profiling.guesses import percent

    show_table(
        f"{found.n_rows:,} rows",
        ["column", "type", "distinct", "missing", "alone", "role", "why"],
        [
            [
                name,
                facts.type,
                facts.distinct,
                facts.missing,
                percent(facts.alone),
                decided.role,
                decided.reason,
            ]
            for (name, facts), decided in zip(found.facts.items(), found.decided.values(), strict=True)
        ],
    )
    _show_combinations(found)
    for warning in found.warnings:
        typer.echo(f"Decide: {warning}")


def _show_combinations(found: "Profile") -> None:
    from manyveils.profiling.guesses import percent

    measured = found.uniqueness
    shown = [*measured.growing[:1], *measured.pairs[:3], *measured.threes[:3], *measured.growing[-1:]]
    rows = f"a sample of {measured.n_rows:,} rows" if measured.is_sample else "all rows"
    if shown:
        show_table(
            f"How many rows stand alone, in {rows}",
            ["someone knows", "rows alone"],
            [[", ".join(each.names), percent(each.alone)] for each in dict.fromkeys(shown)],
        )
