"""`manyveils measure`: what the release is still good for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import AsJson, Data, PolicyOption, ReleaseFolder, option

EXAMPLE = "Example: manyveils measure release --policy policy.toml --data patients.csv"


def command(
    release: ReleaseFolder,
    policy: PolicyOption,
    data: Data = None,
    learn: Annotated[str | None, option("An attribute for models to learn; needs --held-out.")] = None,
    held_out: Annotated[Path | None, option("People not in the release, in the same columns.")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure loss, distortion, divergence, the error of counts and more; with --learn, what models still learn."""
    with open_door(as_json=as_json) as door:
        from manyveils.examining import measure

        utility = measure(release, data, policy, learn=learn, held_out=held_out).describe()
        door.show(utility, lambda: _show(utility))


def _show(utility: Mapping[str, Any]) -> None:
    single = [[key, value] for key, value in utility.items() if not isinstance(value, dict)]
    by_part = [
        [f"{key}: {part}", value]
        for key, values in utility.items()
        if isinstance(values, dict)
        for part, value in values.items()
    ]
    show_table("Utility", ["measure", "value"], single + by_part)
