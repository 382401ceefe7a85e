"""Files as Spark names them."""

from pathlib import Path


def address(path: Path) -> str:
    """The address of a file or folder that driver and executors see under the same path."""
    return f"file://{path.absolute()}"
