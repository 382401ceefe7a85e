"""`manyveils publish`: make a release, audit it from its files, and only then let it appear."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from manyveils.cli.audit import show_audit
from manyveils.cli.door import EngineOption, Json, Master, open_door, progress_bar, show_json
from manyveils.errors import InputError, Problem

EXAMPLE = "Example: manyveils publish policy.toml --out release"


def command(
    policy: Annotated[Path, typer.Argument(help="The policy file, TOML or JSON.")],
    out: Annotated[Path, typer.Option(help="The release folder; it must not exist.")],
    data: Annotated[Path | None, typer.Option(help="The data, if not where the policy says.")] = None,
    format: Annotated[  # noqa: A002
        Literal["csv", "parquet"] | None,
        typer.Option(help="How tables are written: csv, or parquet, which is all that Spark writes."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="For tests: the same seed gives the same release.")
    ] = None,
    private: Annotated[
        Path | None, typer.Option(help="Where the audit goes; <out>.private by default.")
    ] = None,
    passphrase_file: Annotated[
        Path | None,
        typer.Option(
            help="Encrypt the key of a graded release with the passphrase in this file, or in MANYVEILS_PASSPHRASE."
        ),
    ] = None,
    engine: Annotated[Literal["local", "spark"], EngineOption] = "local",
    master: Annotated[str | None, Master] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing release.")] = False,
    as_json: Annotated[bool, Json] = False,
) -> None:
    """Publish the data under the policy, after an audit of the files that were written."""
    with open_door(as_json=as_json), progress_bar(as_json=as_json) as progress:
        from manyveils.publishing import publish_to

        out, private = _places(out, private, force=force)
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
            progress=progress,
        )
        if as_json:
            show_json(published.describe())
            return
        show_audit(published.audit)
        typer.echo(
            f"Published {published.release.rows} rows ({published.release.suppressed} suppressed) to {published.folder}; "
            f"audit and plan are in {published.private}."
        )
        if published.release.key is not None:
            typer.echo(
                f"The key to what is secret is {published.private / 'key.json'}; keep it, and keep it to yourself."
            )


def _passphrase(file: Path | None) -> str | None:
    """What a key is encrypted with, if anything; the first line of the file, or the environment."""
    if file is None:
        return os.environ.get("MANYVEILS_PASSPHRASE") or None
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError([Problem(str(file), "cannot be read as text.", "Check the path.")]) from None
    if not lines or not lines[0]:
        raise InputError([Problem(str(file), "holds no passphrase.", "Write it in the first line.")])
    return lines[0]


def _places(out: Path, private: Path | None, *, force: bool) -> tuple[Path, Path | None]:
    """The two folders, once it is sure that neither lies in the other; "." and ".." get their names."""
    from manyveils.release.folder import refuse_existing

    refuse_existing(out, force=force)
    if out.name in ("", ".."):
        out = out.resolve()
    if private is not None and _overlap(out.resolve(), private.resolve()):
        raise InputError(
            [Problem("--private", "lies in the release folder or around it.", "Choose a place beside it.")]
        )
    return out, private


def _overlap(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents
