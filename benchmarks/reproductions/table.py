"""A table of results, as Markdown."""

from collections.abc import Iterable, Sequence


def markdown(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Headings, a rule, and a line for every row."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def counted(number: float) -> str:
    """A count with its thousands apart, in four digits and words from ten million on.

    >>> counted(31656), counted(31656000)
    ('31,656', '3.166e+07')
    """
    return f"{number:,.0f}" if number < 1e7 else f"{number:.3e}"


def braced(columns: Iterable[Iterable[str]]) -> str:
    """Columns as sets of attributes.

    >>> braced([["age", "sex"], ["race"]])
    '{age, sex} {race}'
    """
    return " ".join(f"{{{', '.join(column)}}}" for column in columns)
