"""`manyveils query`: a count estimated from the release alone."""

from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.door import Json, open_door, show_json

EXAMPLE = "Example: manyveils query release \"age >= 20 and age < 30 and disease = 'Flu'\""


def command(
    release: Annotated[Path, typer.Argument(help="The release folder.")],
    conditions: Annotated[str, typer.Argument(help="Conditions joined by `and`.")],
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Estimate for how many people conditions hold, and what the number must lie between."""
    with open_door(as_json=as_json):
        from manyveils.run import as_release

        found = as_release(release).count(conditions)
        if as_json:
            numbers = {"estimate": found.estimate, "low": found.low, "high": found.high, "how": found.how}
            show_json(numbers | ({"compares_codes": True} if found.compares_codes else {}))
            return
        if found.compares_codes:
            typer.echo("Codes and grades are compared as they are published; what they stand for is secret.")
        number = f"{found.estimate:,.0f}" if found.estimate >= 100 else f"{found.estimate:.3g}"
        if found.low == found.high:
            typer.echo(f"Exactly {found.low:,} people.")
            return
        drawn = ", estimated from rows drawn at random" if found.how == "sample" else ""
        typer.echo(f"About {number} people{drawn}; between {found.low:,} and {found.high:,} for certain.")
