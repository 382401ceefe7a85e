"""The tutorial runs as it stands, and shows what it shows."""

import importlib.util
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

SITE = Path(__file__).parents[2] / "docs" / "site"


def load(name):
    """Load a module of the documentation's own."""
    spec = importlib.util.spec_from_file_location(name, SITE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(notebook):
    """Everything a notebook shows, cell by cell."""
    return [
        [dict(output.get("data", {})) or output.get("text") for output in cell.get("outputs", [])]
        for cell in notebook.cells
    ]


def test_the_tutorial_shows_what_it_does():
    """Run from a clean start, the tutorial shows what is saved in it."""
    execute = load("execute")
    saved = nbformat.read(execute.TUTORIAL, as_version=4)
    assert shown(execute.executed(execute.TUTORIAL)) == shown(saved)
