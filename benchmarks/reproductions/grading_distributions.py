"""Figures 3, 5 and 6: how many rows have each workclass, and each education, in T and in T'."""

from collections.abc import Iterator

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from benchmarks.reproductions import pictures
from benchmarks.reproductions.grading_adult import GROUP_OF, Graded
from benchmarks.reproductions.table import counted, markdown


def counts(values: pl.Series) -> dict[str, int]:
    """The rows of every value, most first."""
    found = values.value_counts(sort=True).sort(["count", values.name], descending=[True, False])
    return dict(found.iter_rows())


def meant(hidden: Graded, label: str) -> str:
    """What a label of education stands for, in words for the picture."""
    meaning = hidden.key.meaning("education", label)
    assert meaning is not None
    if meaning.kind == "public":
        return label
    return f"{label} = {meaning.meaning.split(':')[0]}"


def workclass_table(frame: pl.DataFrame, hidden: Graded) -> str:
    """The rows of every workclass in both tables."""
    two = counts(hidden.table["workclass"])
    rows = [(value, counted(n), counted(two[value])) for value, n in counts(frame["workclass"]).items()]
    return markdown(("workclass", "rows of T", "rows of T'"), rows)


def education_table(frame: pl.DataFrame, hidden: Graded) -> str:
    """Where the rows of every education went."""
    return markdown(
        ("education", "rows of T", "in the open", "under the group's code", "under the value's code"),
        _education_lines(frame, hidden),
    )


def _education_lines(frame: pl.DataFrame, hidden: Graded) -> Iterator[tuple[str, ...]]:
    both = pl.DataFrame({"value": frame["education"], "label": hidden.table["education"]})
    kinds = {label: _kind(hidden, label) for label in both["label"].unique()}
    both = both.with_columns(kind=pl.col("label").replace_strict(kinds))
    for value, n in counts(frame["education"]).items():
        of = both.filter(pl.col("value") == value)["kind"]
        yield (value, counted(n), *(counted((of == kind).sum()) for kind in ("public", "group", "value")))


def _kind(hidden: Graded, label: str) -> str:
    meaning = hidden.key.meaning("education", label)
    assert meaning is not None
    return meaning.kind


def losses(frame: pl.DataFrame, hidden: Graded) -> str:
    """IL(e) = |e|·G/|D| of education, added up over the rows of each kind of label; G counts the values it adds."""
    headings = ("labels", "rows", "values under a label, at most", "information loss", "by row")
    return markdown(headings, _loss_lines(frame, hidden))


def _loss_lines(frame: pl.DataFrame, hidden: Graded) -> Iterator[tuple[str, ...]]:
    domain = frame["education"].n_unique()
    labels = hidden.table["education"]
    size_of = {label: _n_meant(hidden, label) for label in labels.unique()}
    rows = pl.DataFrame(
        {"kind": [_kind(hidden, label) for label in labels], "size": [size_of[label] for label in labels]}
    )
    said = {"public": "in the open", "value": "the value's code", "group": "the group's code"}
    for kind, words in said.items():
        sizes = rows.filter(kind=kind)["size"]
        lost = (sizes - 1).sum() / domain
        yield (
            words,
            counted(sizes.len()),
            str(sizes.max()),
            f"{lost:,.1f}",
            f"{lost / max(sizes.len(), 1):.4f}",
        )


def _n_meant(hidden: Graded, label: str) -> int:
    """How many values a label stands for."""
    if _kind(hidden, label) != "group":
        return 1
    meaning = hidden.key.meaning("education", label)
    assert meaning is not None
    group = meaning.meaning.split(":")[0]
    return sum(own == group for own in GROUP_OF.values())


def workclass_picture(frame: pl.DataFrame, hidden: Graded) -> None:
    """Figure 3: workclass in T and in T'."""
    one, two = counts(frame["workclass"]), counts(hidden.table["workclass"])
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(8, 2.8), layout="constrained")
        axis = figure.subplots()
        places = range(len(one))
        axis.bar([p - 0.2 for p in places], list(one.values()), 0.38, color=pictures.BLUE, label="T")
        axis.bar([p + 0.2 for p in places], [two[v] for v in one], 0.38, color=pictures.ORANGE, label="T'")
        axis.set_xticks(places, list(one))
        axis.set(ylabel="rows", title="workclass")
        axis.legend()
    pictures.save(figure, "grading-workclass")


def education_picture(frame: pl.DataFrame, hidden: Graded) -> None:
    """Figures 5 and 6: education in T, and the labels of education in T' with what the key says of them."""
    one, two = counts(frame["education"]), counts(hidden.table["education"])
    colours = {"public": pictures.BLUE, "group": pictures.GREEN, "value": pictures.ORANGE}
    said = {"public": "in the open", "group": "code of a group", "value": "code of a value"}
    with mpl.rc_context(pictures.STYLE | {"axes.grid.axis": "x"}):
        figure = Figure(figsize=(9.5, 7), layout="constrained")
        left, right = figure.subplots(1, 2, sharex=True)
        first = left.barh(list(one), list(one.values()), color=pictures.BLUE)
        second = right.barh(
            [meant(hidden, label) for label in two],
            list(two.values()),
            color=[colours[_kind(hidden, label)] for label in two],
        )
        for axis, bars in ((left, first), (right, second)):
            axis.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=6)
        for kind, colour in colours.items():
            right.barh([0], [0], color=colour, label=said[kind])
        for axis, title in ((left, "T"), (right, "T', with what the key says of the codes")):
            axis.invert_yaxis()
            axis.set(xlabel="rows", title=f"education in {title}")
            axis.tick_params(axis="y", labelsize=7)
        right.legend(loc="lower right", fontsize=8)
    pictures.save(figure, "grading-education")
