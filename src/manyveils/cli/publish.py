"""`manyveils publish`: make a release, audit it from its files, and only then let it appear."""

from pathlib import Path
from typing import Annotated

import typer

from manyveils.cli.audit import show_audit
from manyveils.cli.door import Json, open_door, progress_bar, show_json

EXAMPLE = "Example: manyveils publish policy.toml --out release"


def command(
    policy: Annotated[Path, typer.Argument(help="The policy file, TOML or JSON.")],
    out: Annotated[Path, typer.Option(help="The release folder; it must not exist.")],
    data: Annotated[Path | None, typer.Option(help="The data, if not where the policy says.")] = None,
    format: Annotated[str, typer.Option(help="csv or parquet.")] = "csv",  # noqa: A002
    seed: Annotated[int | None, typer.Option(help="For tests: the same seed gives the same release.")] = None,
    private: Annotated[
        Path | None, typer.Option(help="Where the audit goes; <out>.private by default.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish the data under the policy, after an audit of the files that were written."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.run import publish_to

        published = publish_to(
            policy, out, data=data, format=format, seed=seed, private=private, force=force, progress=progress
        )
        if as_json:
            show_json(published.describe())
            return
        show_audit(published.audit)
        typer.echo(
            f"Published {published.release.rows} rows ({published.release.suppressed} suppressed) to {published.folder}; "
            f"audit and plan are in {published.private}."
        )
