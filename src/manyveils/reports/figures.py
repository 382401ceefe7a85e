"""Which figures a report has, each with its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from markupsafe import Markup

from manyveils.reports import charts, plans
from manyveils.reports.drawing import Chart, as_svg
from manyveils.reports.frontier import frontier_picture

MOST_TABLES = 40
MOST_VIEWS = 6

Plain = Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Figure:
    """A drawing with its title and what it says, in a section of the page; `path` is where its numbers stand."""

    section: str
    title: str
    says: str
    svg: Markup
    path: tuple[str | int, ...] = ()


def figures(document: Plain) -> dict[str, list[Figure]]:
    """The figures of every section."""
    found: dict[str, list[Figure]] = {}
    for figure in _figures(document):
        found.setdefault(figure.section, []).append(figure)
    return found


def _figures(document: Plain) -> Iterator[Figure]:
    yield from _plan(document)
    portrait = document["portrait"]
    for place, view in enumerate(portrait["group_sizes"][:MOST_VIEWS]):
        if view["bands"]:
            yield _figure(
                "groups",
                f"Groups in {view['view']}",
                _sizes_words(view),
                charts.group_sizes(view),
                ("portrait", "group_sizes", place),
            )
    for name, shares in portrait["shares"].items():
        yield _figure(
            "values", name, _values_words(shares), charts.shares(shares), ("portrait", "shares", name)
        )
    yield from _associations(portrait["associations"])
    yield from _attacks(document)
    drawn = frontier_picture(document["comparison"]) if document.get("comparison") else None
    if drawn:
        says = "Lower and further left is better: less given away, and more of what is preferred."
        yield Figure("comparison", "Risk and what is preferred", says, Markup(drawn))


def _figure(section: str, title: str, says: str, chart: Chart, path: Sequence[str | int] = ()) -> Figure:
    drawn = as_svg(chart, title=title, description=says)
    return Figure(section, title, says, Markup(drawn), tuple(path))


def _sizes_words(view: Plain) -> str:
    if view["groups"] == 1:
        return f"One group of {view['rows']:,} rows."
    return (
        f"{view['groups']:,} groups; the smallest has {view['smallest']:,} rows, the largest {view['largest']:,}. "
        "The number over a bar counts its groups."
    )


def _values_words(shares: Plain) -> str:
    if "before" not in shares:
        return "How common its values are by what the release lets one estimate."
    widest = max((abs(a - b) for a, b in zip(shares["before"], shares["after"], strict=True)), default=0.0)
    moves = f"no bar moves by more than {100 * widest:.2g} points" if widest > 1e-9 else "no bar moves"
    return f"How common its values are in the original and by the release; {moves}."


def _associations(found: Plain) -> Iterator[Figure]:
    if len(found["attributes"]) < 2:
        return
    for side, title in (("before", "Associations in the original"), ("after", "Associations in the release")):
        if side in found:
            says = "Cramér's V of every two attributes: 0 unrelated, 1 one settles the other."
            yield _figure(
                "associations", title, says, charts.associations(found, side), ("portrait", "associations")
            )


def _attacks(document: Plain) -> Iterator[Figure]:
    outcomes = document.get("attack", {}).get("attacks", {})
    if any(each["applies"] for each in outcomes.values()):
        says = (
            "Dots: what an attack achieves, with its 95 % interval. Upright lines: guessing without the release. "
            "Diamonds: the same attack on people who are not in the data."
        )
        yield _figure("attacks", "Attacks beside guessing", says, charts.attacks(outcomes))


def _plan(document: Plain) -> Iterator[Figure]:
    manifest = document["manifest"]
    views = manifest["views"]
    columns = [
        (f"{view['name']}.{number + 1}" if len(view["columns"]) > 1 else view["name"], inside)
        for view in views
        for number, inside in enumerate(named_columns(view, manifest))
    ]
    if 1 < len(columns) <= MOST_TABLES:
        attributes = list(dict.fromkeys(name for _, inside in columns for name in inside))
        says = (
            f"{len(columns)} published tables; attributes with a mark in the same column stand in one table."
        )
        yield _figure("plan", "What stands beside what", says, charts.standing(columns, attributes))
    if manifest["method"] == "guardian" and 1 < len(views) <= MOST_TABLES:
        tables = [_guarded(view) for view in views]
        yield _figure("plan", "Guardian tables", _ties_words(tables), plans.graph(tables))
    yield from _from_notes(document.get("plan") or {})


def _ties_words(tables: Sequence[tuple[str, Sequence[str]]]) -> str:
    if not any({*left} & {*right} for (_, left), (_, right) in combinations(tables, 2)):
        return (
            "Each dot is a view, named by what it guards; no two share an attribute, so no line joins them."
        )
    return "Each dot is a view, named by what it guards; the thicker a line, the more attributes two views share."


def named_columns(view: Plain, manifest: Plain) -> list[list[str]]:
    """The attributes of each column; one with several values in a cell is named once where all of its columns are."""
    return [_named(column["attributes"], manifest.get("derived", {})) for column in view["columns"]]


def _named(attributes: Sequence[str], derived: Mapping[str, Sequence[str]]) -> list[str]:
    whole = {part: home for home, parts in derived.items() if {*parts} <= {*attributes} for part in parts}
    return list(dict.fromkeys(whole.get(name, name) for name in attributes))


def _guarded(view: Plain) -> tuple[str, list[str]]:
    guards = f": {view['enforces']['protect']}" if view.get("enforces") else ""
    return f"{view['name']}{guards}", [name for column in view["columns"] for name in column["attributes"]]


def _from_notes(plan: Plain) -> Iterator[Figure]:
    if plan.get("merges") and plan.get("plan"):
        n_tables = len(plan["plan"])
        says = (
            "The way down from all attributes apart: each dot is a plan, numbered by its tables; the circle is the plan "
            f"that was published ({n_tables} {'table' if n_tables == 1 else 'tables'})."
            + (
                f" Pale dots are the best of {plan.get('frontier_of') or 'all plans'}."
                if plan.get("frontier")
                else ""
            )
        )
        yield _figure("plan", "Merges and the best plans", says, plans.merges(plan))
    notes = plan.get("then") if isinstance(plan.get("then"), Mapping) else plan
    if notes and notes.get("levels") and notes.get("heights"):
        yield _lattice(notes["levels"], notes["heights"])


def _lattice(levels: Mapping[str, int], heights: Mapping[str, int]) -> Figure:
    chosen = ", ".join(f"{name} {levels[name]} of {height}" for name, height in heights.items())
    if plans.is_small(heights):
        says = f"All {plans.n_nodes(heights):,} ways to generalize; the large dot was chosen: {chosen}."
        return _figure("plan", "The lattice", says, plans.lattice(levels, heights))
    says = f"One of {plans.n_nodes(heights):,} ways to generalize was chosen: {chosen}."
    return _figure("plan", "Levels", says, plans.ladders(levels, heights))
