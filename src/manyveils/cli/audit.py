"""`manyveils audit`: derive every promise again from the released files and the original."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from manyveils.cli.door import EngineOption, Json, Master, open_door, progress_bar, show_json, show_table
from manyveils.errors import InputError, Problem

if TYPE_CHECKING:
    from manyveils.audits import Audit

EXAMPLE = "Example: manyveils audit release --policy policy.toml --data patients.csv --level k=10"


def command(
    release: Annotated[Path, typer.Argument(help="The release folder.")],
    policy: Annotated[Path, typer.Option(help="The policy file.")],
    data: Annotated[
        Path | None, typer.Option(help="The original data, if not where the policy says.")
    ] = None,
    level: Annotated[
        list[str] | None, typer.Option(help="Also count what falls short of another level, as k=10.")
    ] = None,
    engine: Annotated[Literal["local", "spark"], EngineOption] = "local",
    master: Annotated[str | None, Master] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Check every promise from the released files alone plus the original; exit status 1 if one is broken."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.run import audit

        verdict = audit(
            release,
            data,
            policy,
            levels=_levels(level or []),
            engine=engine,
            master=master,
            progress=progress,
        )
        if as_json:
            show_json(verdict.describe())
        else:
            show_audit(verdict)
        if not verdict.kept:
            raise typer.Exit(1)


def _levels(texts: list[str]) -> dict[str, float]:
    levels: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        try:
            levels[name.strip()] = _finite(number)
        except ValueError:
            raise InputError([Problem("--level", "must look like k=10.")]) from None
    return levels


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


def show_audit(verdict: "Audit") -> None:
    """Print findings as a table, promises first, and the verdict in words."""
    findings = sorted(verdict.findings, key=lambda finding: not finding.promised)
    show_table(
        "Audit",
        [
            "promise",
            "of",
            "view",
            "reading",
            "promised",
            "required",
            "measured",
            "kept",
            "worst group",
            "groups short",
            "rows short",
        ],
        [
            [
                f.promise,
                f.attribute,
                f.view,
                f.reading,
                f.promised,
                f.required,
                f.measured,
                f.kept,
                f.worst_group_size,
                f.groups_short,
                f.rows_short,
            ]
            for f in findings
        ],
    )
    if verdict.kept:
        typer.echo("Every promise is kept.")
    else:
        typer.echo(
            f"{len(verdict.broken)} promises are BROKEN: "
            + ", ".join(sorted({f.promise for f in verdict.broken}))
            + "."
        )
