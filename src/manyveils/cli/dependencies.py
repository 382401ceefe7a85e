"""`manyveils plan --find-dependencies`: what follows from what, and which rules that would break."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from manyveils.cli.door import Door, show_table

FEW_ROWS = 10_000


def show_dependencies(policy: Path, data: Path | None, door: Door) -> None:
    """List exact dependencies with one or two attributes on the left, and what each means for the rules."""
    document = _document(policy, data)
    door.show(document, lambda: _show(document))


def _show(document: Mapping[str, Any]) -> None:
    rows = [
        [", ".join(entry["from"]), entry["to"], entry["declared"], "; ".join(entry["breaks"])]
        for entry in document["dependencies"]
    ]
    show_table("What follows from what", ["from", "to", "declared", "rules it breaks"], rows)
    for key in document["keys"]:
        typer.echo(f"{', '.join(key)}: different in every row, so everything follows from it.")
    if document["constants"]:
        typer.echo(f"The same in every row: {', '.join(document['constants'])}.")
    if document["rows"] < FEW_ROWS:
        typer.echo("With so few rows some of these may be accidents.")
    typer.echo("Declare those that adversaries may know under [[dependencies]]. Nothing was written.")


def _document(policy: Path, data: Path | None) -> dict[str, Any]:
    from manyveils.arguments import read_policy
    from manyveils.policy.promises import rules_of
    from manyveils.policy.rules import Dependency, breaking
    from manyveils.table import hold
    from manyveils.table.dependencies import find_dependencies

    asked = read_policy(policy)
    table, _ = hold(data, asked)
    # Derived attributes are left out: their names hold values.
    names = tuple(name for name in asked.published if name not in table.derived)
    found = find_dependencies(table, names)
    settled = rules_of(asked)
    rules = [*settled.rules, *(rule for rule, _ in settled.hopeless)]
    declared = {(frozenset(section.from_), section.to) for section in asked.dependencies}
    return {
        "rows": table.n_rows,
        "dependencies": [
            {
                "from": list(left),
                "to": right,
                "declared": (frozenset(left), right) in declared,
                "breaks": [
                    str(rule) for rule in rules if breaking(rule, [Dependency(frozenset(left), right)])
                ],
            }
            for left, right in found.found
        ],
        "keys": [list(key) for key in found.keys],
        "constants": list(found.constants),
    }
