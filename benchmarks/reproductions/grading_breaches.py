"""Proximity and divergence breach: what the group of a person tells of her, in generalized and in graded tables."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray

import manyveils as mv
from benchmarks.reproductions import pictures
from benchmarks.reproductions.grading_adult import (
    BRANCH_OF,
    CHOICE,
    MAIN,
    QUASI,
    ROW,
    SEED,
    attributes,
    chosen,
    graded,
)
from benchmarks.reproductions.grading_codes import guessed, shares
from benchmarks.reproductions.table import counted, markdown

WIDTHS = (2, 5)
LIKE_HER = {1: "nobody", 2: "one at most", 5: "four at most", 10**9: "any number"}
Shares = NDArray[np.float64]
GENERALIZED: dict[str, dict[str, Any]] = {
    "k = 3": {"k": 3},
    "k = 10": {"k": 10},
    "k = 10, distinct l = 5": {"k": 10, "l": 5},
    "k = 10, frequency l = 2": {"k": 10, "l": 2, "l_kind": "frequency"},
    "k = 10, frequency l = 3": {"k": 10, "l": 3, "l_kind": "frequency"},
}
WHOLE = "grade, G the whole table (the paper's reading)"
FOUND = "grade, G the rows with her quasi-identifiers, ages and codes read"
OPEN = "T itself, G the rows with her quasi-identifiers"
FOLLOWED = "grade, then k = 10, ages and codes read"


@dataclass(frozen=True)
class Seen:
    """What an adversary sees of every row: its group, and the age and education she reads in it."""

    name: str
    groups: NDArray[np.int64]
    ages: NDArray[np.int64]
    education: pl.Series


@dataclass(frozen=True)
class Breach:
    """For every person, the shares of her group: of her own age nearly, of another branch, of her own value."""

    name: str
    sizes: NDArray[np.int64]
    near: dict[int, Shares]
    other_branch: Shares
    own_value: Shares


def numbered(frame: pl.DataFrame, names: tuple[str, ...]) -> NDArray[np.int64]:
    """The number of every row's group: rows that are alike in the given attributes."""
    return frame.select(pl.struct(names).rank("dense").cast(pl.Int64) - 1).to_series().to_numpy()


def generalized(frame: pl.DataFrame, name: str) -> Seen:
    """Mondrian on the quasi-identifiers; sensitive values are in the open."""
    asked = mv.Policy(
        accept=[f"neutral-unique: {ROW}"],
        attributes={**attributes(), ROW: {"role": "neutral"}},
        guarantee=GENERALIZED[name],
        publish={"method": "generalize", "recoding": "mondrian"},
    )
    release = mv.publish(frame.with_row_index(ROW), asked, seed=SEED)
    groups = numbered(release.frames["main"].sort(ROW), QUASI)
    return Seen(f"generalize, {name}", groups, frame["age"].to_numpy(), frame["education"])


def followed(frame: pl.DataFrame) -> Seen:
    """Graded and then generalized, by an adversary who reads ages by counting grades and codes by frequency."""
    asked = mv.Policy(
        accept=[f"neutral-unique: {ROW}"],
        attributes={**attributes(), CHOICE: {"role": "choice"}, ROW: {"role": "neutral"}},
        guarantee={"k": 10},
        publish={"method": "grade", "then": {"method": "generalize", "recoding": "mondrian"}},
    )
    data = frame.with_columns(chosen(frame, MAIN)).with_row_index(ROW)
    release = mv.publish(data, asked, seed=SEED)
    return Seen(FOLLOWED, numbered(release.frames["main"].sort(ROW), QUASI), *read(frame))


def read(frame: pl.DataFrame) -> tuple[NDArray[np.int64], pl.Series]:
    """The ages and the education that someone reads in T' who knows the youngest age and the shares of education."""
    hidden = graded(frame)
    ages = frame["age"].min() + hidden.table["age"].rank("dense").cast(pl.Int64) - 1
    labels = guessed(hidden, shares(frame["education"]), None)
    return ages.to_numpy(), hidden.table["education"].replace_strict(labels)


def run(frame: pl.DataFrame) -> list[Breach]:
    """Generalization under growing promises, then grading in two readings, and the open table."""
    whole, alike = np.zeros(frame.height, dtype=np.int64), numbered(frame, QUASI)
    open_ = (frame["age"].to_numpy(), frame["education"])
    seen = [
        *(generalized(frame, name) for name in GENERALIZED),
        Seen(WHOLE, whole, *open_),
        Seen(FOUND, alike, *read(frame)),
        Seen(OPEN, alike, *open_),
        followed(frame),
    ]
    return [breach(frame, each) for each in seen]


def breach(frame: pl.DataFrame, seen: Seen) -> Breach:
    """The shares of every person's group, by counting; her own row is in it, as in the paper."""
    ages, branches = frame["age"].to_numpy(), frame["education"].replace_strict(BRANCH_OF)
    sizes = np.bincount(seen.groups)[seen.groups]
    near = {width: _near(seen, ages, width) / sizes for width in WIDTHS}
    told = seen.education.replace_strict(BRANCH_OF)
    return Breach(
        seen.name,
        sizes,
        near,
        1 - _same(seen.groups, told, branches) / sizes,
        _same(seen.groups, seen.education, frame["education"]) / sizes,
    )


def _near(seen: Seen, ages: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The rows of each person's group that are read as within some years of her age."""
    counts = np.zeros((seen.groups.max() + 1, 100), dtype=np.int64)
    np.add.at(counts, (seen.groups, seen.ages), 1)
    reached = np.concatenate([np.zeros((len(counts), 1), dtype=np.int64), counts.cumsum(axis=1)], axis=1)
    return reached[seen.groups, ages + width + 1] - reached[seen.groups, ages - width]


def _same(groups: NDArray[np.int64], told: pl.Series, wanted: pl.Series) -> NDArray[np.int64]:
    """The rows of each person's group that are read as what she is."""
    counts = pl.DataFrame({"group": groups, "what": told}).group_by("group", "what").len()
    people = pl.DataFrame({"group": groups, "what": wanted})
    found = people.join(counts, on=["group", "what"], how="left", maintain_order="left")["len"]
    return found.fill_null(0).cast(pl.Int64).to_numpy()


def proximity(found: list[Breach]) -> str:
    """The mean breach, and the people for whom it is above a half."""
    headings = ["release and group G", "rows of G, mean", "alone in G"]
    headings += [text for width in WIDTHS for text in (f"mean Pb, ±{width} years", f"above ½, ±{width}")]
    return markdown(headings, (_near_line(each) for each in found))


def _near_line(each: Breach) -> tuple[str, ...]:
    cells = [text for width in WIDTHS for text in _mean_and_high(each.near[width])]
    return each.name, counted(float(each.sizes.mean())), counted((each.sizes == 1).sum()), *cells


def _mean_and_high(values: Shares) -> Iterator[str]:
    yield f"{values.mean():.3f}"
    yield counted((values > 0.5).sum())


def divergence(found: list[Breach]) -> str:
    """The mean probability of another branch, the people for whom it is above a half, and that of the own value."""
    headings = ("release and group G", "another branch, mean", "above ½", "her own value, mean", "above ½")
    rows = [
        (each.name, *_mean_and_high(each.other_branch), *_mean_and_high(each.own_value)) for each in found
    ]
    return markdown(headings, rows)


def alone(frame: pl.DataFrame) -> str:
    """How many people share what an adversary knows with few others, and what is read of them in T'."""
    headings = ("the adversary knows", "like her", "people", "age read right", "education read right")
    return markdown((*headings, "people under a code", "read right"), _alone_lines(frame))


def _alone_lines(frame: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    ages, education = read(frame)
    age_right = ages == frame["age"].to_numpy()
    right = (education == frame["education"]).to_numpy()
    is_code = chosen(frame, MAIN).to_numpy() != 1
    for knows, names in (("quasi-identifiers", QUASI), ("quasi-identifiers and age", (*QUASI, "age"))):
        groups = numbered(frame, names)
        sizes = np.bincount(groups)[groups]
        for most, what in LIKE_HER.items():
            of = sizes <= most
            shares_right = (f"{age_right[of].mean():.1%}", f"{right[of].mean():.1%}")
            coded = of & is_code
            yield (
                knows,
                what,
                counted(of.sum()),
                *shares_right,
                counted(coded.sum()),
                f"{right[coded].mean():.1%}",
            )


def picture(found: list[Breach]) -> None:
    """Mean proximity and divergence breach of every release."""
    names = [each.name.replace(", ages and codes read", "").replace(", G", ",\nG") for each in found]
    bars = (
        ("proximity breach, ±2 years", [each.near[2].mean() for each in found], pictures.BLUE),
        ("another branch", [each.other_branch.mean() for each in found], pictures.ORANGE),
        ("her own value", [each.own_value.mean() for each in found], pictures.GREEN),
    )
    with mpl.rc_context(pictures.STYLE | {"axes.grid.axis": "x"}):
        figure = Figure(figsize=(9, 4.5), layout="constrained")
        axis = figure.subplots()
        for place, (label, lengths, colour) in enumerate(bars):
            axis.barh(np.arange(len(found)) + 0.25 * place - 0.25, lengths, 0.23, color=colour, label=label)
        axis.set_yticks(range(len(found)), names, fontsize=8)
        axis.invert_yaxis()
        axis.set(xlabel="mean over people", xlim=(0, 1))
        axis.legend(loc="lower right", fontsize=8)
    pictures.save(figure, "grading-breaches")
