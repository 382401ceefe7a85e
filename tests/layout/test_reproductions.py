"""The pages of docs/reproductions: made by the code that is here, and telling no number of ours that no script makes."""

import ast
import json
from pathlib import Path

import pytest

from benchmarks.reproductions.made_by import ROOT, made_by, written

MADE = ROOT / "benchmarks" / "reproductions" / "made"
PAGES = sorted(MADE.glob("*.json"))


def kept(file: Path) -> dict:
    """What is kept of the run that made a page."""
    return json.loads(file.read_text(encoding="utf-8"))


def test_every_paper_has_a_page_that_was_made():
    """Five papers and what goes past them have a page that was made by its script."""
    assert [file.stem for file in PAGES] == [
        "alpha-beta-k",
        "beyond",
        "codip",
        "grading",
        "guardian",
        "slicing",
    ]


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_a_page_was_made_by_this_code(file):
    """No module that has a part in the numbers of a page has changed since it was made."""
    made = kept(file)
    script = f"benchmarks.reproductions.{file.stem.replace('-', '_')}"
    now = made_by((script, *(f"manyveils.{module}" for module in made["made_with"])))
    changed = sorted(
        module for module in made["made_by"] | now if made["made_by"].get(module) != now.get(module)
    )
    assert not changed, (
        f"docs/reproductions/{file.stem}.md was made by another {', '.join(changed)}: "
        f"run `make reproduce-{file.stem}` and commit what it writes."
    )


def test_layout_makes_no_page_stale():
    """Comments, docstrings and line breaks do not count, and a number does."""
    one = 'def f(x):\n    """One."""\n    return x + 1  # more\n'
    assert written(ast.parse(one)) == written(ast.parse("def f(x):\n\n    return (x +\n 1)"))
    assert written(ast.parse(one)) != written(ast.parse(one.replace("+ 1", "+ 2")))


def test_a_page_minds_its_methods_and_no_others():
    """Slicing's page depends on the kernels of slicing, and not on other methods, the server or the command line."""
    modules = kept(MADE / "slicing.json")["made_by"]
    assert {"manyveils.methods.slice.buckets", "manyveils.kernels.matching"} <= {*modules}
    assert not [
        name for name in modules if name.startswith(("manyveils.server", "manyveils.cli", "manyveils.spark"))
    ]
    assert "manyveils.methods" not in modules
    assert "manyveils.methods.codip" not in modules
