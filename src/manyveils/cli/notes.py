"""A method's notes on the screen: short ones in one table, lists of entries in tables of their own."""

from collections.abc import Mapping, Sequence
from typing import Any

from manyveils.cli.door import show_table

MOST_LINES = 20


def show_notes(notes: Mapping[str, Any]) -> None:
    """Show everything but what is a table of pairs, which only --json holds."""
    short = {
        key: value for key, value in notes.items() if not _is_list_of_entries(value) and not _is_matrix(value)
    }
    show_table("How", ["what", "value"], [[key, flat(value)] for key, value in short.items() if value != []])
    for key, entries in notes.items():
        if _is_list_of_entries(entries):
            lines = _thinned(entries)
            title = key.replace("_", " ").capitalize()
            if len(lines) < len(entries):
                title += f": {len(lines)} of {len(entries)}, --json has all"
            show_table(title, list(entries[0]), [[flat(value) for value in line.values()] for line in lines])


def flat(value: object) -> object:
    """A value in one line: names and numbers of a mapping, lists in braces."""
    if isinstance(value, dict):
        return ", ".join(
            f"{key} {entry:.3g}" if isinstance(entry, float) else f"{key} {flat(entry)}"
            for key, entry in value.items()
        )
    if isinstance(value, list):
        if value and isinstance(value[0], list):
            return " ".join(f"{{{flat(entry)}}}" for entry in value)
        return ", ".join(str(entry) for entry in value)
    return value


def _is_list_of_entries(value: object) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _is_matrix(value: object) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(row, dict) for row in value.values())


def _thinned(entries: Sequence[Any]) -> list[Any]:
    """All entries, or as many as fit a screen, evenly spread from the first to the last."""
    if len(entries) <= MOST_LINES:
        return list(entries)
    step = (len(entries) - 1) / (MOST_LINES - 1)
    return [entries[round(place * step)] for place in range(MOST_LINES)]
