"""The charts of a report, each drawn from the plain values of one command."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from manyveils.reports.drawing import BAD, DEEP, GOOD, INK, LINE, PALE, SOFT, WARM, Chart, chart_of, labels

WIDTH = 520
SHORT = 18
WIDEST_BAR = 80
PERCENT = alt.Axis(format="~%", tickCount=6)

Plain = Mapping[str, Any]
STANDINGS = {
    "nothing learnt": GOOD,
    "within bounds": DEEP,
    "not promised": WARM,
    "broken": BAD,
}


def group_sizes(view: Plain) -> Chart:
    """How many people stand in groups of which size, and how many groups there are."""
    rows = [
        {"size": _band(band), "rows": band["rows"], "groups": band["groups"], "low": band["low"]}
        for band in view["bands"]
    ]
    base = chart_of(rows).encode(
        x=alt.X(
            "size:N",
            sort=[row["size"] for row in rows],
            title="rows in the group",
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("rows:Q", title="people"),
    )
    bars = base.mark_bar(color=DEEP)
    counts = base.mark_text(dy=-6, fontSize=10).encode(text=alt.Text("groups:Q", format=","))
    return alt.layer(bars, counts).properties(width=min(WIDTH, WIDEST_BAR * len(rows)), height=180)


def _band(band: Plain) -> str:
    return f"{band['low']:,}" if band["low"] == band["high"] else f"{band['low']:,}–{band['high']:,}"


def shares(found: Plain) -> Chart:
    """How common each value is, before and after; or after alone."""
    sides = [(side, words) for side, words in (("before", "original"), ("after", "release")) if side in found]
    order = labels(found["bins"])
    rows = [
        {"value": value, "share": found[side][place], "in": words}
        for side, words in sides
        for place, value in enumerate(order)
    ]
    return (
        chart_of(rows)
        .mark_bar()
        .encode(
            y=alt.Y("value:N", sort=order, title=None),
            x=alt.X("share:Q", title="share of people", axis=PERCENT),
            yOffset=alt.YOffset("in:N", sort=[words for _, words in sides]),
            color=alt.Color(
                "in:N",
                title=None,
                sort=[words for _, words in sides],
                scale=alt.Scale(domain=["original", "release"], range=[PALE, DEEP]),
                legend=alt.Legend() if len(sides) > 1 else None,
            ),
        )
        .properties(width=WIDTH - 120, height=alt.Step(11))
    )


def associations(found: Plain, side: str) -> Chart:
    """What goes with what, as a heat map with the numbers in it."""
    names = labels(found["attributes"])
    rows = [
        {"one": one, "other": other, "v": found[side][i][j], "shown": f"{found[side][i][j]:.2f}"}
        for i, one in enumerate(names)
        for j, other in enumerate(names)
        if j < i
    ]
    base = chart_of(rows).encode(
        x=alt.X("other:N", sort=names, title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("one:N", sort=names, title=None),
    )
    colour = alt.Color(
        "v:Q", scale=alt.Scale(domain=[0, 1], range=["#eef3f5", DEEP], interpolate="lab"), legend=None
    )
    words = base.mark_text(fontSize=9).encode(
        text="shown:N", color=alt.condition("datum.v > 0.45", alt.value("#ffffff"), alt.value("#1b2327"))
    )
    return alt.layer(base.mark_rect().encode(color=colour), words).properties(
        width=alt.Step(34), height=alt.Step(22)
    )


def attacks(outcomes: Mapping[str, Plain]) -> Chart:
    """Success of every attack with its interval, beside guessing and people outside the data."""
    kept = ("success", "baseline", "control", "standing")
    applying = {name: each for name, each in outcomes.items() if each["applies"]}
    values = [
        {"attack": name, "low": low, "high": high} | {key: each[key] for key in kept}
        for name, each in applying.items()
        for low, high in [each["interval"] or (None, None)]
    ]
    height = alt.Y("attack:N", sort=[*applying], title=None)
    base = chart_of(values).encode(y=height)
    colour = alt.Color(
        "standing:N",
        title=None,
        scale=alt.Scale(domain=list(STANDINGS), range=list(STANDINGS.values())),
    )
    span = base.mark_rule(strokeWidth=3).encode(
        x=alt.X("low:Q", title="success", axis=PERCENT), x2="high:Q", color=colour
    )
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x="success:Q", color=colour)
    guess = base.mark_tick(thickness=2, color=INK, height=12).encode(x="baseline:Q")
    outside = base.mark_point(shape="diamond", size=45, color=SOFT, filled=False).encode(x="control:Q")
    return alt.layer(span, guess, outside, point).properties(width=WIDTH, height=alt.Step(SHORT))


def standing(columns: Sequence[tuple[str, Sequence[str]]], attributes: Sequence[str]) -> Chart:
    """Which attribute stands in which table: one column of dots for each published table."""
    names = dict(zip(attributes, labels(attributes), strict=True))
    tables = labels([table for table, _ in columns])
    rows = [
        {"attribute": names[name], "table": table}
        for table, (_, inside) in zip(tables, columns, strict=True)
        for name in inside
    ]
    return (
        chart_of(rows)
        .mark_square(size=150, color=DEEP, opacity=1)
        .encode(
            x=alt.X(
                "table:N",
                sort=tables,
                title=None,
                axis=alt.Axis(orient="top", labelAngle=-40, grid=True, gridColor=LINE),
            ),
            y=alt.Y("attribute:N", sort=list(names.values()), title=None, axis=alt.Axis(grid=True)),
        )
        .properties(width=alt.Step(34), height=alt.Step(SHORT))
    )
