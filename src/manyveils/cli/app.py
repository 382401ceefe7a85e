"""The `manyveils` command and its sub-commands; anything heavy is imported when a command runs."""

import typer

from manyveils.cli import audit, demo, measure, plan, publish

app = typer.Typer(
    name="manyveils",
    help="Publish tables about people with several sensitive attributes, and prove what the release promises.",
    no_args_is_help=True,
    add_completion=False,
    # A pretty traceback would print local variables, and with them cells of the data.
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

COMMANDS = {"demo": demo, "plan": plan, "publish": publish, "audit": audit, "measure": measure}

for name, module in COMMANDS.items():
    app.command(name, epilog=module.EXAMPLE)(module.command)


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
