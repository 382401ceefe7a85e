"""`manyveils query`: a count estimated from the release alone."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import AsJson, ReleaseFolder

if TYPE_CHECKING:
    from manyveils.reading import Count

EXAMPLE = "Example: manyveils query release \"age >= 20 and age < 30 and disease = 'Flu'\""


def command(
    release: ReleaseFolder,
    conditions: Annotated[str, typer.Argument(help="Conditions joined by `and`.")],
    as_json: AsJson = False,
) -> None:
    """Estimate for how many people conditions hold, and what the number must lie between."""
    with open_door(as_json=as_json) as door:
        from manyveils.release import Release

        count = Release.load(release).count(conditions)
        numbers: dict[str, Any] = {key: getattr(count, key) for key in ("estimate", "low", "high", "how")}
        door.show(numbers | ({"compares_codes": True} if count.compares_codes else {}), lambda: _show(count))


def _show(count: "Count") -> None:
    if count.compares_codes:
        typer.echo("Codes and grades are compared as they are published; what they stand for is secret.")
    if count.low == count.high:
        typer.echo(f"Exactly {count.low:,} people.")
        return
    number = f"{count.estimate:,.0f}" if count.estimate >= 100 else f"{count.estimate:.3g}"
    drawn = ", estimated from rows drawn at random" if count.how == "sample" else ""
    typer.echo(f"About {number} people{drawn}; between {count.low:,} and {count.high:,} for certain.")
