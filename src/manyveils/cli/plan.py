"""`manyveils plan`: show what publishing would do."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from manyveils.cli.dependencies import show_dependencies
from manyveils.cli.door import Door, open_door, show_table
from manyveils.cli.options import AsJson, Data, PolicyFile, Seed, option

EXAMPLE = "Example: manyveils plan policy.toml --data patients.csv"
MOST_LINES = 20


def command(
    policy: PolicyFile,
    data: Data = None,
    seed: Seed = None,
    find_dependencies: Annotated[
        bool, option("List what follows from what in the data, and stop.", "--find-dependencies")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what publish would do: views, columns, levels, expected loss. Nothing is written."""
    with open_door(as_json=as_json) as door:
        if find_dependencies:
            show_dependencies(policy, data, door)
            return
        document = _planned(policy, data, seed, door)
        door.show(document, lambda: _show(document))


def _planned(policy: Path, data: Path | None, seed: int | None, door: Door) -> dict[str, Any]:
    from manyveils.arguments import order_of
    from manyveils.run import make
    from manyveils.table import hold
    from manyveils.utility import measure

    order = order_of(data, policy, seed=seed, progress=door.progress)
    table, restore = hold(data, order.policy)
    release = make(order, table, restore)
    return {
        "method": release.manifest.method,
        "rows": release.rows,
        "suppressed": release.suppressed,
        "views": [
            {"name": view.name, "bucketed": view.bucketed, "rows": view.rows, "columns": view.columns}
            for view in release.views
        ],
        "notes": release.notes,
        "utility": measure(release, table, order.policy).describe(),
        "inferred_kinds": {name: table[name].kind for name in table.inferred if name in table.attributes},
        "promises": release.manifest.promises,
    }


def _show(document: Mapping[str, Any]) -> None:
    rows = [
        [view["name"], " | ".join(map(", ".join, view["columns"])), view["bucketed"], view["rows"]]
        for view in document["views"]
    ]
    show_table("Views", ["view", "columns", "bucketed", "rows"], rows)
    _show_notes(document["notes"])
    utility = [[key, _in_one_line(value)] for key, value in document["utility"].items()]
    show_table("Expected utility", ["measure", "value"], utility)
    kinds = [f"{name} {kind}" for name, kind in document["inferred_kinds"].items()]
    if kinds:
        typer.echo(f"Kinds inferred from the data: {', '.join(kinds)}.")
    counts = f"{document['rows']} rows would be published, {document['suppressed']} suppressed"
    typer.echo(f"{counts}. Nothing was written.")


def _show_notes(notes: Mapping[str, Any]) -> None:
    """Show the method's notes: short ones in one table, lists of entries in tables of their own.

    Tables of pairs are only in the JSON document.
    """
    lists = {key: value for key, value in notes.items() if _holds_mappings(value, list)}
    short = {
        key: value for key, value in notes.items() if key not in lists and not _holds_mappings(value, dict)
    }
    rows = [[key, _in_one_line(value)] for key, value in short.items() if value != []]
    show_table("How", ["what", "value"], rows)
    for key, entries in lists.items():
        lines = _thinned(entries)
        title = key.replace("_", " ").capitalize()
        if len(lines) < len(entries):
            title += f": {len(lines)} of {len(entries)}, --json has all"
        show_table(title, list(entries[0]), [list(map(_in_one_line, line.values())) for line in lines])


def _holds_mappings(value: object, kind: type[list[Any]] | type[dict[str, Any]]) -> bool:
    if not isinstance(value, kind) or not value:
        return False
    entries = value.values() if isinstance(value, dict) else value
    return all(isinstance(entry, dict) for entry in entries)


def _in_one_line(value: object) -> object:
    """A value in one line: names and numbers of a mapping, lists in braces."""
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {entry:.3g}" if isinstance(entry, float) else f"{key} {_in_one_line(entry)}"
            for key, entry in value.items()
        )
    if not isinstance(value, list):
        return value
    if value and isinstance(value[0], list):
        return " ".join(f"{{{_in_one_line(entry)}}}" for entry in value)
    return ", ".join(map(str, value))


def _thinned(entries: Sequence[Any]) -> list[Any]:
    """All entries, or as many as fit a screen, evenly spread from the first to the last."""
    if len(entries) <= MOST_LINES:
        return list(entries)
    step = (len(entries) - 1) / (MOST_LINES - 1)
    return [entries[round(line * step)] for line in range(MOST_LINES)]
