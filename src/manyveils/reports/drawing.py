"""A chart as a drawing inside a page: no script, no network, a title and a description for those who do not see it."""

import re
from html import escape
from typing import Any

import altair
from vl_convert import vegalite_to_svg

Chart = altair.Chart | altair.LayerChart | altair.FacetChart

# The page's style sheet gives each of these colours its light and its dark shade.
INK, SOFT, LINE, DEEP, WARM, BAD, GOOD, PALE = (
    "#1c2428",
    "#5d6b72",
    "#d8dfe2",
    "#1f4e5f",
    "#b86e00",
    "#a3281f",
    "#1d6b45",
    "#9cc3cf",
)
# Below this a drawing is moved sideways rather than made smaller.
NARROWEST = 420.0
FONT = "system-ui, sans-serif"
_WORDS = {"labelFont": FONT, "titleFont": FONT, "labelColor": INK, "titleColor": SOFT, "titleFontWeight": 500}
CONFIG: dict[str, Any] = {
    "background": "transparent",
    "font": FONT,
    "aria": False,
    "view": {"stroke": "transparent"},
    "axis": {**_WORDS, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE, "labelLimit": 220},
    "legend": {**_WORDS, "orient": "top", "labelLimit": 300},
    "header": {**_WORDS, "titleFontSize": 12},
    "title": {"font": FONT, "color": INK, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
    "text": {"font": FONT, "color": INK},
}


def as_svg(chart: Chart, *, title: str, description: str) -> str:
    """Draw a chart as SVG that stands inside a page or by itself, as wide as there is room for."""
    document = chart.to_dict()
    document["config"] = CONFIG | document.get("config", {})
    return accessible(vegalite_to_svg(document), title=title, description=description)


def chart_of(rows: list[dict[str, Any]]) -> altair.Chart:
    """A chart of some rows, still to be drawn."""
    return altair.Chart(altair.Data(values=rows))  # type: ignore[no-untyped-call]


def accessible(svg: str, *, title: str, description: str) -> str:
    """An SVG that says what it shows, and whose inner names collide with no other drawing's of the page.

    >>> print(accessible('<svg class="marks" width="9" height="4" viewBox="0 0 9 4"><g/></svg>', title="A", description="B"))
    <svg class="drawing" role="img" viewBox="0 0 9 4" style="max-width:9px;min-width:9px"><title>A</title><desc>B</desc><g/></svg>
    """
    start, rest = svg.split(">", 1)
    box = re.search(r'viewBox="([^"]*)"', start)
    width = re.search(r'width="([\d.]+)"', start)
    assert box is not None
    assert width is not None
    space = ' xmlns="http://www.w3.org/2000/svg"' if "xmlns=" in start else ""
    narrowest = min(float(width[1]), NARROWEST)
    own = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")
    rest = re.sub(r'(id="|url\(#)(clip|gradient)', rf"\g<1>{own}-\g<2>", rest)
    return (
        f'<svg{space} class="drawing" role="img" viewBox="{box[1]}" style="max-width:{width[1]}px;min-width:{narrowest:g}px">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{rest}"
    )
