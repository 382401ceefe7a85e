"""A try that was chosen: its rows before and after side by side, its groups by size, what goes together, its attacks."""

from collections.abc import Mapping
from html import escape
from typing import Any

from nicegui import ui

from manyveils.studio import methods
from manyveils.studio.pages.layout import element, html, table
from manyveils.studio.trying import ROWS_SHOWN, attack_rows
from manyveils.studio.workbench import Workbench

HEADER = ("attack", "came of it", "right", "guessing", "strongest belief", "certain of", "targets")


def show_try(bench: Workbench, number: int) -> None:
    """The try with this number."""
    tried = bench.tries[number - 1]
    result = tried.job.result
    if result is None:
        return
    html("h2", f"Try {number}: {methods.chosen_in(tried.text)}")
    _side_by_side(bench, result)
    for view in result["groups"]:
        if view["bands"]:
            _groups(view)
    if result["associations"]:
        caption = "What goes together most (Cramér's V: 0 unrelated, 1 one determines the other)"
        table(caption, ("attributes", "before", "after"), result["associations"])
    if result["attacks"]:
        table("Attacks", HEADER, attack_rows(result["attacks"]))
    for note in result["notes"]:
        html("p", note)


def _side_by_side(bench: Workbench, result: Mapping[str, Any]) -> None:
    """The first rows of the data and of each view; the release has an order of its own."""
    html("p", "Rows beside each other are not the same person's: a release has an order of its own.")
    published = {name for view in result["views"] for name in view["header"]}
    names = [name for name in bench.frame.columns if name in published]
    before = bench.frame.select(names).head(ROWS_SHOWN)
    with element("div", css="twins"):
        rows = [["–" if cell is None else str(cell) for cell in row] for row in before.iter_rows()]
        table("Before: first rows of the data", names, rows)
        for view in result["views"]:
            table(f"After: first rows of {view['view']}", view["header"], view["rows"])


def _groups(view: Mapping[str, Any]) -> None:
    """How many groups there are of each size."""
    bands, counted = view["bands"], view.get("counts", "rows")
    most = max(band["groups"] for band in bands)
    html("h3", f"Groups of {view['view']} by size")
    lines = "".join(
        f'<tr><th scope="row">{escape(_size(band))} {escape(counted)}</th><td class="number">{band["groups"]:,}</td>'
        f'<td><span class="band" style="width:{max(100 * band["groups"] / most, 1):.0f}px"></span></td></tr>'
        for band in bands
    )
    head = '<thead><tr><th scope="col">size</th><th scope="col">groups</th><td></td></tr></thead>'
    ui.html(f"<table>{head}<tbody>{lines}</tbody></table>", sanitize=False)


def _size(band: Mapping[str, Any]) -> str:
    low, high = band["low"], band["high"]
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
