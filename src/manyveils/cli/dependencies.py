"""`manyveils plan --find-dependencies`: what follows from what, and which rules that would break."""

from pathlib import Path
from typing import Any

import typer

from manyveils.cli.door import open_door, show_json, show_table

FEW_ROWS = 10_000


def show_dependencies(policy: Path, data: Path | None, *, as_json: bool) -> None:
    """List exact dependencies with one or two attributes on the left, and what each means for the rules."""
    with open_door(as_json=as_json):
        document = _found(policy, data)
        if as_json:
            show_json(document)
            return
        show_table(
            "What follows from what",
            ["from", "to", "declared", "rules it breaks"],
            [
                [", ".join(each["from"]), each["to"], each["declared"], "; ".join(each["breaks"])]
                for each in document["dependencies"]
            ],
        )
        for key in document["keys"]:
            typer.echo(f"{', '.join(key)}: different in every row, so everything follows from it.")
        if document["constants"]:
            typer.echo(f"The same in every row: {', '.join(document['constants'])}.")
        if document["rows"] < FEW_ROWS:
            typer.echo("With so few rows some of these may be accidents.")
        typer.echo("Declare those that outsiders may know under [[dependencies]]. Nothing was written.")


def _found(policy: Path, data: Path | None) -> dict[str, Any]:
    from manyveils.policy.promises import rules_of
    from manyveils.policy.rules import Dependency, breaking
    from manyveils.run import read_policy
    from manyveils.table import hold
    from manyveils.table.dependencies import find_dependencies

    rules = read_policy(policy)
    table, _ = hold(data, rules)
    # The columns of a multi-valued attribute are left out: their names hold values.
    names = tuple(name for name in rules.published if name not in table.derived)
    found = find_dependencies(table, names)
    settled = rules_of(rules)
    asked = [*settled.rules, *(rule for rule, _ in settled.hopeless)]
    declared = {(frozenset(each.from_), each.to) for each in rules.dependencies}
    entries = []
    for left, right in found.found:
        dependency = Dependency(frozenset(left), right)
        broken = [str(rule) for rule in asked if breaking(rule, [dependency])]
        is_declared = (frozenset(left), right) in declared
        entries.append({"from": list(left), "to": right, "declared": is_declared, "breaks": broken})
    return {
        "rows": table.n_rows,
        "dependencies": entries,
        "keys": [list(key) for key in found.keys],
        "constants": list(found.constants),
    }
