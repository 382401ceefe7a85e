"""The charts of a report, each drawn from the plain values of one command."""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2s
from html import escape
from itertools import count
from typing import Any

import altair as alt
from vl_convert import vegalite_to_svg

# The page's style sheet gives each of these colours its light and its dark shade.
INK, SOFT, LINE, DEEP = "#1c2428", "#5d6b72", "#d8dfe2", "#1f4e5f"
WARM, BAD, GOOD, PALE = "#b86e00", "#a3281f", "#1d6b45", "#9cc3cf"
WIDTH = 520
SHORT = 18
WIDEST_BAR = 80
PERCENT = alt.Axis(format="~%", tickCount=6)

Plain = Mapping[str, Any]
SIDES = {"before": "original", "after": "release"}
STANDINGS = {"nothing learnt": GOOD, "within bounds": DEEP, "not promised": WARM, "broken": BAD}
Chart = alt.Chart | alt.LayerChart | alt.FacetChart
# Below this a drawing is moved sideways rather than made smaller.
NARROWEST = 420.0
# Letters are wider in some readers' fonts than in the one that labels were measured in.
MARGIN = 16.0
LONGEST = 30
FONT = "system-ui, sans-serif"
_BREAKS = re.compile(r"[\t\n\r\x85\u2028\u2029]+")
_NOT_XML = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_WORDS = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": SOFT, "titleFontWeight": 500}
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "aria": False,
    "view": {"stroke": "transparent"},
    "axis": {**_WORDS, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE, "labelLimit": 220},
    "axisQuantitative": {"labelOverlap": True, "labelSeparation": 12},
    "legend": {**_WORDS, "orient": "top", "labelLimit": 300, "columnPadding": 24},
    "header": {**_WORDS, "titleFontSize": 12},
    "title": {"font": FONT, "color": INK, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "text": {"font": FONT, "color": INK},
}


def group_sizes(view: Plain) -> Chart:
    """How many rows or people stand in groups of which size, and how many groups there are."""
    counts = view.get("counts", "rows")
    rows = [{"size": _band(band)} | band for band in view["bands"]]
    sizes = [row["size"] for row in rows]
    base = chart_of(rows).encode(
        x=alt.X(
            "size:N",
            sort=sizes,
            title=f"{counts} in the group",
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("rows:Q", title=counts),
    )
    labelled = base.mark_text(dy=-6, fontSize=10).encode(text=alt.Text("groups:Q", format=","))
    width = min(WIDTH, WIDEST_BAR * len(rows))
    return alt.layer(base.mark_bar(color=DEEP), labelled).properties(width=width, height=180)


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
        x=alt.X("share:Q", title="share of rows", axis=PERCENT),
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
        {"attack": name, "low": low, "high": high, **_of_all_rows(outcome)}
        | {key: outcome[key] for key in keys}
        for name, outcome in applying.items()
        for low, high in [outcome["interval"] or (None, None)]
    ]
    base = chart_of(rows).encode(y=alt.Y("attack:N", sort=[*applying], title=None))
    colour = coloured("standing", STANDINGS)
    low = alt.X("low:Q", title="success", axis=PERCENT)
    rings = [base.mark_point(filled=False, size=110, opacity=1).encode(x="every:Q", color=colour)]
    return alt.layer(
        base.mark_rule(strokeWidth=3).encode(x=low, x2="high:Q", color=colour),
        base.mark_tick(thickness=2, color=INK, height=12).encode(x="baseline:Q"),
        base.mark_point(shape="diamond", size=45, color=SOFT, filled=False).encode(x="control:Q"),
        base.mark_point(filled=True, size=70, opacity=1).encode(x="success:Q", color=colour),
        *(rings if any("every" in row for row in rows) else []),
    ).properties(width=WIDTH, height=alt.Step(SHORT))


def _of_all_rows(outcome: Plain) -> dict[str, Any]:
    """What someone achieves who knows all rows of a person, where people have several."""
    return {"every": outcome["all_rows"]["success"]} if outcome.get("all_rows") else {}


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


def as_svg(chart: Chart, *, title: str, description: str) -> str:
    """Draw a chart as SVG that stands inside a page or by itself, as wide as there is room for."""
    document = drawable(chart.to_dict())
    # Readers' letters may be wider than those that the drawing was measured with.
    document.setdefault("padding", {"left": 16, "right": 16, "top": 4, "bottom": 4})
    document["config"] = CONFIG | document.get("config", {})
    return accessible(vegalite_to_svg(document), title=drawable(title), description=drawable(description))


def drawable(value: Any) -> Any:
    """A document whose texts a drawing can hold: line breaks are spaces, other control characters a mark.

    The library that draws ends the whole program at a character that XML does not know.

    >>> drawable({"name": ["a\\nb", "\\x1b[31m", 3]})
    {'name': ['a b', '\ufffd[31m', 3]}
    """
    if isinstance(value, dict):
        return {key: drawable(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [drawable(entry) for entry in value]
    return _NOT_XML.sub("\ufffd", _BREAKS.sub(" ", value)) if isinstance(value, str) else value


def labels(texts: Sequence[str]) -> list[str]:
    """Labels that a chart has room for, no two alike: a chart takes equal labels for one thing.

    >>> labels(["a", "b", "a", "x" * 40])
    ['a', 'b', 'a (2)', 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxx…']
    """
    chosen: dict[str, None] = {}
    for text in texts:
        short = drawable(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
        candidates = (short if number == 1 else f"{short} ({number})" for number in count(1))
        chosen[next(label for label in candidates if label not in chosen)] = None
    return list(chosen)


def chart_of(rows: list[dict[str, Any]]) -> alt.Chart:
    """A chart of some rows, still to be drawn."""
    return alt.Chart(alt.Data(values=rows))  # type: ignore[no-untyped-call]


def coloured(field: str, colours: Mapping[str, str]) -> alt.Color:
    """A colour for each value of a field, with a legend."""
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    return alt.Color(f"{field}:N", title=None, scale=scale)


def accessible(svg: str, *, title: str, description: str) -> str:
    """An SVG that says what it shows, and whose inner names collide with no other drawing's of the page.

    >>> print(accessible('<svg class="marks" width="9" height="4" viewBox="0 0 9 4"><g/></svg>', title="A", description="B"))
    <svg class="drawing" role="img" viewBox="-16 0 41 4" style="max-width:41px;min-width:41px"><title>A</title><desc>B</desc><g/></svg>
    """
    start, rest = svg.split(">", 1)
    box = re.search(r'viewBox="([^"]*)"', start)
    assert box is not None
    left, top, wide, high = (float(number) for number in box[1].split())
    width = wide + 2 * MARGIN
    space = ' xmlns="http://www.w3.org/2000/svg"' if "xmlns=" in start else ""
    narrowest = min(width, NARROWEST)
    prefix = blake2s(f"{title} {rest}".encode(), digest_size=6).hexdigest()
    rest = re.sub(r'(id="|url\(#)(clip|gradient)', rf"\g<1>{prefix}-\g<2>", rest)
    return (
        f'<svg{space} class="drawing" role="img" viewBox="{left - MARGIN:g} {top:g} {width:g} {high:g}" style="max-width:{width:g}px;min-width:{narrowest:g}px">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{rest}"
    )
