"""`manyveils audit`: derive every promise again from the released files and the original."""

from math import isfinite
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Data, Engine, Master, PolicyOption, ReleaseFolder, option
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.audits import Audit

EXAMPLE = "Example: manyveils audit release --policy policy.toml --data patients.csv --level k=10"
# What stands over a column, and the field of a finding that it shows.
COLUMNS = {
    "promise": "promise",
    "of": "attribute",
    "view": "view",
    "reading": "reading",
    "promised": "promised",
    "required": "required",
    "measured": "measured",
    "kept": "kept",
    "worst group": "worst_group_size",
    "groups short": "groups_short",
    "rows short": "rows_short",
}


def command(
    release: ReleaseFolder,
    policy: PolicyOption,
    data: Data = None,
    level: Annotated[
        list[str] | None, option("Also count what falls short of a level, such as k=10.")
    ] = None,
    engine: Engine = "local",
    master: Master = None,
    as_json: AsJson = False,
) -> None:
    """Check every promise from the released files and the original alone; exit status 1 if one is broken."""
    with open_door(as_json=as_json) as door:
        from manyveils.examining import audit

        levels = dict(map(_level, level or []))
        verdict = audit(
            release, data, policy, levels=levels, engine=engine, master=master, progress=door.progress
        )
        door.show(verdict.describe(), lambda: show_audit(verdict))
        if not verdict.kept:
            raise typer.Exit(1)


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
    findings = sorted(verdict.findings, key=lambda finding: not finding.promised)
    rows = [[getattr(finding, field) for field in COLUMNS.values()] for finding in findings]
    show_table("Audit", list(COLUMNS), rows)
    if verdict.kept:
        typer.echo("Every promise is kept.")
    else:
        names = ", ".join(sorted({finding.promise for finding in verdict.broken}))
        typer.echo(f"{len(verdict.broken)} promises are BROKEN: {names}.")
