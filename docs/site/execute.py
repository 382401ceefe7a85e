"""Run the tutorial and keep what it shows (python docs/site/execute.py)."""

import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

TUTORIAL = Path(__file__).parents[1] / "tutorial.ipynb"


def executed(path: Path) -> nbformat.NotebookNode:
    """Run a notebook in an empty folder, from a clean start."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        # When a cell ran is nobody's business.
        cell.metadata.pop("execution", None)
    return notebook


if __name__ == "__main__":
    nbformat.write(executed(TUTORIAL), TUTORIAL)
