"""The plan of a method as a picture: merges and frontier, a graph of tables, the lattice and the node that was chosen."""

from collections.abc import Mapping, Sequence
from itertools import combinations, product
from math import cos, pi, sin
from typing import Any

import altair as alt

from manyveils.reports.drawing import BAD, DEEP, LINE, PALE, SOFT, Chart, chart_of, labels

MOST_NODES = 400
WIDTH = 520

Plain = Mapping[str, Any]
SIDES: dict[str, tuple[Any, int, int]] = {
    "right": ("left", 12, 0),
    "left": ("right", -12, 0),
    "above": ("center", 0, -16),
    "below": ("center", 0, 18),
}


def merges(plan: Plain) -> Chart:
    """CODIP's way: from all attributes apart to fewer tables, beside the best plans there are."""
    x = alt.X("information_exposure:Q", title="information exposure (what can be joined)")
    y = alt.Y("association_loss:Q", title="association loss")
    kept = ("information_exposure", "association_loss", "tables")
    best = [{key: each[key] for key in kept} for each in plan.get("frontier", [])]
    taken = [{key: each[key] for key in kept} for each in plan.get("merges", []) if not each.get("refused")]
    chosen = [{key: plan[key] for key in kept[:2]} | {"tables": len(plan["plan"])}]
    layers = [
        chart_of(best).mark_point(size=12, color=PALE, filled=True, opacity=1).encode(x, y),
        chart_of(taken).mark_line(color=SOFT).encode(x, y, order="tables:Q"),
        chart_of(taken).mark_point(color=DEEP, filled=True, size=40, opacity=1).encode(x, y),
        chart_of(taken).mark_text(dx=10, dy=-6, fontSize=10).encode(x, y, text="tables:Q"),
        chart_of(chosen).mark_point(color=BAD, size=160, strokeWidth=2).encode(x, y),
    ]
    return alt.layer(*layers).properties(width=WIDTH, height=280)


def graph(tables: Sequence[tuple[str, Sequence[str]]]) -> Chart:
    """Tables in a circle; the thicker a line between two, the more attributes they share."""
    # Two stand side by side, more in a circle that begins at the top.
    start, height = (pi / 2, 90) if len(tables) == 2 else (0.0, 300)
    turns = [start + 2 * pi * number / len(tables) for number in range(len(tables))]
    places = {name: (sin(turn), cos(turn)) for turn, (name, _) in zip(turns, tables, strict=True)}
    nodes = [
        {"x": x, "y": y, "name": name, "side": _side(x, y)}
        for name, (x, y) in zip(labels([*places]), places.values(), strict=True)
    ]
    lines = [
        dict(zip(("x", "y", "x2", "y2"), (*places[one], *places[other]), strict=True))
        | {"shared": len(shared)}
        for (one, left), (other, right) in combinations(tables, 2)
        if (shared := {*left} & {*right})
    ]
    x = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-3, 3]))
    y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1.25, 1.25]))
    width = alt.StrokeWidth("shared:Q", legend=None, scale=alt.Scale(domainMin=0, range=[0, 3]))
    held = chart_of(nodes).encode(x, y)
    names = [
        held.transform_filter(f"datum.side == '{side}'")
        .mark_text(align=align, dx=dx, dy=dy, fontSize=11)
        .encode(text="name:N")
        for side, (align, dx, dy) in SIDES.items()
    ]
    ties = chart_of(lines).mark_rule(color=SOFT, opacity=0.6)
    return alt.layer(
        ties.encode(x, y, x2="x2:Q", y2="y2:Q", strokeWidth=width),
        held.mark_circle(size=240, color=DEEP, opacity=1),
        *names,
    ).properties(width=WIDTH, height=height)


def _side(x: float, y: float) -> str:
    """On which side of its dot a name has room."""
    if abs(x) > 0.1:
        return "right" if x > 0 else "left"
    return "above" if y > 0 else "below"


def is_small(heights: Mapping[str, int]) -> bool:
    """Whether a lattice has room in a picture."""
    return n_nodes(heights) <= MOST_NODES


def n_nodes(heights: Mapping[str, int]) -> int:
    """The nodes of a lattice.

    >>> n_nodes({"age": 2, "sex": 1})
    6
    """
    total = 1
    for height in heights.values():
        total *= height + 1
    return total


def lattice(levels: Mapping[str, int], heights: Mapping[str, int]) -> Chart:
    """Every way of generalizing as a dot, coarser ones higher; lines join those one step apart; the chosen one is large."""
    names = list(heights)
    nodes = list(product(*(range(heights[name] + 1) for name in names)))
    rows = {
        height: [node for node in nodes if sum(node) == height] for height in range(sum(heights.values()) + 1)
    }
    places = {
        node: (place - (len(row) - 1) / 2, height)
        for height, row in rows.items()
        for place, node in enumerate(row)
    }
    chosen = tuple(levels[name] for name in names)
    dots = [{"x": x, "y": y, "kind": _kind(node, chosen)} for node, (x, y) in places.items()]
    lines = [
        {"x": places[node][0], "y": places[node][1], "x2": places[above][0], "y2": places[above][1]}
        for node in nodes
        for number, name in enumerate(names)
        if node[number] < heights[name]
        for above in [(*node[:number], node[number] + 1, *node[number + 1 :])]
    ]
    x = alt.X("x:Q", axis=None)
    y = alt.Y("y:Q", title="steps up, all attributes together", axis=alt.Axis(tickMinStep=1, grid=False))
    colour = alt.Color(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=["chosen", "coarser", "finer", "other"], range=[BAD, PALE, DEEP, LINE]),
    )
    return alt.layer(
        chart_of(lines).mark_rule(color=LINE).encode(x, y, x2="x2:Q", y2="y2:Q"),
        chart_of(dots)
        .mark_circle(opacity=1)
        .encode(
            x, y, color=colour, size=alt.condition("datum.kind == 'chosen'", alt.value(160), alt.value(30))
        ),
    ).properties(width=WIDTH, height=320)


def _kind(node: tuple[int, ...], chosen: tuple[int, ...]) -> str:
    if node == chosen:
        return "chosen"
    if all(one >= other for one, other in zip(node, chosen, strict=True)):
        return "coarser"
    return "finer" if all(one <= other for one, other in zip(node, chosen, strict=True)) else "other"


def ladders(levels: Mapping[str, int], heights: Mapping[str, int]) -> Chart:
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
