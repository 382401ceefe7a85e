"""docs/reproductions/index.md: all figures and tables of the papers in one table, from what the scripts computed."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.reproductions.figures import Figure
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.table import markdown

PAGE = DOCS / "index.md"
PAPERS = {
    "codip": "CODIP (paper 000)",
    "alpha-beta-k": "(α,β,k)-anonymity (paper 001)",
    "guardian": "Versatile publishing (paper 002)",
    "slicing": "Slicing (paper 003)",
    "grading": "Categorical grading (paper 004)",
}


def write(folder: Path) -> None:
    """Write the tables of the index again; a paper that was not run has no line."""
    made = {
        name: json.loads(_read(folder / f"{name}.json"))
        for name in PAPERS
        if (folder / f"{name}.json").exists()
    }
    figures = {name: _figures(own) for name, own in made.items()}
    headings = (
        "paper",
        "figure",
        "about",
        "the paper (and whether it holds here)",
        "ours",
        "status",
        "why they differ",
    )
    lines = [(f"[{PAPERS[name]}]({name}.md)", *one.cells) for name, own in figures.items() for one in own]
    put(PAGE, "figures", markdown(headings, lines))
    counts = Counter(one.status for own in figures.values() for one in own)
    put(PAGE, "counts", markdown(("status", "figures and tables"), counts.most_common()))
    put(
        PAGE,
        "seconds",
        markdown(("page", "seconds of its last run"), [(name, _seconds(own)) for name, own in made.items()]),
    )


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def _figures(made: dict[str, Any]) -> list[Figure]:
    """The figures of one paper, in its order: tables before figures."""
    told = [Figure(**figure) for one in made["experiments"].values() for figure in one["figures"]]
    return sorted(told, key=_place)


def _place(figure: Figure) -> tuple[str, int, str]:
    kind, _, number = figure.name.partition(" ")
    digits = "".join(letter for letter in number if letter.isdigit())
    return {"table": "a", "figure": "b"}.get(kind, "c"), int(digits or 0), number


def _seconds(made: dict[str, Any]) -> int:
    return sum(one["seconds"] for one in made["experiments"].values())
