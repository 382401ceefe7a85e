"""Random small tables with policies, for property tests."""

from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from manyveils.policy import Policy

JOBS = {"office": ["clerk", "lawyer"], "field": ["farmer", "miner", "driver"]}
ILLS = {"lungs": ["flu", "asthma"], "gut": ["ulcer", "colic"]}
LEAVES = [leaf for leaves in ILLS.values() for leaf in leaves]
WEIGHTS = [0, 1, 2, 3, 5, 8, 13]
PAYS = [10, 20, 25, 30, None]


@dataclass(frozen=True, repr=False)
class Case:
    """A table and a policy for it."""

    frame: pl.DataFrame
    sections: dict[str, Any]

    @property
    def policy(self) -> Policy:
        """The policy."""
        return Policy(**self.sections)

    def __repr__(self) -> str:
        # Generated data are nobody's, and a failing example must be seen.
        return f"Case({self.frame.to_dict(as_series=False)}, {self.sections})"


def guarantees() -> st.SearchStrategy[dict[str, Any]]:
    """Guarantee sections, most of them keepable."""
    l = st.integers(1, 3)
    t = st.sampled_from([0.2, 0.35, 0.5, 0.8])
    return st.one_of(
        st.fixed_dictionaries({"k": st.integers(1, 4)}),
        st.fixed_dictionaries({"k": st.integers(3, 4), "l": l}),
        st.fixed_dictionaries({"l": l, "l_kind": st.sampled_from(["distinct", "frequency", "entropy"])}),
        st.fixed_dictionaries(
            {"l": l, "l_kind": st.just("recursive"), "c": st.sampled_from([0.5, 1.0, 1.5, 3.0])}
        ),
        kinds_of_l(),
        st.fixed_dictionaries({"t": t, "ground": st.sampled_from(["equal", "hierarchical"])}),
        st.fixed_dictionaries({"k": st.integers(2, 3), "t": t}),
        st.fixed_dictionaries({"alpha": st.sampled_from([0.3, 0.5, 0.75])}),
        st.fixed_dictionaries({"beta": st.sampled_from([0.5, 1.0, 2.0])}),
        st.fixed_dictionaries({"delta": st.sampled_from([0.5, 1.0, 2.0])}),
        st.fixed_dictionaries({"epsilon_link": st.sampled_from([0.4, 0.6])}),
        st.fixed_dictionaries({"l": st.just(2), "conditional": st.just(True)}),
        st.fixed_dictionaries({"n": st.integers(2, 8), "t": t}),
    )


def kinds_of_l() -> st.SearchStrategy[dict[str, Any]]:
    """Guarantee sections in which l counts labels, or is larger or smaller for some values."""
    kinds = st.sampled_from(
        [{}, {"l_kind": "frequency"}, {"l_kind": "entropy"}, {"l_kind": "recursive", "c": 2.0}]
    )
    terms = st.sampled_from(
        [
            {"l_level": 1},
            {"l_of": {"flu": 3}},
            {"l_of": {"ulcer": 2, "colic": 3}},
            {"l_level": 1, "l_of": {"gut": 2}},
        ]
    )
    l = st.integers(1, 2).map(lambda l: {"l": l})
    return st.tuples(kinds, terms, l).map(lambda parts: parts[0] | parts[1] | parts[2])


def eliminations() -> st.SearchStrategy[dict[str, Any]]:
    """Guarantee sections that need two sensitive attributes."""
    return st.fixed_dictionaries(
        {"eliminations": st.integers(1, 2), "pairs": st.sampled_from(["all", "consecutive"])}
    )


def attributes(*, n_sensitive: int) -> dict[str, Any]:
    """Three quasi-identifiers of different kinds and one or two sensitive attributes."""
    described: dict[str, Any] = {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10]}},
        "job": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": JOBS}},
        "sex": {"role": "quasi", "kind": "categorical"},
        "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": ILLS}},
    }
    if n_sensitive > 1:
        described["pay"] = {"role": "sensitive", "kind": "numeric", "hierarchy": {"widths": [10, 20]}}
    return described


@st.composite
def cases(
    draw: st.DrawFn,
    publish: dict[str, Any],
    *,
    smallest: int = 1,
    largest: int = 24,
    promised: st.SearchStrategy[dict[str, Any]] | None = None,
) -> Case:
    """A table of up to `largest` rows and a policy that publishes it as told, with any promises or those given."""
    n = draw(st.integers(smallest, largest))
    n_sensitive = draw(st.integers(1, 2))

    def column(values: list[Any]) -> list[Any]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    frame = pl.DataFrame(
        {
            "name": [f"person {number}" for number in range(n)],
            "age": pl.Series(column([20, 21, 24, 25, 31, 38, None]), dtype=pl.Int64),
            "job": pl.Series(column([leaf for leaves in JOBS.values() for leaf in leaves]), dtype=pl.String),
            "sex": pl.Series(column(["f", "m"]), dtype=pl.String),
            "ill": pl.Series(column([leaf for leaves in ILLS.values() for leaf in leaves]), dtype=pl.String),
            **({"pay": pl.Series(column([10, 20, 25, 30]), dtype=pl.Int64)} if n_sensitive > 1 else {}),
        }
    )
    guarantee = draw(guarantees() if promised is None else promised)
    if n_sensitive > 1 and draw(st.integers(0, 3)) == 0:
        guarantee |= draw(eliminations())
    described = attributes(n_sensitive=n_sensitive)
    if draw(st.booleans()):
        described["ill"]["insensitive"] = ["colic"]
    suppression = draw(st.sampled_from([0.0, 0.1, 0.3]))
    sections = {
        "attributes": described,
        "guarantee": guarantee,
        "publish": {**publish, "suppression": suppression},
    }
    return Case(frame, sections)
