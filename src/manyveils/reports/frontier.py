"""The picture of a comparison: what each configuration gives away against what it is good for."""

from collections.abc import Mapping
from typing import Any

import altair as alt

from manyveils.reports.drawing import DEEP, PALE, SOFT, WARM, Chart, as_svg, chart_of

MOST_LABELS = 12
STANDINGS = {"recommended": WARM, "not beaten": DEEP, "beaten": PALE, "breaks the policy": SOFT}
SIZE = {"width": 520, "height": 360}


def frontier_picture(comparison: Mapping[str, Any]) -> str | None:
    """Draw the description of a comparison as SVG; nothing if no configuration has both numbers."""
    key, measure = comparison["measure"]["key"], comparison["measure"]["words"]
    points = _merged([point for each in comparison["results"] if (point := _point(each, comparison, key))])
    if not points:
        return None
    title = f"Risk and {measure}"
    return as_svg(_chart(points, measure), title=title, description=_told(points, measure))


def _point(result: Mapping[str, Any], comparison: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    value = result.get("utility", {}).get(key)
    if value is None or result["risk"] is None or result["secret"]:
        return None
    standing = "not beaten" if result["name"] in comparison["frontier"] else "beaten"
    if result["name"] == comparison["recommendation"]["name"]:
        standing = "recommended"
    elif not result["keeps_policy"]:
        standing = "breaks the policy"
    return {"name": result["name"], "risk": result["risk"], "value": value, "standing": standing}


def _merged(points: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Points in one place and of one standing as one, with all their names."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for point in points:
        place = (f"{point['risk']:.3g}", f"{point['value']:.3g}", point["standing"])
        before = found.get(place)
        found[place] = point if before is None else before | {"name": f"{before['name']} / {point['name']}"}
    return list(found.values())


def _told(points: list[dict[str, Any]], measure: str) -> str:
    each = "; ".join(
        f"{point['name']}: risk {point['risk']:.3g}, {measure} {point['value']:.4g}, {point['standing']}"
        for point in points
    )
    return f"Each configuration by its risk, what attacks get beyond guessing and people outside the data, and its {measure}. {each}."


def _chart(points: list[dict[str, Any]], measure: str) -> Chart:
    at = {
        "x": alt.X(
            "risk:Q",
            title="risk: what attacks get beyond guessing and people outside the data",
            axis=alt.Axis(format="%"),
        ),
        "y": alt.Y("value:Q", title=measure, scale=alt.Scale(zero=False, padding=20)),
    }
    base = chart_of(points).properties(**SIZE)
    colour = alt.Color(
        "standing:N",
        title=None,
        scale=alt.Scale(domain=list(STANDINGS), range=list(STANDINGS.values())),
    )
    shape = alt.Shape("standing:N", title=None, scale=alt.Scale(domain=list(STANDINGS)))
    marks = base.mark_point(filled=True, size=90, opacity=1).encode(**at, color=colour, shape=shape)
    unbeaten = alt.FieldOneOfPredicate(field="standing", oneOf=["recommended", "not beaten"])
    line = (
        base.mark_line(color=DEEP, strokeDash=[4, 3], interpolate="step-after")
        .transform_filter(unbeaten)
        .encode(**at, order="risk:Q")
    )
    labels = base.mark_text(align="left", dx=8, dy=-6, fontSize=10).encode(**at, text="name:N")
    if len(points) > MOST_LABELS:
        labels = labels.transform_filter(unbeaten)
    return alt.layer(line, marks, labels)
