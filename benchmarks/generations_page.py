"""The tables and the picture of docs/howto/publish-again.md, made from what `generations` measured."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from benchmarks.reproductions.page import put
from benchmarks.reproductions.table import markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE, RESULTS = DOCS / "howto" / "publish-again.md", DOCS / "howto" / "publish-again.json"
NOT_YET = "not measured yet"
ATTRIBUTES = 2
Results = Mapping[str, Any]


def keep(setting: Mapping[str, Any], methods: Results) -> None:
    """Write down what was measured; methods that were not measured this time stay."""
    known = results()["methods"] if RESULTS.exists() else {}
    document = {**setting, "methods": {**known, **methods}}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8", newline="\n")


def results() -> Results:
    """What was measured."""
    document: Results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document


def tables(found: Results) -> dict[str, str]:
    """The tables of the page by name."""
    return {"two": _two(found), "ten": _ten(found), "cost": _cost(found)}


def write() -> None:
    """Put the tables into the page, and draw the picture."""
    found = results()
    for name, table in tables(found).items():
        put(PAGE, name, table)
    draw(found)


def _two(found: Results) -> str:
    """What the first two releases tell together where neither knows of the other."""
    n_cells = ATTRIBUTES * found["people"]
    rows = []
    for name, ways in found["methods"].items():
        second = ways["without"]["generations"][1]
        rows.append((f"`{name}`", f"{second['certain']:,} of {n_cells:,}", f"{second['adversary']:,}"))
    return markdown(("method", "certain to `sequential`", "certain to somebody who subtracts"), rows)


def _ten(found: Results) -> str:
    """What is certain in the last quarter, without and with the chain."""
    rows = []
    for name, ways in found["methods"].items():
        without, within = ways["without"]["generations"][-1], _told(found, ways["with"])
        last = within[-1] if within else {}
        none = _missing(ways["with"])
        told = (f"{last[key]:,}" if last else none for key in ("certain", "broken", "adversary"))
        rows.append((f"`{name}`", f"{without['certain']:,}", f"{without['adversary']:,}", *told))
    headings = (
        "method",
        "certain without",
        "certain without, subtracting",
        "certain with `--after`",
        "broken with `--after`",
        "certain with `--after`, subtracting",
    )
    return markdown(headings, rows)


def _cost(found: Results) -> str:
    """What it costs to keep the earlier releases in mind: people held back, errors of counts, time."""
    return markdown(
        (
            "method",
            "held back on average",
            "held back at most",
            "error of counts without",
            "error of counts with",
            "time of a generation, the first being 1",
        ),
        _cost_rows(found),
    )


def _cost_rows(found: Results) -> Iterator[tuple[str, ...]]:
    for name, ways in found["methods"].items():
        within = _told(found, ways["with"])
        if not within:
            yield f"`{name}`", *(_missing(ways["with"]),) * 5
            continue
        held = [own["held_back"] for own in within]
        errors = (mean(own["query_error"] for own in way) for way in (ways["without"]["generations"], within))
        times = [own["seconds"] for own in within]
        share = mean(times[1:]) / times[0]
        yield (
            f"`{name}`",
            f"{mean(held):.1%}",
            f"{max(held):.1%}",
            *(f"{e:.1%}" for e in errors),
            f"{share:.1f}",
        )


def _told(found: Results, way: Results) -> list[Results]:
    """The generations of a course that came to its end; none of one that was refused."""
    generations: list[Results] = way["generations"]
    return generations if len(generations) == found["quarters"] else []


def _missing(way: Results) -> str:
    """Why there are no numbers: the quarter that was refused, if one was."""
    return f"refused in quarter {len(way['generations']) + 1}" if way["refused"] else NOT_YET


def draw(found: Results) -> Path:
    """Certain cells, the error of counts and people held back, quarter by quarter: dashed without the chain."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from benchmarks.reproductions import pictures

    colours = (pictures.BLUE, pictures.ORANGE, pictures.GREEN, pictures.PURPLE)
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(10.5, 3.8), layout="constrained")
        certain, error, held = figure.subplots(1, 3)
        for axes in (certain, error, held):
            axes.set(xlim=(0.5, found["quarters"] + 0.5), xlabel="quarter")
        for colour, (name, ways) in zip(colours, found["methods"].items(), strict=False):
            within = ways["with"]["generations"]
            for generations, style in ((ways["without"]["generations"], "--"), (within, "-o")):
                _line(certain, generations, "adversary", style, colour)
                _line(error, generations, "query_error", style, colour, 100)
            _line(held, within, "held_back", "-o", colour, 100)
            certain.plot([], [], "-", color=colour, label=name)
        certain.set(title="cells that are certain", ylim=(0, None))
        figure.legend(loc="outside lower center", ncols=4, title="dashed: without --after", fontsize=8)
        error.set(title="error of counts, in %", ylim=(0, None))
        held.set(title="people held back, in %", ylim=(0, 4))
    return pictures.save(figure, "publish-again", DOCS / "pictures")


def _line(
    axes: "Axes", generations: list[Results], key: str, style: str, colour: str, times: int = 1
) -> None:
    quarters = [own["quarter"] for own in generations]
    axes.plot(quarters, [times * own[key] for own in generations], style, color=colour, markersize=3)
