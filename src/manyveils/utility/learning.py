"""What models learn from a release: their accuracy on people who are not in it, beside models of the original.

scikit-learn is loaded when something is learnt, and only then.
"""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from manyveils.errors import InputError, Problem
from manyveils.policy import Policy
from manyveils.policy.check import suggest
from manyveils.release import Release
from manyveils.table import Streams, Table
from manyveils.utility.comparison import Measures
from manyveils.utility.examples import (
    MOST_ROWS,
    Classes,
    Floats,
    Labels,
    Texts,
    classes_of,
    matrices,
    rows_from,
    rows_of,
)

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

# The same for every release, so that releases compare.
STREAMS = Streams(1)
LEAST_LEAF = 20
MOST_CATEGORIES = 100
MOST_ROUNDS = 300
MOST_DRAWS = 5
Scores = dict[str, float]


@dataclass(frozen=True, repr=False)
class Lesson:
    """A target, the original to learn it from, and held-out people to test it on; prepared once for many releases."""

    table: Table
    policy: Policy
    target: str
    held_out: Table

    def __post_init__(self) -> None:
        refuse_target(self.target, self.table, self.policy)
        _refuse_missing_library()

    @property
    def features(self) -> tuple[str, ...]:
        """The columns of all other attributes that may be published."""
        home = self.table.home(self.target)
        return self.table.expand([name for name in self.policy.published if name != home])

    @cached_property
    def classes(self) -> Classes:
        """What is told apart."""
        return classes_of(self.table[self.target])

    @cached_property
    def original(self) -> Scores:
        """The accuracy of each model that has learnt from the original."""
        rng = STREAMS.of("learning.original")
        return self._scores(rows_of(self.table, (*self.features, self.target), rng), self.features)

    @cached_property
    def baseline(self) -> float:
        """The accuracy of always saying the original's commonest class."""
        column = self.table[self.target]
        taught = self.classes.of(rows_of(self.table, (column.name,), _rng())[column.name])
        tested = self.classes.of(rows_of(self.held_out, (column.name,), _rng())[column.name])
        return float((tested == np.bincount(taught).argmax()).mean())

    def of(self, release: Release) -> Measures:
        """Learn from rows drawn from a release, and compare.

        `learning` is (a - b) / (o - b) for the model that learns best from the original: a is its accuracy when it
        learns from the release, o when it learns from the original, and b the baseline. It is left out where o does
        not exceed b by two standard errors of b: then there is nothing to keep.
        The release has no say in which model counts: the best of several is above the baseline by chance alone, and
        releases that keep nothing would seem to keep something.
        """
        features = self._readable(release)
        found = self._drawn(release, features)
        measures: Measures = {
            "learning_original": dict(self.original),
            "learning_release": found,
            "learning_baseline": self.baseline,
        }
        best = max(self.original, key=lambda name: self.original[name])
        gain = self.original[best] - self.baseline
        if gain <= 2 * self._error():
            return measures
        return {"learning": (found[best] - self.baseline) / gain, **measures}

    def _drawn(self, release: Release, features: tuple[str, ...]) -> Scores:
        """The mean accuracy of each model over several draws; of a large release one is steady enough."""
        rng = STREAMS.of("learning.release")
        n_draws = min(max(MOST_ROWS // max(release.rows, 1), 1), MOST_DRAWS)
        draws = [rows_from(release, (*features, self.target), rng) for _ in range(n_draws)]
        each = [self._scores(rows, features) for rows in draws]
        return {name: fmean(scores[name] for scores in each) for name in each[0]}

    def _error(self) -> float:
        """The standard error of the baseline's accuracy."""
        return float(np.sqrt(self.baseline * (1 - self.baseline) / self.held_out.n_rows))

    def _readable(self, release: Release) -> tuple[str, ...]:
        """What the release shows of the features in the open."""
        shown = {name for view in release.views for name in view.attributes} - {*release.manifest.secret}
        if self.target not in shown:
            what = "the release does not show it in the open."
            raise InputError([Problem(f"learn: {self.table.home(self.target)}", what, "Learn another one.")])
        readable = tuple(name for name in self.features if name in shown)
        if not readable:
            raise InputError([Problem("learn", "the release shows no other attribute in the open.")])
        return readable

    def _scores(self, rows: Texts, features: tuple[str, ...]) -> Scores:
        tested = rows_of(self.held_out, (*features, self.target), _rng())
        numeric = tuple(name for name in features if self.table[name].kind == "numeric")
        columns = [{name: each[name] for name in features} for each in (rows, tested)]
        taught, asked = matrices(*columns, numeric=numeric)
        is_number = np.array([name in numeric for name in features])
        labels, truth = self.classes.of(rows[self.target]), self.classes.of(tested[self.target])
        return {
            name: _accuracy(model, is_number, (taught, labels), (asked, truth))
            for name, model in _models().items()
        }


def refuse_target(target: str, table: Table, policy: Policy) -> None:
    """Only what may be published can be learnt; of several values in a cell, one by one."""
    where = f"learn: {table.home(target) if target in table.attributes else target}"
    if target in table.derived:
        remedy = f'Name one of its values: "{target}=VALUE".'
        raise InputError([Problem(where, "has several values in one cell.", remedy)])
    if target not in table.expand(policy.published):
        if target in policy.attributes:
            raise InputError([Problem(where, "is never published.", "Learn another attribute.")])
        raise InputError([Problem(where, "is not an attribute.", suggest(target, policy.published))])


def _refuse_missing_library() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        remedy = "Install it with: pip install 'manyveils[learn]'"
        raise InputError([Problem("learn", "needs scikit-learn, which is not installed.", remedy)]) from None


def _rng() -> np.random.Generator:
    return STREAMS.of("learning.held-out")


def _models() -> "Mapping[str, ClassifierMixin]":
    """The models, as most people would use them, with settings that keep them quick."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.tree import DecisionTreeClassifier

    state = int(STREAMS.of("learning.tree").integers(2**31))
    return {
        "logistic": LogisticRegression(max_iter=MOST_ROUNDS),
        "tree": DecisionTreeClassifier(min_samples_leaf=LEAST_LEAF, random_state=state),
        "bayes": BernoulliNB(),
    }


def _accuracy(
    model: "ClassifierMixin", is_number: Any, taught: tuple[Floats, Labels], tested: tuple[Floats, Labels]
) -> float:
    from sklearn.pipeline import make_pipeline
    from threadpoolctl import threadpool_limits

    rows, labels = taught
    if (labels == labels[0]).all():
        # Models that tell classes apart refuse to learn one.
        return float((tested[1] == labels[0]).mean())
    learner = make_pipeline(_prepared(is_number), model)
    # One thread adds up in one order, so that numbers come out the same in any process.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        learner.fit(rows, labels)
        return float(learner.score(*tested))


def _prepared(is_number: Any) -> Any:
    """Numbers are scaled, their gaps filled and marked; every other value becomes a column of 0 and 1."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    filled = SimpleImputer(add_indicator=True, keep_empty_features=True)
    values = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(filled, StandardScaler()), np.flatnonzero(is_number)),
            ("values", values, np.flatnonzero(~is_number)),
        ]
    )
