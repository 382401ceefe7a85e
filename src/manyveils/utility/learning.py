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

from manyveils.errors import InputError
from manyveils.policy import Policy
from manyveils.policy.shape import suggest
from manyveils.release import Release
from manyveils.table import Streams, Table
from manyveils.utility import examples
from manyveils.utility.comparison import Measures
from manyveils.utility.examples import Classes, Floats, Labels, Texts

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
        """All other attributes that may be published, multi-valued ones as their derived attributes."""
        home = self.table.home(self.target)
        return self.table.expand([name for name in self.policy.published if name != home])

    @cached_property
    def classes(self) -> Classes:
        """What models tell apart."""
        return examples.classes_of(self.table[self.target])

    @cached_property
    def original(self) -> Scores:
        """The accuracy of each model that has learnt from the original."""
        rng = STREAMS.of("learning.original")
        return self._scores(examples.rows_of(self.table, (*self.features, self.target), rng), self.features)

    @cached_property
    def baseline(self) -> float:
        """The accuracy of always naming the original's commonest class."""
        rows = [
            examples.rows_of(table, (self.target,), STREAMS.of("learning.held-out"))
            for table in (self.table, self.held_out)
        ]
        taught, tested = (self.classes.of(cells[self.target]) for cells in rows)
        return float((tested == np.bincount(taught).argmax()).mean())

    def of(self, release: Release) -> Measures:
        """Learn from rows drawn from a release, and compare.

        `learning` is (a - b) / (o - b) for the model that learns best from the original: a is its accuracy when it
        learns from the release, o when it learns from the original, and b the baseline. It is left out where o does
        not exceed b by two standard errors of b: then there is nothing to keep.
        The release does not decide which model counts: the best of several is above the baseline by chance alone, and
        a release that keeps nothing would seem to keep something.
        """
        scores = self._mean_scores(release, self._readable(release))
        measures: Measures = {
            "learning_original": dict(self.original),
            "learning_release": scores,
            "learning_baseline": self.baseline,
        }
        best = max(self.original, key=lambda name: self.original[name])
        gain = self.original[best] - self.baseline
        error = np.sqrt(self.baseline * (1 - self.baseline) / self.held_out.n_rows)
        if gain <= 2 * error:
            return measures
        return {"learning": (scores[best] - self.baseline) / gain, **measures}

    def _mean_scores(self, release: Release, features: tuple[str, ...]) -> Scores:
        """The mean accuracy of each model over several draws; of a large release one draw is steady enough."""
        rng = STREAMS.of("learning.release")
        n_draws = min(max(examples.MOST_ROWS // max(release.rows, 1), 1), MOST_DRAWS)
        draws = [examples.rows_from(release, (*features, self.target), rng) for _ in range(n_draws)]
        scores = [self._scores(rows, features) for rows in draws]
        return {model: fmean(draw[model] for draw in scores) for model in scores[0]}

    def _readable(self, release: Release) -> tuple[str, ...]:
        """What the release shows of the features in the open."""
        shown = {name for view in release.views for name in view.attributes} - {*release.manifest.secret}
        if self.target not in shown:
            what = "the release does not show it in the open."
            raise InputError.at(f"learn: {self.table.home(self.target)}", what, "Learn another attribute.")
        readable = tuple(name for name in self.features if name in shown)
        if not readable:
            raise InputError.at("learn", "the release shows no other attribute in the open.")
        return readable

    def _scores(self, rows: Texts, features: tuple[str, ...]) -> Scores:
        held_out = examples.rows_of(self.held_out, (*features, self.target), STREAMS.of("learning.held-out"))
        numeric = tuple(name for name in features if self.table[name].kind == "numeric")
        both = [{name: cells[name] for name in features} for cells in (rows, held_out)]
        labels = [self.classes.of(cells[self.target]) for cells in (rows, held_out)]
        taught, tested = zip(examples.matrices(*both, numeric=numeric), labels, strict=True)
        is_number = np.array([name in numeric for name in features])
        return {name: _accuracy(model, is_number, taught, tested) for name, model in _models().items()}


def refuse_target(target: str, table: Table, policy: Policy) -> None:
    """Only what may be published can be learnt; of several values in a cell, one by one."""
    where = f"learn: {table.home(target) if target in table.attributes else target}"
    if target in table.derived:
        remedy = f'Name one of its values: "{target}=VALUE".'
        raise InputError.at(where, "has several values in one cell.", remedy)
    if target not in table.expand(policy.published):
        if target in policy.attributes:
            raise InputError.at(where, "is never published.", "Learn another attribute.")
        raise InputError.at(where, "is not an attribute.", suggest(target, policy.published))


def _refuse_missing_library() -> None:
    try:
        import sklearn  # noqa: F401
    except ImportError:
        remedy = "Install it with: pip install 'manyveils[learn]'"
        raise InputError.at("learn", "needs scikit-learn, which is not installed.", remedy) from None


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
        # Models refuse to learn a single class.
        return float((tested[1] == labels[0]).mean())
    learner = make_pipeline(_prepared(is_number), model)
    # One thread adds up in one order, so that numbers come out the same in any process.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        learner.fit(rows, labels)
        return float(learner.score(*tested))


def _prepared(is_number: Any) -> Any:
    """Scale numbers, fill and mark their gaps, and make every other value a feature of 0 and 1."""
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
