"""Results as small tables in a notebook: names, counts and shares, never a cell of the data."""

from collections.abc import Sequence
from html import escape

from manyveils.plain import readable

_CELL = 'style="text-align:left;padding:2px 12px 2px 0"'


def as_table(title: str, header: Sequence[str], rows: Sequence[Sequence[object]], *, note: str = "") -> str:
    """An HTML table with a caption, and a note under it.

    >>> as_table("A & B", ["x"], [[0.25], [True]])[:47]
    '<div><p><strong>A &amp; B</strong></p><table><t'
    """
    head = "".join(f'<th scope="col" {_CELL}>{escape(name)}</th>' for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(readable(entry))}</td>" for entry in row) + "</tr>"
        for row in rows
    )
    below = f"<p>{escape(note)}</p>" if note else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"<div><p><strong>{escape(title)}</strong></p>{table}{below}</div>"
