"""The charts of a chain of releases: who came and went, and how far anybody's value is believed."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from manyveils.reports.charts import (
    BAD,
    DEEP,
    PALE,
    PERCENT,
    SOFT,
    WARM,
    WIDTH,
    Chart,
    chart_of,
    coloured,
    labels,
)

Plain = Mapping[str, Any]
WIDEST_BAR = 60
MOVES = {"there before": PALE, "joined": DEEP, "returned": SOFT, "held back": WARM, "left": BAD}


def moves(releases: Sequence[Plain]) -> Chart:
    """Who was there before, joined, returned and was held back, release by release; below the line, who left."""
    names = labels([own["release"] for own in releases])
    rows = [
        {"release": name, "persons": count, "who": who, "order": order}
        for name, own in zip(names, releases, strict=True)
        for order, (who, count) in enumerate(_counts(own).items())
    ]
    encoded = chart_of(rows).encode(
        x=alt.X("release:N", sort=names, title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("persons:Q", title="persons"),
        color=coloured("who", MOVES),
        order="order:Q",
    )
    width = min(WIDTH, WIDEST_BAR * max(len(names), 4))
    return encoded.mark_bar().properties(width=width, height=200)


def _counts(own: Plain) -> dict[str, int]:
    new = own["joined"] + own["returned"]
    return {
        "there before": max(own["persons"] - new - own["held_back"], 0),
        "joined": own["joined"],
        "returned": own["returned"],
        "held back": own["held_back"],
        "left": -own["left"],
    }


def beliefs(releases: Sequence[Plain]) -> Chart:
    """How far somebody's value is believed at most, by someone who has all releases so far, attribute by attribute."""
    names = labels([own["release"] for own in releases])
    told = [
        (name, known) for name, own in zip(names, releases, strict=True) for known in own.get("known", ())
    ]
    attributes = list(dict.fromkeys(known["attribute"] for _, known in told))
    shown = dict(zip(attributes, labels(attributes), strict=True))
    rows = [
        {"release": name, "belief": known["belief"], "attribute": shown[known["attribute"]]}
        for name, known in told
    ]
    encoded = chart_of(rows).encode(
        x=alt.X("release:N", sort=names, title=None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("belief:Q", title="highest belief", axis=PERCENT, scale=alt.Scale(domain=[0, 1])),
        color=alt.Color("attribute:N", title=None, sort=list(shown.values())),
    )
    width = min(WIDTH, WIDEST_BAR * max(len(names), 4))
    return encoded.mark_line(point=True).properties(width=width, height=200)
