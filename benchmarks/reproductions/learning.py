"""Experiment 3: what classifiers learn from anonymized rows, judged on original ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.naive_bayes import CategoricalNB
from sklearn.tree import DecisionTreeClassifier

import manyveils as mv
from benchmarks.reproductions import occ, pictures
from benchmarks.reproductions.membership import TWO
from benchmarks.reproductions.rebuilt import rebuilt
from benchmarks.reproductions.table import markdown

SEED = 1
TRAINING = 0.7
AGE_CLASSES = 10
TARGETS = (occ.SENSITIVE, "education")
CLASSIFIERS = ("decision tree", "naive Bayes")
SETTINGS = (*(("frequency", l) for l in (5, 6, 7)), *(("distinct", l) for l in range(5, 11)))
METHODS: dict[str, dict[str, Any]] = {
    "generalization": {"method": "generalize", "recoding": "mondrian"},
    "bucketization": {"method": "anatomize"},
    "slicing, by correlation": {"method": "slice", "columns": 2},
    "slicing, age + marital + sex apart": {"method": "slice", "columns": [list(column) for column in TWO]},
}


@dataclass(frozen=True)
class Accuracy:
    """The share of original test rows whose target was predicted, by classifier."""

    method: str
    l_kind: str
    l: int
    target: str
    shares: dict[str, float]


class Encoder:
    """Cells as numbers, the same for training and test rows: ages as they are, other values by their place."""

    def __init__(self, frame: pl.DataFrame, target: str) -> None:
        self.target = target
        self.domains = {name: frame[name].unique().sort() for name in frame.columns}
        self.known = [name for name in frame.columns if name != target]

    def answers(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """The target as numbers."""
        return self._codes(frame, self.target)

    def one_hot(self, frame: pl.DataFrame) -> NDArray[np.float32]:
        """Age as a number, and a column of zeros and ones for every other value."""
        parts = [
            self._ages(frame)[:, None]
            if name == "age"
            else self._codes(frame, name)[:, None] == np.arange(len(self.domains[name]))
            for name in self.known
        ]
        return np.hstack(parts).astype(np.float32)

    def classed(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        """Ages in classes of equal width, other values by their place."""
        return np.stack(
            [self._age_classes(frame) if name == "age" else self._codes(frame, name) for name in self.known],
            axis=1,
        )

    @property
    def n_classes(self) -> list[int]:
        """How many classes every known attribute has."""
        return [AGE_CLASSES if name == "age" else len(self.domains[name]) for name in self.known]

    def _codes(self, frame: pl.DataFrame, name: str) -> NDArray[np.int64]:
        return self.domains[name].search_sorted(frame[name]).to_numpy().astype(np.int64)

    def _ages(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        return frame["age"].cast(pl.Int64).to_numpy()

    def _age_classes(self, frame: pl.DataFrame) -> NDArray[np.int64]:
        ages = self.domains["age"].cast(pl.Int64).to_numpy()
        cuts = np.linspace(ages.min(), ages.max(), AGE_CLASSES + 1)[1:-1]
        return np.searchsorted(cuts, self._ages(frame), side="right")


def learned(training: pl.DataFrame, test: pl.DataFrame, target: str) -> dict[str, float]:
    """The accuracy of each classifier on the test rows."""
    encoder = Encoder(pl.concat([training, test]), target)
    tree = DecisionTreeClassifier(min_samples_leaf=20, random_state=SEED)
    bayes = CategoricalNB(min_categories=encoder.n_classes)
    answers, wanted = encoder.answers(training), encoder.answers(test)
    return {
        "decision tree": float(
            tree.fit(encoder.one_hot(training), answers).score(encoder.one_hot(test), wanted)
        ),
        "naive Bayes": float(
            bayes.fit(encoder.classed(training), answers).score(encoder.classed(test), wanted)
        ),
    }


def split(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Seventy of a hundred rows to learn from, the others to be judged on."""
    mixed = frame.sample(fraction=1, shuffle=True, seed=SEED)
    n = round(TRAINING * frame.height)
    return mixed[:n], mixed[n:]


def run(frame: pl.DataFrame) -> list[Accuracy]:
    """The original, then every method for every l that the data allow."""
    training, test = split(frame.select(occ.OCC7))
    found = [Accuracy("original", "", 0, target, learned(training, test, target)) for target in TARGETS]
    found += [_guessed(training, test, target) for target in TARGETS]
    for (kind, l), method in product(SETTINGS, METHODS):
        policy = occ.policy(occ.OCC7, {"l": l, "l_kind": kind}, METHODS[method])
        rows = rebuilt(mv.publish(training, policy, seed=SEED), np.random.default_rng(SEED))
        found += [
            Accuracy(method, kind, l, target, learned(rows.select(occ.OCC7), test, target))
            for target in TARGETS
        ]
    return found


def _guessed(training: pl.DataFrame, test: pl.DataFrame, target: str) -> Accuracy:
    """Always the most common value of the training rows."""
    common = training[target].mode().sort()[0]
    share = float((test[target] == common).mean())
    return Accuracy("most common value", "", 0, target, dict.fromkeys(CLASSIFIERS, share))


def _pick(found: list[Accuracy], method: str, target: str, kind: str = "") -> dict[int, Accuracy]:
    return {
        each.l: each for each in found if (each.method, each.target, each.l_kind) == (method, target, kind)
    }


def table(found: list[Accuracy]) -> str:
    """Accuracy in percent: a line for every method, target and classifier, a column for every l."""
    headings = [f"{kind} {l}" for kind, l in SETTINGS]
    return markdown(("target", "classifier", "rows from", *headings), _lines(found))


def _lines(found: list[Accuracy]) -> Iterator[tuple[str, ...]]:
    for target, classifier in product(TARGETS, CLASSIFIERS):
        for method in ("original", "most common value"):
            share = _pick(found, method, target)[0].shares[classifier]
            yield target, classifier, method, *[f"{share:.1%}"] * len(SETTINGS)
        for method in METHODS:
            cells = [_pick(found, method, target, kind)[l].shares[classifier] for kind, l in SETTINGS]
            yield target, classifier, method, *(f"{cell:.1%}" for cell in cells)


def picture(found: list[Accuracy]) -> None:
    """Accuracy against l: frequency diversity with full lines, distinct with broken ones."""
    colours = (pictures.RED, pictures.ORANGE, pictures.BLUE, pictures.GREEN)
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(9.5, 5.6), layout="constrained")
        grid = figure.subplots(2, 2, sharex=True, sharey="row")
        for (row, target), (place, classifier) in product(enumerate(TARGETS), enumerate(CLASSIFIERS)):
            axis = grid[row][place]
            for method, dash in (("original", "-"), ("most common value", ":")):
                share = _pick(found, method, target)[0].shares[classifier]
                axis.axhline(share, color=pictures.GREY, linestyle=dash, label=method)
            for (method, colour), (kind, style) in product(
                zip(METHODS, colours, strict=True), (("frequency", "-o"), ("distinct", "--s"))
            ):
                line = _pick(found, method, target, kind)
                heights = [each.shares[classifier] for each in line.values()]
                label = f"{method}, {kind} l"
                axis.plot(list(line), heights, style, color=colour, label=label, markersize=4)
            axis.set(title=f"{target}, {classifier}", xlabel="l" if row else "")
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=8)
    pictures.save(figure, "slicing-learning")
