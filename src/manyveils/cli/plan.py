"""`manyveils plan`: show what publishing would do."""

from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.dependencies import show_dependencies
from manyveils.cli.door import Json, open_door, progress_bar, show_json, show_table
from manyveils.cli.notes import flat, show_notes

EXAMPLE = "Example: manyveils plan policy.toml --data patients.csv"


def command(
    policy: Annotated[Path, typer.Argument(help="The policy file, TOML or JSON.")],
    data: Annotated[Path | None, typer.Option(help="The data, if not where the policy says.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed gives the same release.")
    ] = None,
    find_dependencies: Annotated[
        bool, typer.Option("--find-dependencies", help="List what follows from what in the data, and stop.")
    ] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Show what publish would do: views, columns, levels, expected loss. Nothing is written."""
    if find_dependencies:
        show_dependencies(policy, data, as_json=as_json)
        return
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.run import make, read_policy
        from manyveils.table import hold
        from manyveils.utility import measure

        rules = read_policy(policy)
        table, restore = hold(data, rules)
        release = make(table, rules, restore, seed=seed, progress=progress)
        utility = measure(release, table, rules).describe()
        views = [
            {"name": view.name, "bucketed": view.bucketed, "rows": view.rows, "columns": view.columns}
            for view in release.views
        ]
        kinds = {name: table[name].kind for name in table.inferred if name in table.attributes}
        document = {
            "method": release.manifest.method,
            "rows": release.rows,
            "suppressed": release.suppressed,
            "views": views,
            "notes": release.notes,
            "utility": utility,
            "inferred_kinds": kinds,
            "promises": release.manifest.promises,
        }
        if as_json:
            show_json(document)
            return
        show_table(
            "Views",
            ["view", "columns", "bucketed", "rows"],
            [
                [v.name, " | ".join(", ".join(c) for c in v.columns), v.bucketed, v.rows]
                for v in release.views
            ],
        )
        show_notes(release.notes)
        show_table(
            "Expected utility", ["measure", "value"], [[key, flat(value)] for key, value in utility.items()]
        )
        if kinds:
            typer.echo(
                "Kinds found from the data: "
                + ", ".join(f"{name} {kind}" for name, kind in kinds.items())
                + "."
            )
        typer.echo(
            f"{release.rows} rows would be published, {release.suppressed} suppressed. Nothing was written."
        )
