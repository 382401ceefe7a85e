"""Results as JSON can say them, names and texts as TOML writes them, and values as people read them."""

import json
import re
from collections.abc import Sequence
from html import escape
from typing import Any


def plain(value: Any) -> Any:
    """A document of plain values: infinities become None, arrays' numbers plain ones, keys texts.

    >>> plain({1: (float("inf"), 2.0)})
    {'1': [None, 2.0]}
    """
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    if isinstance(value, dict):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain(entry) for entry in value]
    return value.item() if hasattr(value, "item") else value


def toml_key(name: str) -> str:
    """A name as a key of a TOML file."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_text(name)


def toml_text(text: str) -> str:
    """A text as a TOML string.

    >>> toml_text('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def readable(value: object) -> str:
    """A value as people read it.

    >>> [readable(value) for value in (True, None, 12345, 0.123456, 45678.9)]
    ['yes', '–', '12,345', '0.1235', '45,679']
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return str(value)


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
