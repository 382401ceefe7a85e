"""The charts of a report, each drawn from the plain values of one command."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from manyveils.reports.drawing import (
    BAD,
    DEEP,
    GOOD,
    INK,
    LINE,
    PALE,
    SOFT,
    WARM,
    Chart,
    as_svg,
    chart_of,
    coloured,
    labels,
)

WIDTH = 520
SHORT = 18
WIDEST_BAR = 80
PERCENT = alt.Axis(format="~%", tickCount=6)

Plain = Mapping[str, Any]
SIDES = {"before": "original", "after": "release"}
STANDINGS = {"nothing learnt": GOOD, "within bounds": DEEP, "not promised": WARM, "broken": BAD}
MOST_LABELS = 12
PLACES = {"recommended": WARM, "not beaten": DEEP, "beaten": PALE, "breaks the policy": SOFT}
RISK = "what attacks learn beyond guessing, and beyond what they learn of non-members"
Point = dict[str, Any]


def group_sizes(view: Plain) -> Chart:
    """How many people stand in groups of which size, and how many groups there are."""
    rows = [{"size": _band(band)} | band for band in view["bands"]]
    sizes = [row["size"] for row in rows]
    base = chart_of(rows).encode(
        x=alt.X("size:N", sort=sizes, title="rows in the group", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("rows:Q", title="people"),
    )
    counts = base.mark_text(dy=-6, fontSize=10).encode(text=alt.Text("groups:Q", format=","))
    width = min(WIDTH, WIDEST_BAR * len(rows))
    return alt.layer(base.mark_bar(color=DEEP), counts).properties(width=width, height=180)


def _band(band: Plain) -> str:
    return f"{band['low']:,}" if band["low"] == band["high"] else f"{band['low']:,}–{band['high']:,}"


def shares(of_values: Plain) -> Chart:
    """How common each value is, before and after; or after alone."""
    sides = {words: of_values[side] for side, words in SIDES.items() if side in of_values}
    values = labels(of_values["bins"])
    rows = [
        {"value": value, "share": share, "in": words}
        for words, side in sides.items()
        for value, share in zip(values, side, strict=True)
    ]
    colour = coloured("in", {"original": PALE, "release": DEEP}).sort([*sides])
    encoded = chart_of(rows).encode(
        y=alt.Y("value:N", sort=values, title=None),
        x=alt.X("share:Q", title="share of people", axis=PERCENT),
        yOffset=alt.YOffset("in:N", sort=[*sides]),
        color=colour if len(sides) > 1 else colour.legend(None),
    )
    return encoded.mark_bar().properties(width=WIDTH - 120, height=alt.Step(11))


def associations(matrices: Plain, side: str) -> Chart:
    """What goes with what, as a heat map with the numbers in it."""
    names, matrix = labels(matrices["attributes"]), matrices[side]
    rows = [
        {"one": names[i], "other": names[j], "v": matrix[i][j], "shown": f"{matrix[i][j]:.2f}"}
        for i in range(len(names))
        for j in range(i)
    ]
    base = chart_of(rows).encode(
        x=alt.X("other:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("one:N", sort=names, title=None),
    )
    shades = alt.Scale(domain=[0, 1], range=["#eef3f5", DEEP], interpolate="lab")
    ink = alt.condition("datum.v > 0.45", alt.value("#ffffff"), alt.value("#1b2327"))
    return alt.layer(
        base.mark_rect().encode(color=alt.Color("v:Q", scale=shades, legend=None)),
        base.mark_text(fontSize=9).encode(text="shown:N", color=ink),
    ).properties(width=alt.Step(34), height=alt.Step(22))


def attacks(outcomes: Mapping[str, Plain]) -> Chart:
    """Success of every attack with its interval, beside guessing and people who are not in the data."""
    keys = ("success", "baseline", "control", "standing")
    applying = {name: outcome for name, outcome in outcomes.items() if outcome["applies"]}
    rows = [
        {"attack": name, "low": low, "high": high} | {key: outcome[key] for key in keys}
        for name, outcome in applying.items()
        for low, high in [outcome["interval"] or (None, None)]
    ]
    base = chart_of(rows).encode(y=alt.Y("attack:N", sort=[*applying], title=None))
    colour = coloured("standing", STANDINGS)
    low = alt.X("low:Q", title="success", axis=PERCENT)
    return alt.layer(
        base.mark_rule(strokeWidth=3).encode(x=low, x2="high:Q", color=colour),
        base.mark_tick(thickness=2, color=INK, height=12).encode(x="baseline:Q"),
        base.mark_point(shape="diamond", size=45, color=SOFT, filled=False).encode(x="control:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x="success:Q", color=colour),
    ).properties(width=WIDTH, height=alt.Step(SHORT))


def standing(columns: Sequence[tuple[str, Sequence[str]]], attributes: Sequence[str]) -> Chart:
    """Which attribute stands in which table: one column of marks for each published table."""
    names = dict(zip(attributes, labels(attributes), strict=True))
    tables = labels([table for table, _ in columns])
    rows = [
        {"attribute": names[name], "table": table}
        for table, (_, inside) in zip(tables, columns, strict=True)
        for name in inside
    ]
    top = alt.Axis(orient="top", grid=True, gridColor=LINE, labelAngle=-40)
    encoded = chart_of(rows).encode(
        x=alt.X("table:N", sort=tables, title=None, axis=top),
        y=alt.Y("attribute:N", sort=list(names.values()), title=None, axis=alt.Axis(grid=True)),
    )
    marked = encoded.mark_square(size=150, color=DEEP, opacity=1)
    return marked.properties(width=alt.Step(34), height=alt.Step(SHORT))


def frontier_picture(comparison: Plain) -> str | None:
    """Draw the description of a comparison as SVG; nothing if no configuration has both numbers."""
    points = _merged([point for result in comparison["results"] if (point := _point(result, comparison))])
    if not points:
        return None
    measure = comparison["measure"]["words"]
    listed = "; ".join(
        f"{point['name']}: risk {point['risk']:.3g}, {measure} {point['value']:.4g}, {point['standing']}"
        for point in points
    )
    description = f"Each configuration by its risk ({RISK}) and its {measure}. {listed}."
    return as_svg(_chart(points, measure), title=f"Risk and {measure}", description=description)


def _point(result: Plain, comparison: Plain) -> Point | None:
    value = result.get("utility", {}).get(comparison["measure"]["key"])
    if value is None or result["risk"] is None or result["secret"]:
        return None
    standing = "not beaten" if result["name"] in comparison["frontier"] else "beaten"
    if result["name"] == comparison["recommendation"]["name"]:
        standing = "recommended"
    elif not result["keeps_policy"]:
        standing = "breaks the policy"
    return {"name": result["name"], "risk": result["risk"], "value": value, "standing": standing}


def _merged(points: Sequence[Point]) -> list[Point]:
    """Points in one place and of one standing as one, with all their names."""
    merged: dict[tuple[str, ...], Point] = {}
    for point in points:
        place = (f"{point['risk']:.3g}", f"{point['value']:.3g}", point["standing"])
        before = merged.get(place)
        merged[place] = point if before is None else before | {"name": f"{before['name']} / {point['name']}"}
    return list(merged.values())


def _chart(points: list[Point], measure: str) -> Chart:
    base = chart_of(points).properties(width=520, height=360)
    base = base.encode(
        alt.X("risk:Q", title=f"risk: {RISK}", axis=alt.Axis(format="%")),
        alt.Y("value:Q", title=measure, scale=alt.Scale(zero=False, padding=20)),
    )
    unbeaten = alt.FieldOneOfPredicate(field="standing", oneOf=["recommended", "not beaten"])
    shape = alt.Shape("standing:N", title=None, scale=alt.Scale(domain=list(PLACES)))
    line = base.mark_line(color=DEEP, strokeDash=[4, 3], interpolate="step-after")
    marks = base.mark_point(filled=True, size=90, opacity=1)
    names = base.mark_text(align="left", dx=8, dy=-6, fontSize=10).encode(text="name:N")
    return alt.layer(
        line.transform_filter(unbeaten).encode(order="risk:Q"),
        marks.encode(color=coloured("standing", PLACES), shape=shape),
        names.transform_filter(unbeaten) if len(points) > MOST_LABELS else names,
    )
