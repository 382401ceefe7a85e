"""The `manyveils` command and its sub-commands; anything heavy is imported when a command runs."""

import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from manyveils.cli import attack, audit, compare, demo, init, measure, plan, publish, query, report, serve
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

COMMANDS = {
    "demo": demo,
    "init": init,
    "plan": plan,
    "publish": publish,
    "audit": audit,
    "attack": attack,
    "measure": measure,
    "compare": compare,
    "report": report,
    "query": query,
}

for name, module in COMMANDS.items():
    app.command(name, epilog=module.EXAMPLE)(module.command)
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
