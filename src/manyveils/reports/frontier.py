"""The picture of a comparison: every way to publish by its risk and what is preferred, each with its name."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

import altair as alt

from manyveils.reports.charts import DEEP, LINE, PALE, SOFT, WARM, Chart, as_svg, chart_of, coloured

Plain = Mapping[str, Any]
Point = dict[str, Any]
PLACES = {"recommended": WARM, "not beaten": DEEP, "beaten": PALE, "breaks the policy": SOFT}
RISK = "what attacks learn beyond guessing, and beyond what they learn of non-members"
WIDTH, HEIGHT = 520, 360
# A line of text needs so many pixels, and a letter about so many.
LINE_HEIGHT, LETTER = 13.0, 6.0
# Names stand beside their points, and above the line that leads away from them.
BESIDE, ABOVE = 10.0, -8.0
# Values this many times apart cannot be told from each other on an even scale.
FAR_APART = 20.0
LEAST_RISK = 0.01


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
    most_risk = max(LEAST_RISK, *(point["risk"] for point in points))
    low, high, is_logarithmic = ends_of([point["value"] for point in points])
    across = alt.Scale(domain=[0, most_risk], nice=True)
    # Every name stands to the right of its point, as near to it as others leave room.
    labelled = _labelled(points, most_risk, (low, high), is_logarithmic=is_logarithmic)
    base = chart_of(labelled).properties(width=WIDTH, height=HEIGHT)
    upward = alt.Scale(domain=[low, high], type="log" if is_logarithmic else "linear", nice=False)
    base = base.encode(
        alt.X("risk:Q", title=f"risk: {RISK}", axis=alt.Axis(format="%"), scale=across),
        alt.Y("value:Q", title=f"{measure} (log scale)" if is_logarithmic else measure, scale=upward),
    )
    unbeaten = alt.FieldOneOfPredicate(field="standing", oneOf=["recommended", "not beaten"])
    shape = alt.Shape("standing:N", title=None, scale=alt.Scale(domain=list(PLACES)))
    line = base.mark_line(color=DEEP, strokeDash=[4, 3], interpolate="step-after")
    marks = base.mark_point(filled=True, size=90, opacity=1)
    named = chart_of(labelled).mark_text(align="left", dx=BESIDE, dy=ABOVE, fontSize=10, limit=0)
    leaders = chart_of(labelled).mark_rule(color=LINE, xOffset=BESIDE - 2)
    return alt.layer(
        line.transform_filter(unbeaten).encode(order="risk:Q"),
        leaders.encode(x="risk:Q", y="value:Q", y2="at:Q"),
        marks.encode(color=coloured("standing", PLACES), shape=shape),
        named.encode(x="risk:Q", y="at:Q", text="name:N"),
    )


def ends_of(values: Sequence[float]) -> tuple[float, float, bool]:
    """Where the axis of some values begins and ends, and whether it is logarithmic; none begins below zero for values above.

    >>> ends_of([0.2, 0.5]), ends_of([0.01, 3.0]), ends_of([0.0, 3.0]), ends_of([-0.5, 0.9])
    ((0.0, 0.55, False), (0.01, 10.0, True), (0.0, 3.3000000000000003, False), (-0.55, 0.9900000000000001, False))
    """
    least, greatest = min(values), max(values)
    if least > 0 and greatest > FAR_APART * least:
        return 10.0 ** floor(log10(least)), 10.0 ** ceil(log10(greatest) + 1e-9), True
    return min(least * 1.1, 0.0), max(greatest * 1.1, 0.0) or 1.0, False


def _labelled(
    points: list[Point], most_risk: float, ends: tuple[float, float], *, is_logarithmic: bool
) -> list[Point]:
    """The points with the height at which their names stand, in the measure's own unit."""
    bottom, top = (log10(end) if is_logarithmic else end for end in ends)
    span = (top - bottom) or 1.0

    def pixels(value: float) -> float:
        return HEIGHT * ((log10(value) if is_logarithmic else value) - bottom) / span

    def back(height: float) -> float:
        value = bottom + span * height / HEIGHT
        return 10.0**value if is_logarithmic else value

    boxes = [
        (WIDTH * point["risk"] / most_risk, pixels(point["value"]), LETTER * len(point["name"]) + BESIDE)
        for point in points
    ]
    heights = apart(boxes)
    return [point | {"at": back(height)} for point, height in zip(points, heights, strict=True)]


def apart(boxes: Sequence[tuple[float, float, float]]) -> list[float]:
    """Heights for texts at (left, height, width) so that none is printed over another, each as near as there is room.

    >>> apart([(0, 50, 40), (10, 52, 40), (100, 51, 40)])
    [50, 63.0, 51]
    """
    placed: list[tuple[float, float, float]] = []
    heights: dict[int, float] = {}
    for place in sorted(range(len(boxes)), key=lambda place: boxes[place][1]):
        left, wanted, width = boxes[place]
        near = [other for other in placed if left < other[0] + other[2] and other[0] < left + width]
        heights[place] = _nearest_free(wanted, [height for _, height, _ in near])
        placed.append((left, heights[place], width))
    return [heights[place] for place in range(len(boxes))]


def _nearest_free(wanted: float, taken: Sequence[float]) -> float:
    def is_free(height: float) -> bool:
        # Sums of heights end in digits of chance.
        return all(abs(height - other) >= LINE_HEIGHT - 1e-6 for other in taken)

    beside = [other + step for other in taken for step in (LINE_HEIGHT, -LINE_HEIGHT)]
    beside = sorted((height for height in beside if height >= 0), key=lambda height: abs(height - wanted))
    return next((height for height in (wanted, *beside) if is_free(height)), wanted)
