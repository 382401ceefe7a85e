"""`manyveils complete`: hierarchies that miss values of the data, written into files to fill in."""

import re
from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import AsJson, Data, Force, PolicyFile, option
from manyveils.errors import DataError


def command(
    policy: PolicyFile,
    data: Data = None,
    out: Annotated[Path | None, option("The folder of the files; the policy's by default.")] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write each hierarchy that misses values of the data into a file, with empty fields to fill in.

    The files hold values of the data, and are for their owner alone.
    """
    with open_door(as_json=as_json) as door:
        from manyveils.arguments import read_policy
        from manyveils.release.folder import write_file
        from manyveils.table import take_in
        from manyveils.table.completing import incomplete

        read = read_policy(policy)
        source = read.source if data is None else data
        if source is None:
            raise DataError.at(policy.name, "data.source is not set.", "Set it or give --data.")
        written = []
        for found in incomplete(take_in(source, read.data)[0], read):
            file = (
                out or policy.parent
            ) / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', found.attribute)}.hierarchy.csv"
            write_file(file, found.written(), force=force, mode=0o600)
            written.append({"attribute": found.attribute, "file": str(file), "missing": len(found.missing)})
        door.show({"incomplete": written}, lambda: _show(written))


def _show(written: list[dict[str, object]]) -> None:
    if not written:
        typer.echo("No hierarchy misses a value of the data.")
    for entry in written:
        where = f"{entry['attribute']}: {entry['missing']} values are missing, in the last lines of {entry['file']}."
        typer.echo(f'{where} Fill their fields in, and set hierarchy = {{ file = "…" }}.')
