"""Options and arguments of several commands."""

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from manyveils.errors import InputError


def option(text: str, *names: str, min: float | None = None, **how: Any) -> Any:  # noqa: A002
    """An option of a command with its help; flags have a name, or they would have a negative too."""
    return typer.Option(*names, help=text, min=min, **how)


PolicyFile = Annotated[Path, typer.Argument(help="The policy file, TOML or JSON.")]
PolicyOption = Annotated[Path, option("The policy file, TOML or JSON.")]
ReleaseFolder = Annotated[
    Path, typer.Argument(help="The release folder, or a table that something else published.")
]


def place_of(text: str | Path) -> Path | str:
    """Where data are: a path, or the address of a database, which is no path."""
    return text if isinstance(text, str) and "://" in text else Path(text)


# A path or an address; typer knows no unions.
Data = Annotated[
    Any,
    option("The original data, if not where the policy says.", parser=place_of, metavar="PATH"),
]
After = Annotated[
    list[Path] | None,
    option("An earlier release of the same people, with its private folder beside it; repeatable."),
]
Only = Annotated[list[str] | None, option("An attack to try, instead of all; repeatable.")]
Seed = Annotated[int | None, option("For tests: the same seed gives the same result.", min=0)]
Force = Annotated[bool, option("Replace an existing result.", "--force")]
Engine = Annotated[
    Literal["local", "spark"],
    option("Who does the work: this process, or Spark for more rows than it can hold."),
]
Master = Annotated[
    str | None, option("Where Spark runs, such as spark://host:7077; this machine by default.")
]
Memory = Annotated[
    str | None,
    option(
        "Publish in so much memory, such as 8GB: for tables that do not fit; rows are kept on disk meanwhile."
    ),
]
AsJson = Annotated[bool, option("Print one JSON document on stdout and nothing else.", "--json")]
PassphraseFile = Annotated[
    Path | None, option("Encrypt a key with the passphrase in this file, or in MANYVEILS_PASSPHRASE.")
]


def passphrase(file: Path | None) -> str | None:
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
