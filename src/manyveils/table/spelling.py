"""Numbers as a hierarchy writes them and as the table does: 17 and 17.0 are one value."""

import polars as pl

from manyveils.policy.hierarchies import Lines


def as_number(text: str) -> float | None:
    """The number that a text writes; nothing if it writes none."""
    try:
        return float(text)
    except ValueError:
        return None


def spelled_as(lines: Lines, domain: pl.Series) -> Lines:
    """Write the numbers of a hierarchy as the table writes them (17, not 17.0), and others always the same way.

    >>> spelled_as((("17.0", "low"), ("18", "low"), ("18.0", "low")), pl.Series([17]))
    (('17', 'low'), ('18', 'low'), ('18', 'low'))
    """
    spelling: dict[float | None, str] = {
        float(value): str(text)
        for value, text in zip(domain.to_list(), domain.cast(pl.String).to_list(), strict=True)
        if value is not None
    }
    return tuple((_spelled(line[0], spelling), *line[1:]) for line in lines)


def _spelled(text: str, spelling: dict[float | None, str]) -> str:
    number = as_number(text)
    return text if number is None else spelling.setdefault(number, text)
