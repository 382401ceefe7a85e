"""The `manyveils` command and its sub-commands; anything heavy is imported when a command runs."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from manyveils.cli import (
    attack,
    compare,
    complete,
    demo,
    examine,
    init,
    ledger,
    lint,
    publish,
    report,
    serve,
    studio,
    verify,
)
from manyveils.cli.door import show_error
from manyveils.errors import Problem

MISUSE: Any = typer.BadParameter.__base__


class Commands(TyperGroup):
    """The commands; with --json, wrong arguments are told in JSON too."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run a command and leave with its exit status."""
        if "--json" not in (sys.argv[1:] if args is None else args):
            return super().main(args, *rest, **options)
        try:
            status = super().main(args, *rest, **(options | {"standalone_mode": False}))
        except MISUSE as error:
            status = error.exit_code
            show_error("InputError", "", status, [Problem("arguments", error.format_message())], as_json=True)
        sys.exit(status)


app = typer.Typer(
    name="manyveils",
    cls=Commands,
    help="Publish tables about people with several sensitive attributes, and prove what the release promises.",
    no_args_is_help=True,
    add_completion=False,
    # A pretty traceback would print local variables, and with them cells of the data.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# Commands in the order of the help, each with an example.
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "demo": (demo.command, "--out demo"),
    "init": (init.command, "patients.csv -o policy.toml"),
    "studio": (studio.command, "patients.csv"),
    "lint": (lint.command, "policy.toml --data patients.csv"),
    "complete": (complete.command, "policy.toml --data patients.csv"),
    "plan": (publish.plan, "policy.toml --data patients.csv"),
    "publish": (publish.publish, "policy.toml --out release"),
    "audit": (examine.audit, "release --policy policy.toml --data patients.csv --level k=10"),
    "attack": (attack.command, "release --policy policy.toml --data patients.csv --only linkage"),
    "measure": (examine.measure, "release --policy policy.toml --data patients.csv"),
    "compare": (compare.command, "policy.toml --methods generalize,slice --vary k=2,5,10 --out comparison"),
    "report": (report.command, "release --policy policy.toml --data patients.csv"),
    "verify": (verify.command, "release --policy policy.toml --public-key owner.pub.pem"),
    "query": (examine.query, "release \"age >= 20 and age < 30 and disease = 'Flu'\""),
}

for name, (command, example) in COMMANDS.items():
    app.command(name, epilog=f"Example: manyveils {name} {example}")(command)
app.add_typer(ledger.app, name="ledger")
app.add_typer(serve.app, name="serve")


def _version(value: bool) -> None:
    if value:
        from manyveils import __version__

        typer.echo(f"manyveils {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Publish tables about people with several sensitive attributes, and prove what the release promises."""
