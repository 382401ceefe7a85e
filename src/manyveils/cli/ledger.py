"""`manyveils ledger`: look at a chain of releases, start one, and forget a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import open_door, show_table
from manyveils.cli.options import After, AsJson, Data, Force, PolicyOption, ReleaseFolder, option
from manyveils.errors import InputError
from manyveils.wording import counted

if TYPE_CHECKING:
    from manyveils.ledgers import Forgotten, Timeline

COLUMNS = ("release", "method", "published", "persons", "joined", "returned", "left", "held_back")
Releases = Annotated[list[Path], typer.Argument(help="The release folders, in any order.")]

app = typer.Typer(
    help="Look at the ledgers of releases, which publishing again needs; start one, or forget a person.",
    epilog="Example: manyveils ledger show release-1 release-2",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.command(epilog="Example: manyveils ledger show release-1 release-2")
def show(releases: Releases, as_json: AsJson = False) -> None:
    """Show a chain release by release, and whether it is whole; exit status 2 if it is not."""
    with open_door(as_json=as_json) as door:
        from manyveils.ledgers import show

        chain = show(releases)
        door.show(chain.describe(), lambda: show_chain(chain))
        if not chain.is_whole:
            raise typer.Exit(2)


def show_chain(chain: "Timeline") -> None:
    """Print a chain as a table, and what is wrong with it."""
    told = [own.describe() | {"published": chain.published.get(own.release)} for own in chain.moments]
    header = [name.replace("_", " ") for name in COLUMNS]
    if told:
        show_table("Chain", header, [[own[name] for name in COLUMNS] for own in told])
    if chain.is_whole:
        typer.echo("The chain is whole: name all of these with --after to go on from it.")
    else:
        typer.echo("\n".join(["The chain is NOT whole:", *(f"  {problem}" for problem in chain.problems)]))


@app.command(epilog="Example: manyveils ledger start release --policy policy.toml --data patients.csv")
def start(
    release: ReleaseFolder,
    policy: PolicyOption = Path("policy.toml"),
    data: Data = None,
    after: After = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Make the ledger of a release that has none from its original, after an audit; its private folder must be there
    where the files do not tell who stands where.
    """
    with open_door(as_json=as_json) as door:
        from manyveils.ledgers import start

        chain = start(release, data, policy, after=after or (), force=force)
        door.show(chain.describe(), lambda: show_chain(chain))


@app.command(epilog="Example: manyveils ledger forget release-1 release-2 --persons names.txt")
def forget(
    releases: Releases,
    person: Annotated[
        list[str] | None,
        option("What identifies a person; several identifiers with commas between them. Repeatable."),
    ] = None,
    persons: Annotated[Path | None, option("A file with a person a line, in the same way.")] = None,
    as_json: AsJson = False,
) -> None:
    """Take persons out of the ledgers of a chain: for the next release they are new, and what earlier ones told of them
    is no longer looked at.
    """
    with open_door(as_json=as_json) as door:
        from manyveils.ledgers import forget

        done = forget([*(person or ()), *_lines(persons)], releases)
        document = {"asked": done.asked, "found": done.found, "releases": list(done.releases)}
        door.show(document, lambda: _show_forgotten(done))


def _show_forgotten(done: "Forgotten") -> None:
    where = ", ".join(done.releases)
    typer.echo(f"{done.found:,} of {counted(done.asked, 'person')} were found, and are forgotten in {where}.")
    typer.echo("What these releases told of them is no longer taken into account when publishing again.")


def _lines(file: Path | None) -> list[str]:
    """The lines of a file with something in them."""
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        raise InputError.at(str(file), "cannot be read as text.", "Check the path.") from None
    return [line for line in lines if line.strip()]
