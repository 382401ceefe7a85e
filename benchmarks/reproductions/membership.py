"""Experiment 2: fake tuples, and how many buckets match originals and fake tuples."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import manyveils as mv
from benchmarks.reproductions import clusters, occ, pictures
from benchmarks.reproductions.table import counted, markdown
from manyveils.table import hold
from manyveils.utility.comparison import Comparison
from manyveils.utility.membership import ENUMERATED, buckets_of, tuples_of
from manyveils.utility.membership import membership as measured

SIZES = (10, 100, 500, 1000)
SEED = 1
CLASSES = ("≤ 10", "11–20", "> 20")
NOTHING = {"k": 1}
TWO = (("age", "marital-status", "sex"), ("workclass", "education", "race", "occupation"))


@dataclass(frozen=True)
class Setting:
    """A table, its columns, and how its rows are grouped."""

    table: str
    columns: clusters.Columns
    partition: str
    bucket: int


@dataclass(frozen=True)
class Matches:
    """Fake tuples, and originals and fake tuples by the number of buckets that match them."""

    setting: Setting
    fakes: float
    originals_by: tuple[float, ...]
    fakes_by: tuple[float, ...]
    singled_out: int
    is_sampled: bool


def settings(frame: pl.DataFrame) -> Iterator[Setting]:
    """OCC-7 with random and designed buckets, OCC-15 with random ones; two and five columns."""
    seven = (TWO, clusters.PAPER["OCC-7", 5])
    fifteen = (clusters.columns_of(frame, 2), clusters.PAPER["OCC-15", 5])
    for partition, columns, bucket in product(("random", "membership"), seven, SIZES):
        yield Setting("OCC-7", columns, partition, bucket)
    for columns, bucket in product(fifteen, SIZES):
        yield Setting("OCC-15", columns, "random", bucket)


def count(frame: pl.DataFrame, setting: Setting, *, seed: int = SEED) -> Matches:
    """Slice without any promise but that rows are grouped, and count; many combinations are sampled."""
    names = tuple(name for column in setting.columns for name in column)
    publish = {"method": "slice", "columns": [list(column) for column in setting.columns]}
    grouped = {"partition": setting.partition, "bucket": setting.bucket}
    policy = occ.policy(names, NOTHING, publish | grouped)
    release = mv.publish(frame.select(names), policy, seed=seed)
    comparison = Comparison(release, hold(frame.select(names), policy)[0], policy)
    return matches_of(setting, comparison)


def matches_of(setting: Setting, comparison: Comparison) -> Matches:
    """Count originals and fake tuples of a release by the buckets that match them."""
    view = comparison.release.views[0]
    tuples = tuples_of(comparison, view)
    few, many = tuples.matches <= 10, tuples.matches > 20
    by = [
        tuple(float(tuples.weight[whose & each].sum()) for each in (few, ~few & ~many, many))
        for whose in (tuples.is_original, ~tuples.is_original)
    ]
    buckets = buckets_of(comparison.release, view, frozenset(view.attributes))
    is_sampled = bool(buckets.combinations.sum() > ENUMERATED)
    singled = measured(comparison)["singled_out"]
    assert isinstance(singled, float)
    rows = round(singled * comparison.n_rows)
    return Matches(setting, tuples.fakes, by[0], by[1], rows, is_sampled)


def run(frame: pl.DataFrame) -> list[Matches]:
    """Every setting."""
    return [count(frame, setting) for setting in settings(frame)]


def table(found: list[Matches]) -> str:
    """A line for every setting; what was sampled is marked."""
    headings = ("table", "columns", "buckets of", "partition", "fake tuples")
    headings += tuple(f"originals {each}" for each in CLASSES) + tuple(f"fakes {each}" for each in CLASSES)
    return markdown((*headings, "rows singled out"), map(_line, found))


def _line(each: Matches) -> tuple[str, ...]:
    setting = each.setting
    about = "≈ " if each.is_sampled else ""
    return (
        setting.table,
        str(len(setting.columns)),
        str(setting.bucket),
        setting.partition,
        about + counted(each.fakes),
        *(counted(number) for number in each.originals_by),
        *(about + counted(number) for number in each.fakes_by),
        counted(each.singled_out),
    )


def worked(frame: pl.DataFrame) -> str:
    """The numbers the paper gives for buckets of 100, beside ours over all attributes and over quasi-identifiers."""
    known = tuple(tuple(name for name in column if name != occ.SENSITIVE) for column in TWO)
    whole, quasi = (
        [count(frame, Setting("OCC-7", columns, "random", 100), seed=seed) for seed in range(1, 6)]
        for columns in (TWO, known)
    )
    return markdown(
        (
            "buckets of 100, two columns",
            "paper",
            "ours, all seven attributes",
            "ours, quasi-identifiers only",
        ),
        (
            ("fake tuples", "87,936", _span(whole, _fakes), _span(quasi, _fakes)),
            ("fake tuples > 20", "5,325", _span(whole, _many_fakes), _span(quasi, _many_fakes)),
            ("originals > 20", "31,452", _span(whole, _many_originals), _span(quasi, _many_originals)),
        ),
    )


def _fakes(each: Matches) -> float:
    return each.fakes


def _many_fakes(each: Matches) -> float:
    return each.fakes_by[2]


def _many_originals(each: Matches) -> float:
    return each.originals_by[2]


def _span(found: list[Matches], what) -> str:
    numbers = [what(each) for each in found]
    return f"{counted(min(numbers))} to {counted(max(numbers))}"


def uniqueness(frame: pl.DataFrame) -> str:
    """How many rows have quasi-identifiers that nobody else has, and whom bucketization tells to be there."""
    return markdown(
        ("table", "rows", "different quasi-identifiers", "rows nobody else is like", "rows singled out"),
        (_unique(frame.select(names), table) for table, names in occ.TABLES.items()),
    )


def _unique(frame: pl.DataFrame, table: str) -> tuple[str, ...]:
    quasi = [name for name in frame.columns if name != occ.SENSITIVE]
    sizes = frame.group_by(quasi).len()["len"]
    guarantee = {"l": 5, "l_kind": "frequency"}
    policy = occ.policy(tuple(frame.columns), guarantee, {"method": "anatomize"})
    utility = mv.measure(mv.publish(frame, policy, seed=SEED), frame, policy)
    once = int((sizes == 1).sum())
    return (
        table,
        counted(frame.height),
        counted(len(sizes)),
        counted(once),
        counted(utility["singled_out"] * frame.height),
    )


def picture(found: list[Matches]) -> None:
    """Fake tuples against bucket size, and the three classes of originals and fakes on OCC-7."""
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 3.2), layout="constrained")
        left, *rest = figure.subplots(1, 3)
        _draw_fakes(left, found)
        for axis, n_columns in zip(rest, (2, 5), strict=True):
            _draw_classes(
                axis, [each for each in found if _is(each, "OCC-7", n_columns, "random")], n_columns
            )
        rest[1].legend(fontsize=7, loc="upper left", bbox_to_anchor=(1, 1))
    pictures.save(figure, "slicing-membership")


def _is(each: Matches, table: str, n_columns: int, partition: str) -> bool:
    setting = each.setting
    return (setting.table, len(setting.columns), setting.partition) == (table, n_columns, partition)


def _draw_fakes(axis: Axes, found: list[Matches]) -> None:
    colours = {"OCC-7": pictures.BLUE, "OCC-15": pictures.ORANGE}
    for table, n_columns in product(("OCC-15", "OCC-7"), (5, 2)):
        fakes = [each.fakes for each in found if _is(each, table, n_columns, "random")]
        style = "-o" if n_columns == 2 else "--s"
        axis.plot(SIZES, fakes, style, color=colours[table], label=f"{table}, c = {n_columns}", markersize=4)
    axis.axhline(45_222, color=pictures.GREY, linewidth=1)
    axis.text(1000, 45_222 / 4, "originals", color=pictures.GREY, fontsize=7, ha="right")
    axis.set(xscale="log", yscale="log", ylim=(3e3, None), title="fake tuples", xlabel="bucket size")
    axis.minorticks_off()
    axis.legend(fontsize=7)


def _draw_classes(axis: Axes, found: list[Matches], n_columns: int) -> None:
    bars = {f"originals {name}": [each.originals_by[i] for each in found] for i, name in enumerate(CLASSES)}
    bars |= {f"fakes {name}": [each.fakes_by[i] for each in found] for i, name in enumerate(CLASSES) if i > 0}
    colours = ("#9ecae1", "#4292c6", "#08519c", "#fdae6b", "#d94801")
    places = np.arange(len(found))
    for number, ((label, heights), colour) in enumerate(zip(bars.items(), colours, strict=True)):
        axis.bar(places + (number - 2) * 0.17, np.maximum(heights, 1), 0.17, label=label, color=colour)
    axis.set_xticks(places, [each.setting.bucket for each in found])
    axis.set(yscale="log", ylim=(1, None), title=f"OCC-7, c = {n_columns}: tuples", xlabel="bucket size")
    axis.minorticks_off()
