"""How much codes tell of education: their frequencies, set beside those that everybody can know."""

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from benchmarks.reproductions.grading_adult import (
    BRANCH_OF,
    GROUP_OF,
    LEAVES,
    MAIN,
    RULES,
    SEED,
    Choosing,
    Graded,
    graded,
)
from benchmarks.reproductions.table import counted, markdown

KNOWN = (0, 2, 5, 10)
DRAWS = 500
Shares = Mapping[str, float]


def shares(values: pl.Series) -> dict[str, float]:
    """The share of every education among some people."""
    found = values.value_counts(normalize=True)
    return dict.fromkeys(LEAVES, 0.0) | dict(found.iter_rows())


def matched(labels: pl.Series, expected: Shares) -> dict[str, str]:
    """Codes read by rank: the commonest code as what is expected to be commonest, and so on.

    >>> matched(pl.Series(["x", "y", "y"]), {"HS-grad": 0.4, "Masters": 0.1})
    {'y': 'HS-grad', 'x': 'Masters'}
    """
    counted = pl.DataFrame({"label": labels}).group_by("label").len()
    codes = counted.sort(["len", "label"], descending=[True, False])["label"].to_list()
    likely = sorted(expected, key=lambda what: (-expected[what], what))
    return dict(zip(codes, likely, strict=False))


def as_hidden(labels: pl.Series, population: Shares) -> Shares:
    """What codes are expected to hide, if nothing is known of the choices: all people less those in the open."""
    shown = dict(labels.value_counts().iter_rows())
    return {leaf: population[leaf] * labels.len() - shown.get(leaf, 0) for leaf in LEAVES}


def as_chosen(population: Shares, choosing: Choosing) -> Shares:
    """How common every code is expected to be, if the tendency of choices is known: groups by their names."""
    expected: dict[str, float] = {}
    for leaf in LEAVES:
        usual, other = RULES[choosing.rule][leaf], choosing.exceptions / 2
        for choice, what in ((2, GROUP_OF[leaf]), (3, leaf)):
            share = 1 - choosing.exceptions if usual == choice else other
            expected[what] = expected.get(what, 0.0) + population[leaf] * share
    return expected


def leaf_of(what: str, population: Shares) -> str:
    """One value for what a code was read as: of a group, its commonest."""
    leaves = [leaf for leaf in LEAVES if what in (leaf, GROUP_OF[leaf])]
    return max(leaves, key=lambda leaf: population[leaf])


def codes_of(hidden: Graded) -> pl.Series:
    """The cells of education that are codes; whoever knows the values of education sees which."""
    labels = hidden.table["education"]
    return labels.filter(~labels.is_in(LEAVES))


def guessed(hidden: Graded, population: Shares, choosing: Choosing | None) -> dict[str, str]:
    """Every label of education as an adversary reads it, who may know the tendency of choices."""
    labels = hidden.table["education"]
    expected = as_hidden(labels, population) if choosing is None else as_chosen(population, choosing)
    read = matched(codes_of(hidden), expected)
    # Codes in excess of what is expected are the rarest, and read as the rarest value.
    rarest = min(LEAVES, key=lambda leaf: population[leaf])
    return {
        label: label if label in LEAVES else leaf_of(read.get(label, rarest), population)
        for label in labels.unique()
    }


def table(frame: pl.DataFrame) -> str:
    """How many people are named right by frequency, for two kinds of choices and three kinds of knowledge."""
    return markdown(
        (
            "choices",
            "rows",
            "codes",
            "the adversary knows",
            "rows under a code",
            "value named",
            "branch named",
            "commonest value of those rows",
        ),
        _lines(frame),
    )


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    mixed = frame.sample(fraction=1, shuffle=True, seed=SEED)
    half = frame.height // 2
    for choosing in (Choosing("all 3", 0), MAIN):
        for part, knows, others, tendency in (
            (frame, "the shares in the table", frame, None),
            (mixed[:half], "the shares among other people", mixed[half:], None),
            (frame, "the shares in the table, and the tendency", frame, choosing),
            (mixed[:half], "the shares among other people, and the tendency", mixed[half:], choosing),
        ):
            if tendency is not None and choosing.exceptions == 0:
                continue
            hidden = graded(part, choosing)
            read = guessed(hidden, shares(others["education"]), tendency)
            yield (
                _name(choosing),
                counted(part.height),
                codes_of(hidden).n_unique(),
                knows,
                *_named(part, hidden, read),
            )


def _name(choosing: Choosing) -> str:
    return (
        "everybody 3" if choosing.exceptions == 0 else f"{choosing.rule}, {choosing.exceptions:.0%} otherwise"
    )


def _named(frame: pl.DataFrame, hidden: Graded, read: Mapping[str, str]) -> tuple[str, ...]:
    both = pl.DataFrame({"value": frame["education"], "label": hidden.table["education"]})
    both = both.filter(~pl.col("label").is_in(LEAVES)).with_columns(
        guess=pl.col("label").replace_strict(read)
    )
    branches = both.select(pl.col("value", "guess").replace_strict(BRANCH_OF))
    common = both["value"].value_counts(normalize=True)["proportion"].max()
    right = (both["value"] == both["guess"]).mean()
    near = (branches["value"] == branches["guess"]).mean()
    return counted(both.height), f"{right:.1%}", f"{near:.1%}", f"{common:.1%}"


def by_known_people(frame: pl.DataFrame) -> str:
    """How many people's codes are read by someone who knows the education of a few others, everybody hidden."""
    counts = graded(frame, Choosing("all 3", 0)).table["education"].value_counts()["count"].sort().to_numpy()
    people = np.repeat(np.arange(counts.size), counts)
    rng = np.random.Generator(np.random.PCG64(SEED))
    rows = []
    for n_known in KNOWN:
        seen = [np.unique(rng.choice(people, n_known, replace=False)) for _ in range(DRAWS)]
        named = np.mean([counts[each].sum() / counts.sum() for each in seen])
        rows.append((n_known, f"{np.mean([each.size for each in seen]):.1f}", f"{named:.1%}"))
    return markdown(("known people", "codes known, mean of 16", "people whose code is known"), rows)
