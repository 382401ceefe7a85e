"""Hierarchies that are written down value by value (a file or a tree), and whether they are sound."""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path
from typing import Any

from manyveils.errors import PolicyError, Problem

Lines = tuple[tuple[str, ...], ...]

TOP = "*"


def read_lines(path: Path) -> Lines:
    """Read ARX's format: one line per value, from the value to the top, separated by `;`."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = tuple(
                tuple(cell.strip() for cell in line) for line in csv.reader(file, delimiter=";") if line
            )
    except FileNotFoundError:
        raise PolicyError.at(str(path), "there is no such hierarchy file.") from None
    except (OSError, ValueError) as error:
        raise PolicyError.at(str(path), f"cannot be read as UTF-8 text ({type(error).__name__}).") from None
    except csv.Error:
        raise PolicyError.at(str(path), "is not made of lines separated by `;`.") from None
    # A line that stands there twice says nothing else.
    return tuple(dict.fromkeys(lines))


def tree_lines(tree: Mapping[str, Any]) -> Lines:
    """Write a tree as lines from each leaf to the top.

    >>> tree_lines({"Respiratory": ["Flu", "Bronchitis"]})
    (('Flu', 'Respiratory', '*'), ('Bronchitis', 'Respiratory', '*'))
    """
    return tuple((*path, TOP) for path in _paths(tree))


def _paths(node: object) -> Iterator[tuple[str, ...]]:
    if isinstance(node, list):
        yield from ((str(leaf),) for leaf in node)
        return
    if not isinstance(node, Mapping):
        raise PolicyError.at("tree", "must be made of tables and lists of values.")
    for name, below in node.items():
        yield from ((*path, name) for path in _paths(below))


def line_problems(lines: Lines) -> Iterator[Problem]:
    """What is wrong with a written hierarchy: depths, cycles, two parents, more than one top."""
    if not lines:
        yield Problem("", "the hierarchy is empty.", "Write one line per value.")
        return
    depths = {len(line) for line in lines}
    if len(depths) > 1 or max(depths) < 2:
        levels = f"{min(depths)} to {max(depths)} levels" if len(depths) > 1 else f"{max(depths)} level"
        what = f"lines have different depths or only one level ({levels})."
        remedy = "Give every value the same number of levels, two or more; repeat a label to fill a level."
        yield Problem("", what, remedy)
        return
    n_circular = _circle(lines)
    if n_circular:
        yield Problem(
            "", f"a cycle: {n_circular} labels stand above each other.", "No label is above itself."
        )
    for level, (children, parents) in enumerate(pairwise(zip(*lines, strict=True))):
        n_torn = _two_parents(children, parents)
        if n_torn:
            what = f"{n_torn} labels of level {level} have two parents at level {level + 1}."
            yield Problem("", what, "Give every label one parent.")
    n_doubled = len(lines) - len({line[0] for line in lines})
    if n_doubled and len(set(lines)) < len(lines):
        yield Problem("", f"{n_doubled} values are listed more than once.", "List every value once.")
    n_tops = len({line[-1] for line in lines})
    if n_tops > 1:
        remedy = f"End every line with one common top, such as {TOP}."
        yield Problem("", f"the last level has {n_tops} labels.", remedy)


def _circle(lines: Lines) -> int:
    """How many labels a cycle of parents has; 0 if there is none. A repeated label only fills a level."""
    above: dict[str, set[str]] = {}
    for line in lines:
        for child, parent in pairwise(line):
            above.setdefault(child, set()).update({parent} - {child})
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        return len(set(error.args[1]))
    return 0


def _two_parents(children: tuple[str, ...], parents: tuple[str, ...]) -> int:
    counts = Counter(child for child, _ in set(zip(children, parents, strict=True)))
    return sum(n_parents > 1 for n_parents in counts.values())
