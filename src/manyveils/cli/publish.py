"""`manyveils publish`: make a release, audit it from its files, and only then let it appear."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from manyveils.cli.door import open_door
from manyveils.cli.examine import show_audit
from manyveils.cli.options import AsJson, Data, Engine, Force, Master, PolicyFile, Seed, option
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.publishing import Published


def command(
    policy: PolicyFile,
    out: Annotated[Path, option("The release folder; it must not exist.")],
    data: Data = None,
    format: Annotated[  # noqa: A002
        Literal["csv", "parquet"] | None, option("The tables' format: csv by default; Spark writes parquet.")
    ] = None,
    seed: Seed = None,
    private: Annotated[Path | None, option("Where audit, plan and key go; <out>.private by default.")] = None,
    passphrase_file: Annotated[
        Path | None,
        option(
            "Encrypt a graded release's key with the passphrase in this file, or in MANYVEILS_PASSPHRASE."
        ),
    ] = None,
    engine: Engine = "local",
    master: Master = None,
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
            secret=_passphrase(passphrase_file),
            engine=engine,
            master=master,
            progress=door.progress,
        )
        door.show(published.describe(), lambda: _show(published))


def _show(published: "Published") -> None:
    release, private = published.release, published.private
    show_audit(published.audit)
    typer.echo(
        f"Published {release.rows} rows ({release.suppressed} suppressed) to {published.folder}; "
        f"audit and plan are in {private}."
    )
    if release.key is not None:
        typer.echo(f"The key to what is secret is {private / 'key.json'}; keep it, and keep it to yourself.")


def _passphrase(file: Path | None) -> str | None:
    """What a key is encrypted with, if anything; the first line of the file, or the environment."""
    if file is None:
        return os.environ.get("MANYVEILS_PASSPHRASE") or None
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError.at(str(file), "cannot be read as text.", "Check the path.") from None
    if not lines or not lines[0]:
        raise InputError.at(str(file), "holds no passphrase.", "Write it in the first line.")
    return lines[0]


def _refuse_overlap(out: Path, private: Path | None) -> None:
    if private is None:
        return
    out, private = out.resolve(), private.resolve()
    if out.is_relative_to(private) or private.is_relative_to(out):
        what = "lies in the release folder or around it."
        raise InputError.at("--private", what, "Choose a place beside it.")
