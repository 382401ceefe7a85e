"""`manyveils measure`: what the release is still good for."""

from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.door import Json, open_door, show_json, show_table

EXAMPLE = "Example: manyveils measure release --policy policy.toml --data patients.csv"


def command(
    release: Annotated[Path, typer.Argument(help="The release folder.")],
    policy: Annotated[Path, typer.Option(help="The policy file.")],
    data: Annotated[
        Path | None, typer.Option(help="The original data, if not where the policy says.")
    ] = None,
    learn: Annotated[
        str | None, typer.Option(help="An attribute that models learn from the release; needs --held-out.")
    ] = None,
    held_out: Annotated[
        Path | None, typer.Option(help="People who are not in the release, in the same columns.")
    ] = None,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Measure loss, distortion, divergence, the error of counts and more; with --learn, what models still learn."""
    with open_door(as_json=as_json):
        from manyveils.run import measure

        utility = measure(release, data, policy, learn=learn, held_out=held_out).describe()
        if as_json:
            show_json(utility)
            return
        rows = [[key, value] for key, value in utility.items() if not isinstance(value, dict)]
        rows += [
            [f"{key}: {part}", entry]
            for key, value in utility.items()
            if isinstance(value, dict)
            for part, entry in value.items()
        ]
        show_table("Utility", ["measure", "value"], rows)
