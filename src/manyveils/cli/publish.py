"""`manyveils plan` shows what publishing would do; `manyveils publish` lets a release appear once its files are audited."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from manyveils.cli.door import Door, open_door, show_table
from manyveils.cli.examine import show_audit, show_persons
from manyveils.cli.options import (
    After,
    AsJson,
    Data,
    Engine,
    Force,
    Master,
    Memory,
    PassphraseFile,
    PolicyFile,
    Seed,
    option,
    passphrase,
)
from manyveils.cli.words import measure_means
from manyveils.errors import InputError
from manyveils.wording import counted

if TYPE_CHECKING:
    from manyveils.audits.timeline import Moment
    from manyveils.publishing import Published

MOST_LINES = 20
FEW_ROWS = 10_000


def publish(
    policy: PolicyFile,
    out: Annotated[Path, option("The release folder; it must not exist.")],
    data: Data = None,
    format: Annotated[  # noqa: A002
        Literal["csv", "parquet"] | None, option("The tables' format: csv by default; Spark writes parquet.")
    ] = None,
    seed: Seed = None,
    private: Annotated[Path | None, option("Where audit, plan and key go; <out>.private by default.")] = None,
    passphrase_file: PassphraseFile = None,
    after: After = None,
    engine: Engine = "local",
    master: Master = None,
    memory: Memory = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Publish the data under the policy, after an audit of the files that were written."""
    with open_door(as_json=as_json) as door:
        from manyveils.publishing import publish_to

        # "." and ".." have no name to put anything beside.
        out = out.resolve() if out.name in ("", "..") else out
        _refuse_overlap(out, private)
        published = publish_to(
            policy,
            out,
            data=data,
            format=format,
            seed=seed,
            private=private,
            force=force,
            secret=passphrase(passphrase_file),
            engine=engine,
            master=master,
            progress=door.progress,
            after=after or (),
            memory=memory,
        )
        door.show(published.describe(), lambda: _show(published))


def _show(published: "Published") -> None:
    release, private = published.release, published.private
    show_audit(published.audit)
    typer.echo(
        f"Published {release.rows} rows ({release.suppressed} suppressed) to {published.folder}; "
        f"audit and plan are in {private}."
    )
    if published.moment is not None:
        _show_moment(published.moment, is_first=not published.audit.after)
    if "suppression" in release.notes:
        typer.echo(release.notes["suppression"])
    _show_gap(release.notes)
    if release.key is not None:
        typer.echo(f"The key to what is secret is {private / 'key.json'}; keep it, and keep it to yourself.")


def _show_moment(moment: "Moment", *, is_first: bool) -> None:
    """Say who came and went since the release before, and who is held back."""
    if not is_first:
        new = counted(moment.joined, "person is", "persons are")
        back = f"{new} new, {counted(moment.returned, 'is', 'are')} back, {counted(moment.left, 'is', 'are')} gone"
        typer.echo(f"Since the release before, {back}.")
    if moment.held_back:
        held = counted(moment.held_back, "person is", "persons are")
        typer.echo(f"{held} held back, and will come first the next time.")


def _refuse_overlap(out: Path, private: Path | None) -> None:
    if private is None:
        return
    out, private = out.resolve(), private.resolve()
    if out.is_relative_to(private) or private.is_relative_to(out):
        what = "lies in the release folder or around it."
        raise InputError.at("--private", what, "Choose a place beside it.")


def plan(
    policy: PolicyFile,
    data: Data = None,
    seed: Seed = None,
    after: After = None,
    find_dependencies: Annotated[
        bool, option("List what follows from what in the data, and stop.", "--find-dependencies")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what publish would do: views, columns, levels, expected loss. Nothing is written."""
    with open_door(as_json=as_json) as door:
        if find_dependencies:
            dependencies = _dependencies(policy, data)
            door.show(dependencies, lambda: _show_dependencies(dependencies))
            return
        document = _planned(policy, data, seed, after or (), door)
        door.show(document, lambda: _show_plan(document))


def _planned(
    policy: Path, data: Path | str | None, seed: int | None, after: Sequence[Path], door: Door
) -> dict[str, Any]:
    from manyveils.arguments import Order
    from manyveils.run import make
    from manyveils.table.persons import how_counted
    from manyveils.utility import measure

    order = Order(data, policy, seed=seed, progress=door.progress, after=after)
    table, restore = order.hold()
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
        "persons": how_counted(table, order.policy),
    }


def _show_plan(document: Mapping[str, Any]) -> None:
    rows = [
        [view["name"], " | ".join(map(", ".join, view["columns"])), view["bucketed"], view["rows"]]
        for view in document["views"]
    ]
    show_table("Views", ["view", "columns", "bucketed", "rows"], rows)
    _show_notes(document["notes"])
    _show_gap(document["notes"])
    utility = [[key, _in_one_line(value), measure_means(key)] for key, value in document["utility"].items()]
    show_table("Expected utility", ["measure", "value", "is"], utility)
    kinds = [f"{name} {kind}" for name, kind in document["inferred_kinds"].items()]
    if kinds:
        typer.echo(f"Kinds inferred from the data: {', '.join(kinds)}.")
    show_persons(document["persons"])
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


def _show_gap(notes: Mapping[str, Any]) -> None:
    """Say how good the choice is, where the method need not have found the best one."""
    if "gap" not in notes:
        return
    checked = f"{notes['nodes_checked']:,} of {float(notes['nodes']):.3g} nodes checked"
    if notes["is_optimal"]:
        typer.echo(f"With {checked}, this is the optimum.")
        return
    typer.echo(
        f"With {checked}, no better node was found; a better one could cost {notes['gap']:.1%} less at most. "
        "A higher check_limit or time_limit in [publish] finds more, and proves more."
    )


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


def _dependencies(file: Path, data: Path | str | None) -> dict[str, Any]:
    """List exact dependencies with one or two attributes on the left, and what each means for the rules."""
    from manyveils.arguments import read_policy
    from manyveils.policy.promises import rules_of
    from manyveils.policy.rules import Dependency, breaking
    from manyveils.table import hold
    from manyveils.table.dependencies import find_dependencies

    policy = read_policy(file)
    table, _ = hold(data, policy)
    # Derived attributes are left out: their names hold values.
    names = tuple(name for name in policy.published if name not in table.derived)
    dependencies = find_dependencies(table, names)
    settled = rules_of(policy)
    rules = [*settled.rules, *(rule for rule, _ in settled.hopeless)]
    declared = {(frozenset(section.from_), section.to) for section in policy.dependencies}
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
            for left, right in dependencies.found
        ],
        "keys": [list(key) for key in dependencies.keys],
        "constants": list(dependencies.constants),
    }


def _show_dependencies(document: Mapping[str, Any]) -> None:
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
