"""The plan of a method as a picture: merges and frontier, a graph of tables, the lattice and the node that was chosen."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import cos, pi, prod, sin
from typing import Any

import altair as alt

from manyveils.reports.charts import BAD, DEEP, LINE, PALE, SOFT, Chart, chart_of, coloured, labels

MOST_NODES = 400
WIDTH = 520

Plain = Mapping[str, Any]
Levels = Mapping[str, int]
Point = tuple[float, float]
SIDES: dict[str, tuple[Any, int, int]] = {
    "right": ("left", 12, 0),
    "left": ("right", -12, 0),
    "above": ("center", 0, -16),
    "below": ("center", 0, 18),
}


def merges(plan: Plain) -> Chart:
    """The merges from all attributes apart to fewer tables, beside the best plans there are."""
    x = alt.X("information_exposure:Q", title="information exposure (what can be joined)")
    y = alt.Y("association_loss:Q", title="association loss")
    ratios = ("information_exposure", "association_loss")

    def points(plans: Sequence[Plain]) -> alt.Chart:
        rows = [{key: step[key] for key in (*ratios, "tables")} for step in plans if not step.get("refused")]
        return chart_of(rows).encode(x, y)

    taken = points(plan.get("merges", []))
    chosen = points([{key: plan[key] for key in ratios} | {"tables": len(plan["plan"])}])
    return alt.layer(
        points(plan.get("frontier", [])).mark_point(size=12, color=PALE, filled=True, opacity=1),
        taken.mark_line(color=SOFT).encode(order="tables:Q"),
        taken.mark_point(color=DEEP, filled=True, size=40, opacity=1),
        taken.mark_text(dx=10, dy=-6, fontSize=10).encode(text="tables:Q"),
        chosen.mark_point(color=BAD, size=160, strokeWidth=2),
    ).properties(width=WIDTH, height=280)


def graph(tables: Sequence[tuple[str, Sequence[str]]]) -> Chart:
    """Tables in a circle; the thicker a line between two, the more attributes they share."""
    # Two stand side by side, more in a circle that begins at the top.
    start, height = (pi / 2, 90) if len(tables) == 2 else (0.0, 300)
    turns = [start + 2 * pi * number / len(tables) for number in range(len(tables))]
    points = {name: (sin(turn), cos(turn)) for turn, (name, _) in zip(turns, tables, strict=True)}
    nodes = [
        {"x": x, "y": y, "name": name, "side": _side(x, y)}
        for name, (x, y) in zip(labels([*points]), points.values(), strict=True)
    ]
    lines = [
        _line(points[left], points[right]) | {"shared": len(shared)}
        for (left, inside), (right, others) in combinations(tables, 2)
        if (shared := {*inside} & {*others})
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-3, 3]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1.25, 1.25]))
    width = alt.StrokeWidth("shared:Q", legend=None, scale=alt.Scale(domainMin=0, range=[0, 3]))
    dots = chart_of(nodes).encode(x, y)
    names = [
        dots.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11)
        .encode(text="name:N")
        for side, (align, dx, dy) in SIDES.items()
    ]
    shared_lines = chart_of(lines).mark_rule(color=SOFT, opacity=0.6)
    return alt.layer(
        shared_lines.encode(x, y, x2="x2:Q", y2="y2:Q", strokeWidth=width),
        dots.mark_circle(size=240, color=DEEP, opacity=1),
        *names,
    ).properties(width=WIDTH, height=height)


def _line(start: Point, end: Point) -> dict[str, Any]:
    return {"x": start[0], "y": start[1], "x2": end[0], "y2": end[1]}


def _side(x: float, y: float) -> str:
    """On which side of its dot a name has room."""
    if abs(x) > 0.1:
        return "right" if x > 0 else "left"
    return "above" if y > 0 else "below"


def n_nodes(heights: Levels) -> int:
    """The nodes of a lattice.

    >>> n_nodes({"age": 2, "sex": 1})
    6
    """
    return prod(height + 1 for height in heights.values())


def lattice(levels: Levels, heights: Levels) -> Chart:
    """Every way of generalizing as a dot, coarser ones higher; lines join those one step apart; the chosen one is large."""
    nodes = list(product(*(range(height + 1) for height in heights.values())))
    chosen = tuple(levels[name] for name in heights)
    points: dict[tuple[int, ...], Point] = {}
    for height in range(sum(heights.values()) + 1):
        row = [node for node in nodes if sum(node) == height]
        points |= {node: (index - (len(row) - 1) / 2, height) for index, node in enumerate(row)}
    dots = [{"x": x, "y": y, "kind": _kind(node, chosen)} for node, (x, y) in points.items()]
    lines = [
        _line(points[node], points[above])
        for node in nodes
        for index in range(len(node))
        if (above := (*node[:index], node[index] + 1, *node[index + 1 :])) in points
    ]
    x = alt.X("x:Q", axis=None)
    y = alt.Y("y:Q", title="steps up, all attributes together", axis=alt.Axis(tickMinStep=1, grid=False))
    size = alt.condition("datum.kind == 'chosen'", alt.value(160), alt.value(30))
    colour = coloured("kind", {"chosen": BAD, "coarser": PALE, "finer": DEEP, "other": LINE})
    return alt.layer(
        chart_of(lines).mark_rule(color=LINE).encode(x, y, x2="x2:Q", y2="y2:Q"),
        chart_of(dots).mark_circle(opacity=1).encode(x, y, color=colour, size=size),
    ).properties(width=WIDTH, height=320)


def _kind(node: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    steps = [level - base for level, base in zip(node, chosen, strict=True)]
    if not any(steps):
        return "chosen"
    if min(steps) >= 0:
        return "coarser"
    return "finer" if max(steps) <= 0 else "other"


def ladders(levels: Levels, heights: Levels) -> Chart:
    """One ladder per attribute, and the step that was chosen on it."""
    names = dict(zip(heights, labels([*heights]), strict=True))
    rungs = [
        {"attribute": names[name], "level": level, "chosen": level == levels[name]}
        for name, height in heights.items()
        for level in range(height + 1)
    ]
    base = chart_of(rungs).encode(
        y=alt.Y("attribute:N", sort=list(names.values()), title=None),
        x=alt.X("level:O", title="level (0: as it is; the last: *)", axis=alt.Axis(labelAngle=0)),
    )
    colour = alt.condition("datum.chosen", alt.value(BAD), alt.value(PALE))
    return alt.layer(
        base.mark_line(color=LINE).encode(detail="attribute:N"),
        base.mark_circle(size=140, opacity=1).encode(color=colour),
    ).properties(width=alt.Step(44), height=alt.Step(24))
