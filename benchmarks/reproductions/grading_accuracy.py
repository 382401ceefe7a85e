"""Table V and figure 4: how well a decision tree tells each attribute from the others, on T and on T'."""

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier

from benchmarks.reproductions import pictures
from benchmarks.reproductions.grading_adult import MAIN, SEED, Choosing, Graded, graded
from benchmarks.reproductions.table import markdown

FOLDS = 10
PRUNINGS = (1e-4, 2e-4, 5e-4, 1e-3)
TARGETS = ("workclass", "education", "marital-status", "occupation")
PAPER_T = dict(zip(TARGETS, (74.87, 41.67, 69.36, 32.23), strict=True))
PAPER_GRADED = dict(zip(TARGETS, (74.87, 39.64, 69.36, 32.23), strict=True))
VARIANTS = (
    Choosing("all 1", 0),
    Choosing("all 2", 0),
    Choosing("all 3", 0),
    Choosing(exceptions=0),
    MAIN,
    Choosing(exceptions=0.2),
    Choosing(tree_name="values"),
    Choosing("by branch"),
)
Texts = NDArray[np.str_]

FEWER_ROWS = 10_000


@dataclass(frozen=True)
class Learned:
    """What was predicted for every row by trees that had not seen it."""

    target: str
    wanted: Texts
    predicted: Texts

    @property
    def accuracy(self) -> float:
        """The share of rows predicted right, in percent."""
        return 100 * float((self.wanted == self.predicted).mean())

    @property
    def common(self) -> float:
        """The share of the most common value, in percent."""
        return 100 * float(np.unique(self.wanted, return_counts=True)[1].max()) / self.wanted.size


@dataclass(frozen=True)
class Comparison:
    """The trees of the original and of the graded table, on the same folds."""

    original: list[Learned]
    graded: list[Learned]
    read_with_the_key: float


def known_of(frame: pl.DataFrame, target: str) -> NDArray[np.float32]:
    """Age or grade as a number, and a column of zeros and ones for every value of the other attributes."""
    parts = [
        frame[name].to_numpy()[:, None]
        if name == "age"
        else frame[name].to_numpy()[:, None] == frame[name].unique().sort().to_numpy()
        for name in frame.columns
        if name != target
    ]
    return np.hstack(parts).astype(np.float32)


def learn(
    frame: pl.DataFrame, target: str, strata: pl.Series, prunings: tuple[float, ...] = PRUNINGS
) -> Learned:
    """Ten folds with the strata in equal shares; each tree is pruned as does best on a tenth of its own rows."""
    known, wanted = known_of(frame, target), frame[target].to_numpy().astype(str)
    predicted = np.empty_like(wanted)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED)
    for training, test in folds.split(known, strata.to_numpy()):
        tree = _tree(_pruning(known[training], wanted[training], prunings))
        predicted[test] = tree.fit(known[training], wanted[training]).predict(known[test])
    return Learned(target, wanted, predicted)


def _tree(pruning: float) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=2, ccp_alpha=pruning, random_state=SEED
    )


def _pruning(known: NDArray[np.float32], wanted: Texts, prunings: tuple[float, ...]) -> float:
    if len(prunings) == 1:
        return prunings[0]
    parts = train_test_split(known, wanted, test_size=0.1, random_state=SEED)
    scores = [_tree(pruning).fit(parts[0], parts[2]).score(parts[1], parts[3]) for pruning in prunings]
    return prunings[int(np.argmax(scores))]


def learned(frame: pl.DataFrame, original: pl.DataFrame) -> list[Learned]:
    """All four attributes of a table, on folds that are the same for every table made of one original."""
    return [learn(frame, target, original[target]) for target in TARGETS]


def run(frame: pl.DataFrame) -> Comparison:
    """T, and T' with the choices of the page."""
    hidden = graded(frame, MAIN)
    found = learned(hidden.table, frame)
    return Comparison(learned(frame, frame), found, with_key(found[1], frame["education"], hidden))


def with_key(found: Learned, originals: pl.Series, hidden: Graded) -> float:
    """The share of rows whose original is what the predicted label stands for, or may stand for, in percent."""
    codes = hidden.key.pseudonyms["education"]
    means = {code: {value} for code, value in codes.values.items()}
    means |= {code: set(members) for code, (_, members) in codes.groups.items()}
    right = [
        value in means.get(label, {label})
        for value, label in zip(originals.to_list(), found.predicted.tolist(), strict=True)
    ]
    return 100 * float(np.mean(right))


def table(found: Comparison) -> str:
    """Accuracy in percent: the paper's, ours, and that of saying the most common value."""
    headings = (
        "attribute",
        "paper, T",
        "paper, T'",
        "ours, T",
        "ours, T'",
        "most common, T",
        "most common, T'",
    )
    return markdown(
        headings,
        [
            (
                one.target,
                f"{PAPER_T[one.target]:.2f}",
                f"{PAPER_GRADED[one.target]:.2f}",
                f"{one.accuracy:.2f}",
                f"{two.accuracy:.2f}",
                f"{one.common:.2f}",
                f"{two.common:.2f}",
            )
            for one, two in zip(found.original, found.graded, strict=True)
        ],
    )


def key_table(found: Comparison) -> str:
    """The education tree of T' judged by labels, and by what they stand for."""
    education = found.graded[TARGETS.index("education")]
    return markdown(
        ("tree of T', education", "rows predicted right"),
        [
            ("label by label", f"{education.accuracy:.2f}"),
            ("read with the key", f"{found.read_with_the_key:.2f}"),
        ],
    )


def by_choices(frame: pl.DataFrame) -> str:
    """Accuracy on T' for other choices, and how many labels education then has; of fewer rows, to be done in minutes."""
    frame = frame.sample(FEWER_ROWS, seed=SEED)
    rows = [("T", "", "", frame["education"].n_unique(), *_accuracies(learned(frame, frame)))]
    for choosing in VARIANTS:
        hidden = graded(frame, choosing).table
        shown = (choosing.rule, f"{choosing.exceptions:.0%}", choosing.tree_name)
        rows.append((*shown, hidden["education"].n_unique(), *_accuracies(learned(hidden, frame))))
    return markdown(("choices", "exceptions", "codes of choice 2 for", "labels of education", *TARGETS), rows)


def _accuracies(found: list[Learned]) -> list[str]:
    return [f"{each.accuracy:.2f}" for each in found]


def picture(found: Comparison) -> None:
    """Figure 4: accuracy on T and T', the paper's beside ours."""
    bars = (
        ("paper, T", list(PAPER_T.values()), pictures.GREY),
        ("paper, T'", list(PAPER_GRADED.values()), "#bbbbbb"),
        ("ours, T", [one.accuracy for one in found.original], pictures.BLUE),
        ("ours, T'", [one.accuracy for one in found.graded], pictures.ORANGE),
    )
    with mpl.rc_context(pictures.STYLE):
        figure = Figure(figsize=(7.5, 3), layout="constrained")
        axis = figure.subplots()
        for place, (label, heights, colour) in enumerate(bars):
            axis.bar(np.arange(len(TARGETS)) + 0.2 * place - 0.3, heights, 0.18, label=label, color=colour)
        axis.set_xticks(range(len(TARGETS)), TARGETS)
        axis.set(ylabel="accuracy, %", ylim=(0, 100), title="decision tree, ten folds")
        axis.legend(fontsize=8, ncols=4)
    pictures.save(figure, "grading-accuracy")
