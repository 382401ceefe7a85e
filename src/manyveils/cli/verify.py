"""Whether a release is what its owner signed: `manyveils verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import open_door
from manyveils.cli.options import AsJson, PolicyOption, ReleaseFolder, option

if TYPE_CHECKING:
    from manyveils.signing import Verification


def command(
    release: ReleaseFolder,
    policy: PolicyOption,
    public_key: Annotated[Path, option("The owner's public key.")],
    private: Annotated[
        Path | None,
        option("The folder with digest.json, digest.sig and audit.json; <release>.private by default."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that release, policy and audit are what was signed with `report --evidence`; exit status 1 if a byte is not."""
    with open_door(as_json=as_json) as door:
        from manyveils.signing import verify

        verification = verify(release, policy, public_key, private=private)
        door.show(verification.describe(), lambda: _show(verification))
        if not verification.kept:
            raise typer.Exit(1)


def _show(verification: "Verification") -> None:
    for problem in verification.problems:
        typer.echo(str(problem))
    if verification.kept:
        signed = verification.signed
        made = f"{signed['day']} with manyveils {signed['versions']['manyveils']}"
        typer.echo(f"Release, policy and audit are what the owner of the key signed on {made}.")
    else:
        typer.echo("This is NOT what was signed.")
