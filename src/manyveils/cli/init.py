"""`manyveils init`: look at the data and write a commented policy to start from."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Force, option
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.profiling import Profile


def command(
    data: Annotated[Path, typer.Argument(help="The data: csv, parquet or arrow/feather.")],
    out: Annotated[Path, option("Where the policy is written.", "--out", "-o")] = Path("policy.toml"),
    delimiter: Annotated[
        str | None, option("What separates the fields of a csv file, if not , ; | tab.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Guess roles, hierarchies and promises from the data, each with its reason, and write them as a policy."""
    with open_door(as_json=as_json) as door:
        from manyveils.profiling import profile
        from manyveils.release.folder import path_from, refuse_file, write_file

        _refuse_place(out, data)
        refuse_file(out, force=force)
        guessed = profile(data, delimiter=delimiter, progress=door.progress)
        write_file(out, guessed.policy_text(path_from(out.parent, data)), force=force)
        door.show({"policy": str(out), "profile": guessed.describe()}, lambda: _show(guessed, out))


def _refuse_place(out: Path, data: Path) -> None:
    if out.suffix.lower() != ".toml":
        raise InputError.at(str(out), "a policy is written as TOML.", "End its name in .toml.")
    if not out.parent.is_dir():
        raise InputError.at(str(out), "its folder does not exist.", "Make it first.")
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError.at(str(out), "is the data file itself.", "Choose another name.")


def _show(guessed: "Profile", out: Path) -> None:
    from manyveils.profiling.guesses import percent

    rows = [
        [name, facts.type, facts.distinct, facts.missing, percent(facts.alone), decided.role, decided.reason]
        for (name, facts), decided in zip(guessed.facts.items(), guessed.decided.values(), strict=True)
    ]
    header = ["column", "type", "distinct", "missing", "unique", "role", "why"]
    show_table(f"{guessed.n_rows:,} rows", header, rows)
    _show_combinations(guessed)
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
