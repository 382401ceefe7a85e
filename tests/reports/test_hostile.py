"""Names and values that a page, a drawing or a chart could stumble over are shown as they are, each by itself."""

import re
from html import unescape

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyveils as mv
from manyveils.reports.charts import LONGEST, as_svg, chart_of, drawable, labels, shares

HOSTILE = [
    "<script>alert(1)</script>",
    "</svg></style>",
    "\"'`&amp;",
    "a\nb\tc",
    "a b c",
    "~0/~1",
    "missing",
    "2 others",
    "\x1b[31m",
    "\x00",
    "\ufffe",
    "שלום",
    "\u202eevil",
    "😀",
    "{{ 7 * 7 }}",
    "x" * 400,
    "x" * 399 + "y",
]


def drawn(bins):
    """Draw shares of some values."""
    found = {"bins": bins, "after": [1 / len(bins)] * len(bins)}
    return as_svg(shares(found), title="a title", description="a description")


@pytest.mark.parametrize("text", HOSTILE)
def test_a_drawing_survives_any_text(text):
    """No text ends the program, breaks out of its drawing or makes another element of it."""
    svg = drawn([text, "other"])
    assert svg.count("<svg") == svg.count("</svg>") == 1
    assert "<script" not in svg
    assert not re.search("[\x00-\x08\x0b-\x1f\ufffe\uffff]", svg)


@given(st.lists(st.text(max_size=60), max_size=20))
def test_labels_are_never_shared(texts):
    """There is one label for each text, no two alike, of a length that a chart has room for."""
    found = labels(texts)
    assert len(found) == len(set(found)) == len(texts)
    assert all(len(label) <= LONGEST + len(f" ({len(texts)})") for label in found)
    assert all(drawable(label) == label for label in found)


def test_equal_names_keep_their_own_bars():
    """Values whose labels would be equal have a bar each; a chart would stack them in one."""
    svg = drawn(["missing", "missing", "a\nb", "a b", "x" * 400, "x" * 399 + "y"])
    assert len(re.findall(r"<path[^>]*fill=\"#1f4e5f\"", svg)) == 6


def test_inner_names_never_collide():
    """Drawings whose titles have no Latin letter in common names still have inner names of their own."""
    chart = chart_of([{"x": 1}]).mark_point(clip=True).encode(x="x:Q")
    ids = [
        set(re.findall(r'id="([^"]+)"', as_svg(chart, title=title, description="")))
        for title in ("病気", "収入", "<i>", "i")
    ]
    assert all(ids)
    assert len(set().union(*ids)) == sum(map(len, ids))


@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate"])
def test_hostile_tables_have_pages(method):
    """A table of hostile names and values has both pages, in which the texts stand and nothing else is made of them."""
    values = [text for text in HOSTILE if text != "\x00"]
    n = 3 * len(values)
    data = pl.DataFrame(
        {"<b>age</b>": [20 + i % 5 for i in range(n)], values[3]: [values[i % len(values)] for i in range(n)]}
    )
    policy = mv.Policy(
        attributes={"<b>age</b>": {"role": "quasi"}, values[3]: {"role": "sensitive"}},
        guarantee={"k": 2, "l": 2},
        publish={"method": method},
    )
    release = mv.publish(data, policy, seed=1)
    for page in (
        mv.report(release, data, policy, only=["homogeneity"], seed=1),
        mv.public_report(release),
    ):
        assert "<script" not in page.html
        assert "<b>" not in page.html
        assert "<b>age</b>" in unescape(page.html)
