"""The pages of docs/reproductions: made by the code that is here, and telling no number of ours that no script makes."""

import ast
import json
import re
from pathlib import Path

import pytest

from benchmarks.reproductions.made_by import ROOT, digests, written

DOCS = ROOT / "docs" / "reproductions"
MADE = ROOT / "benchmarks" / "reproductions" / "made"
PAGES = sorted(MADE.glob("*.json"))
GENERATED = re.compile(r"<!-- [\w-]+ -->\n(.*?)<!-- end -->", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d[\d,_]*(?:\.\d+)?")
# Up to here numbers count sections, figures and parameters.
FREE = 31
# What the papers say, and settings that stand in no script of a page.
QUOTED = {
    "alpha-beta-k": "49 120 125 90000",
    "beyond": "2022",
    "codip": "98839 90",
    "grading": "10000 10030 15000 22000 2009 0.0001 0.0002 0.0005 3.9",
    "guardian": "2005 40 177148 60 1.6 200",
    "slicing": "40000 70 13567 20000",
}


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
    now = digests(file.stem, made["made_with"], made["methods"])
    changed = sorted(module for module, digest in now.items() if made["made_by"].get(module) != digest)
    assert not changed, (
        f"docs/reproductions/{file.stem}.md was made by another {', '.join(changed)}: "
        f"run `make reproduce-{file.stem}` and commit what it writes."
    )


def numbers(text: str) -> set[str]:
    """The numbers of a text, without the marks between thousands."""
    return {number.replace(",", "").replace("_", "").rstrip(".") for number in NUMBER.findall(text)}


def rounded(number: str, among: set[str]) -> bool:
    """Whether one of some numbers is a number once it is written as shortly."""
    digits = len(number.partition(".")[2])
    return any(round(float(other), digits) == float(number) for other in among)


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.stem)
def test_words_tell_no_number_that_no_script_makes(file):
    """Every number in the words of a page stands in its tables or its scripts, or is one of the paper's."""
    text = (DOCS / f"{file.stem}.md").read_text(encoding="utf-8")
    words = re.sub(r"\]\([^)]*\)", "]", GENERATED.sub("", text))
    scripts = [name for name in kept(file)["made_by"] if name.startswith("benchmarks.reproductions.")]
    sources = ["".join(GENERATED.findall(text)), QUOTED[file.stem]]
    sources += [(ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8") for name in scripts]
    known = set().union(*map(numbers, sources))
    unmade = {
        number
        for number in numbers(words) - known
        if not (number.isdigit() and int(number) <= FREE) and not rounded(number, known)
    }
    assert not unmade, f"docs/reproductions/{file.stem}.md: no script makes {', '.join(sorted(unmade))}."


def test_layout_makes_no_page_stale():
    """Comments, docstrings, imports and line breaks do not count, and a number does."""
    one = 'def f(x):\n    """One."""\n    return x + 1  # more\n'
    assert written(ast.parse(one)) == written(ast.parse("def f(x):\n\n    return (x +\n 1)"))
    assert written(ast.parse(one)) != written(ast.parse(one.replace("+ 1", "+ 2")))


def test_a_page_minds_its_methods_and_no_others():
    """Slicing's page depends on slicing and its measures, and not on other methods, the server or the command line."""
    modules = kept(MADE / "slicing.json")["made_by"]
    assert {"manyveils.methods.slice.buckets", "manyveils.utility.membership", "releases of slice"} <= {
        *modules
    }
    assert not [
        name for name in modules if name.startswith(("manyveils.server", "manyveils.cli", "manyveils.spark"))
    ]
    assert "manyveils.methods" not in modules
    assert "manyveils.methods.codip" not in modules
