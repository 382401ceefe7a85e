"""The command line: commands and what they share."""


def main() -> None:
    """Run the command line."""
    from manyveils.cli.app import app

    app()
