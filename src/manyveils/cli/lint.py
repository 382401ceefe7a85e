"""`manyveils lint`: what there is to doubt about a policy before anything is published."""

from typing import TYPE_CHECKING

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Data, PolicyFile

if TYPE_CHECKING:
    from manyveils.linting import Doubt, Lint

REFUSED = 2


def command(policy: PolicyFile, data: Data = None, as_json: AsJson = False) -> None:
    """Look for roles that would make a promise void; exit status 2 if publish would refuse them."""
    with open_door(as_json=as_json) as door:
        from manyveils.arguments import read_policy
        from manyveils.linting import lint
        from manyveils.table import hold

        read = read_policy(policy)
        found = lint(hold(data, read)[0], read)
        door.show(found.describe(), lambda: _show(found))
        if found.refused:
            raise typer.Exit(REFUSED)


def _show(found: "Lint") -> None:
    if not found.doubts:
        typer.echo("Nothing to doubt: publish would not refuse a role.")
        return
    rows = [[doubt.code, _standing(doubt, found), doubt.what] for doubt in found.doubts]
    show_table("Doubts", ["finding", "is", "why"], rows)
    if not found.refused:
        typer.echo("Nothing that publish would refuse.")
        return
    typer.echo("Publish refuses:")
    for doubt in found.refused:
        typer.echo(f"  {doubt.problem()}")


def _standing(doubt: "Doubt", found: "Lint") -> str:
    if doubt.is_accepted(found.accept):
        return "accepted"
    return "refused" if doubt.is_void else "told"
