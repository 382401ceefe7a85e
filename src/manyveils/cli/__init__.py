"""The command line: one file per command."""


def main() -> None:
    """Run the command line."""
    from manyveils.cli.app import app

    app()
