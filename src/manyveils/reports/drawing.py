"""A chart as a drawing inside a page: no script, no network, a title and a description for those who do not see it."""

import re
from collections.abc import Mapping, Sequence
from hashlib import blake2s
from html import escape
from itertools import count
from typing import Any

import altair
from vl_convert import vegalite_to_svg

Chart = altair.Chart | altair.LayerChart | altair.FacetChart

# The page's style sheet gives each of these colours its light and its dark shade.
INK, SOFT, LINE, DEEP = "#1c2428", "#5d6b72", "#d8dfe2", "#1f4e5f"
WARM, BAD, GOOD, PALE = "#b86e00", "#a3281f", "#1d6b45", "#9cc3cf"
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


def chart_of(rows: list[dict[str, Any]]) -> altair.Chart:
    """A chart of some rows, still to be drawn."""
    return altair.Chart(altair.Data(values=rows))  # type: ignore[no-untyped-call]


def coloured(field: str, colours: Mapping[str, str]) -> altair.Color:
    """A colour for each value of a field, with a legend."""
    scale = altair.Scale(domain=list(colours), range=list(colours.values()))
    return altair.Color(f"{field}:N", title=None, scale=scale)


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
