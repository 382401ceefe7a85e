"""The picture of a comparison: what each configuration gives away against what it is good for."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from manyveils.reports.drawing import DEEP, PALE, SOFT, WARM, Chart, as_svg, chart_of, coloured

MOST_LABELS = 12
STANDINGS = {"recommended": WARM, "not beaten": DEEP, "beaten": PALE, "breaks the policy": SOFT}
RISK = "what attacks learn beyond guessing, and beyond what they learn of non-members"

Plain = Mapping[str, Any]
Point = dict[str, Any]


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
    shape = alt.Shape("standing:N", title=None, scale=alt.Scale(domain=list(STANDINGS)))
    line = base.mark_line(color=DEEP, strokeDash=[4, 3], interpolate="step-after")
    marks = base.mark_point(filled=True, size=90, opacity=1)
    names = base.mark_text(align="left", dx=8, dy=-6, fontSize=10).encode(text="name:N")
    return alt.layer(
        line.transform_filter(unbeaten).encode(order="risk:Q"),
        marks.encode(color=coloured("standing", STANDINGS), shape=shape),
        names.transform_filter(unbeaten) if len(points) > MOST_LABELS else names,
    )
