"""Tries as points on a picture of privacy and utility, with axes to choose, and in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from manyveils.plain import readable

Result = Mapping[str, Any]


@dataclass(frozen=True)
class Axis:
    """A measure of tries: its key in their results, its words, and whether less of it is better."""

    key: str
    words: str
    less_is_better: bool = True


UTILITY = (
    Axis("query_error", "error of counts"),
    Axis("loss", "detail lost"),
    Axis("kl", "divergence (KL)"),
    Axis("learning", "learning kept", less_is_better=False),
)
PRIVACY = (
    Axis("worst_belief", "worst belief"),
    Axis("gain", "gain of the best attack"),
    Axis("through", "attacks that get through"),
    Axis("singled_out", "singled out"),
)
MAIN, FADED = "#00897b", "#8a9a97"


def axis_of(key: str) -> Axis:
    """The axis of a key."""
    return next(axis for axis in (*UTILITY, *PRIVACY) if axis.key == key)


def is_axis(key: str) -> bool:
    """Whether there is an axis of a key."""
    return any(axis.key == key for axis in (*UTILITY, *PRIVACY))


@dataclass(frozen=True)
class Point:
    """A try with both numbers, by its number among all tries; `is_best` where no other is better in both."""

    number: int
    name: str
    x: float
    y: float
    is_best: bool = False


def points_of(results: Iterable[tuple[int, str, Result]], x: Axis, y: Axis) -> tuple[Point, ...]:
    """The tries that have both numbers."""
    points = []
    for number, name, result in results:
        places = [result["utility"].get(axis.key) for axis in (x, y)]
        if all(isinstance(place, int | float) for place in places):
            points.append(Point(number, name, float(places[0]), float(places[1])))
    return tuple(
        Point(own.number, own.name, own.x, own.y, not any(_beats(other, own, x, y) for other in points))
        for own in points
    )


def _beats(other: Point, own: Point, x: Axis, y: Axis) -> bool:
    """Whether a point is at least as good in both, and better in one."""
    gains = [
        (here - there) * (1 if axis.less_is_better else -1)
        for here, there, axis in ((own.x, other.x, x), (own.y, other.y, y))
    ]
    return min(gains) >= 0 and max(gains) > 0


def in_words(points: Sequence[Point], x: Axis, y: Axis) -> str:
    """What the picture shows, for those who do not see it."""
    if not points:
        return f"No try has both {x.words} and {y.words} yet."
    told = "; ".join(
        f"try {own.number}, {own.name}: {x.words} {readable(own.x)}, {y.words} {readable(own.y)}"
        f"{', which none beats in both' if own.is_best else ''}"
        for own in points
    )
    return f"{told}."


def options(points: Sequence[Point], x: Axis, y: Axis) -> dict[str, Any]:
    """The picture as ECharts takes it."""
    data = [
        {
            "value": [own.x, own.y],
            "name": f"try {own.number}: {own.name}",
            "itemStyle": {"color": MAIN if own.is_best else FADED},
        }
        for own in points
    ]
    return {
        "animation": False,
        "grid": {"left": 60, "right": 120, "top": 20, "bottom": 50},
        "tooltip": {"trigger": "item", "formatter": "{b}"},
        "xAxis": _drawn(x) | {"nameLocation": "middle", "nameGap": 28},
        "yAxis": _drawn(y) | {"nameLocation": "middle", "nameGap": 42},
        "series": [
            {
                "type": "scatter",
                "symbolSize": 14,
                "data": data,
                "label": {"show": True, "formatter": "{b}", "position": "right", "fontSize": 11},
                "labelLayout": {"hideOverlap": True},
            }
        ],
    }


def _drawn(axis: Axis) -> dict[str, Any]:
    better = "less" if axis.less_is_better else "more"
    return {"type": "value", "scale": True, "name": f"{axis.words} ({better} is better)"}
