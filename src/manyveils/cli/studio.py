"""`manyveils studio`: a workbench in the browser of this machine."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import AsJson, option


def command(
    place: Annotated[
        Path | None,
        typer.Argument(
            help="A table (csv, parquet, arrow, Excel, …), or a policy that names one.",
            metavar="DATA_OR_POLICY",
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free one.")] = 0,
    no_browser: Annotated[bool, option("Print the address, and open no browser.", "--no-browser")] = False,
    as_json: AsJson = False,
) -> None:
    """Look at a table, choose promises and a method, and write the release, in the browser of this machine alone."""
    with open_door(as_json=as_json) as door:
        from manyveils.studio.serving import Studio, address_of, listen, refuse_absence, serve
        from manyveils.studio.workbench import open_workbench

        refuse_absence()
        with listen(port) as taken:
            studio = Studio(bench=None if place is None else open_workbench(place))
            url = address_of(studio, taken)

            def ready() -> None:
                words = f"The studio is at {url}\nOnly this machine reaches it; Ctrl-C ends it."
                door.show({"url": url}, lambda: typer.echo(words))
                sys.stdout.flush()
                if not no_browser:
                    typer.launch(url)

            serve(studio, taken, ready)
