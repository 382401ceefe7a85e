"""Which figures a report has, each with its words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from markupsafe import Markup

from manyveils.reports import chain, charts, plans
from manyveils.reports.charts import Chart, as_svg
from manyveils.reports.frontier import frontier_picture
from manyveils.wording import counted

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
    sections: dict[str, list[Figure]] = {}
    for figure in _figures(document):
        sections.setdefault(figure.section, []).append(figure)
    return sections


def _figures(document: Plain) -> Iterator[Figure]:
    yield from _plan(document)
    yield from _chain(document.get("chain", {}).get("releases", []))
    portrait = document["portrait"]
    for index, view in enumerate(portrait["group_sizes"][:MOST_VIEWS]):
        if view["bands"]:
            title, path = f"Groups in {view['view']}", ("portrait", "group_sizes", index)
            yield _figure("groups", title, _sizes_words(view), charts.group_sizes(view), path)
    for name, shares in portrait["shares"].items():
        path = ("portrait", "shares", name)
        yield _figure("values", name, _values_words(shares), charts.shares(shares), path)
    yield from _associations(portrait["associations"])
    yield from _attacks(document)
    drawn = frontier_picture(document["comparison"]) if document.get("comparison") else None
    if drawn:
        says = "Each dot is one way to publish. The further left, the less attacks learn."
        yield Figure("comparison", "Risk and utility", says, Markup(drawn))


def _figure(section: str, title: str, says: str, chart: Chart, path: Sequence[str | int] = ()) -> Figure:
    drawn = as_svg(chart, title=title, description=says)
    return Figure(section, title, says, Markup(drawn), tuple(path))


def _sizes_words(view: Plain) -> str:
    unit = view.get("counts", "rows")
    if view["groups"] == 1:
        return f"One group of {view['rows']:,} {unit}."
    smallest = {"rows": "row", "people": "person"}[unit] if view["smallest"] == 1 else unit
    return (
        f"{view['groups']:,} groups; the smallest has {view['smallest']:,} {smallest}, the largest {view['largest']:,}. "
        "The number over a bar is how many groups it stands for."
    )


def _values_words(shares: Plain) -> str:
    if "before" not in shares:
        return "How common its values are, as estimated from the release."
    widest = max((abs(a - b) for a, b in zip(shares["before"], shares["after"], strict=True)), default=0.0)
    moves = f"no bar moves by more than {100 * widest:.2g} points" if widest > 1e-9 else "no bar moves"
    return f"How common its values are in the original, and as estimated from the release; {moves}."


def _associations(matrices: Plain) -> Iterator[Figure]:
    if len(matrices["attributes"]) < 2:
        return
    says = "Cramér's V of every two attributes: 0 if they are unrelated, 1 if one determines the other."
    for side, words in charts.SIDES.items():
        if side in matrices:
            title, path = f"Associations in the {words}", ("portrait", "associations")
            yield _figure("associations", title, says, charts.associations(matrices, side), path)


def _attacks(document: Plain) -> Iterator[Figure]:
    outcomes = document.get("attack", {}).get("attacks", {})
    if any(outcome["applies"] for outcome in outcomes.values()):
        says = (
            "Dots: what an attack achieves, with its 95 % interval. Upright lines: guessing without the release. "
            "Diamonds: the same attack on people who are not in the data."
        )
        if any(outcome.get("all_rows") for outcome in outcomes.values()):
            says += " Rings: the same by someone who knows all rows of a person; dots are of one row known."
        yield _figure("attacks", "Attacks beside guessing", says, charts.attacks(outcomes))


def _chain(releases: Sequence[Plain]) -> Iterator[Figure]:
    if not releases:
        return
    says = (
        f"{len(releases)} releases of the same people, oldest first. Above the line: persons who were there before, "
        "who joined, who returned after a release without them, and who were held back. Below it: who left."
    )
    yield _figure("chain", "Who came and went", says, chain.moves(releases))
    if any(own.get("known") for own in releases):
        says = (
            "The strongest belief in a value of anybody who was ever published, by someone who has all releases up to "
            "that one and takes the attribute not to change."
        )
        yield _figure("chain", "What may be known", says, chain.beliefs(releases))


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
        says = f"{len(columns)} published tables; attributes with a mark in the same column share a table."
        yield _figure("plan", "Which table has which attribute", says, charts.standing(columns, attributes))
    if any(view.get("enforces") for view in views) and 1 < len(views) <= MOST_TABLES:
        yield _shared(views)
    yield from _from_notes(document.get("plan") or {})


def _shared(views: Sequence[Plain]) -> Figure:
    """Views that enforce a rule each, and the attributes they share."""
    tables = [
        (
            f"{view['name']}: {view['enforces']['protect']}" if view.get("enforces") else view["name"],
            [name for column in view["columns"] for name in column["attributes"]],
        )
        for view in views
    ]
    says = "Each dot is a view, named by the attribute it protects; "
    if any({*left} & {*right} for (_, left), (_, right) in combinations(tables, 2)):
        says += "the thicker a line, the more attributes two views share."
    else:
        says += "no two share an attribute, so no line joins them."
    return _figure("plan", "Views and the attributes they share", says, plans.graph(tables))


def named_columns(view: Plain, manifest: Plain) -> list[list[str]]:
    """The attributes of each column; a multi-valued one is named once where all its derived ones are."""
    return [_named(column["attributes"], manifest.get("derived", {})) for column in view["columns"]]


def _named(attributes: Sequence[str], derived: Mapping[str, Sequence[str]]) -> list[str]:
    whole = {name: home for home, names in derived.items() if {*names} <= {*attributes} for name in names}
    return list(dict.fromkeys(whole.get(name, name) for name in attributes))


def _from_notes(plan: Plain) -> Iterator[Figure]:
    if plan.get("merges") and plan.get("plan"):
        yield _merges(plan)
    notes = plan.get("then") if isinstance(plan.get("then"), Mapping) else plan
    if notes and notes.get("levels") and notes.get("heights"):
        yield _lattice(notes["levels"], notes["heights"])


def _merges(plan: Plain) -> Figure:
    n_tables = len(plan["plan"])
    says = (
        "The method starts with every attribute in a table of its own and merges tables one by one. Each dot is a "
        "plan with its number of tables; the circle is the plan that was published "
        f"({counted(n_tables, 'table')})."
    )
    if plan.get("frontier"):
        says += f" Pale dots are the best of {plan.get('frontier_of') or 'all plans'}."
    return _figure("plan", "Merges and the best plans", says, plans.merges(plan))


def _lattice(levels: Mapping[str, int], heights: Mapping[str, int]) -> Figure:
    chosen = ", ".join(f"{name} {levels[name]} of {height}" for name, height in heights.items())
    if plans.n_nodes(heights) <= plans.MOST_NODES:
        says = f"All {plans.n_nodes(heights):,} ways to generalize; the large dot was chosen: {chosen}."
        return _figure("plan", "The lattice", says, plans.lattice(levels, heights))
    says = f"One of {plans.n_nodes(heights):,} ways to generalize was chosen: {chosen}."
    return _figure("plan", "Levels", says, plans.ladders(levels, heights))
