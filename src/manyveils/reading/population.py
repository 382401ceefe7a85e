"""How many people of a list look like each group of a view: those whose values its labels stand for."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from manyveils.policy import Policy
from manyveils.reading.cover import Bools, Cover, cover_of_pairs, joined_covers
from manyveils.reading.evidence import Evidence, Key, lines_of
from manyveils.reading.keys import Floats, Ids, Numbers, example
from manyveils.reading.meanings import Listing, Meanings
from manyveils.release import Release, View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute

# So many different people are matched at once.
CHUNK = 100_000


def people_alike(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Ids:
    """The people of the population who look like each group of rows that are alike in `key`."""
    population = evidence.table.population
    assert population is not None
    rows = example(evidence.group_numbers(file, key))
    labels = [evidence.coded(file, name).codes[rows] for name in key]
    texts = {name: evidence.texts(file, name) for name in key}
    # Among candidates a missing cell may be any value; by itself it is one.
    is_any = lines_of(evidence) is not None
    covers = covers_of(
        evidence.release, view, evidence.policy, population.attributes, texts, missing_is_any=is_any
    )
    codes = [population.attributes[name].codes.astype(np.int64) for name in key]
    return people_under(labels, covers, codes, population.counts, rows.size).astype(np.int64)


def covers_of(
    release: Release,
    view: View,
    policy: Policy,
    attributes: Mapping[str, Attribute],
    texts: Mapping[str, Sequence[str]],
    *,
    missing_is_any: bool = False,
) -> list[Cover]:
    """What the labels of a view stand for among the values of some people; recoding files choose between meanings.

    An empty label is a missing cell, which may stand for every value there is.
    """
    covers = []
    for name, labels in texts.items():
        recoding = release.recodings.get((view.name, name))
        listed = None if recoding is None else Listing(recoding)
        cover = Meanings(attributes[name], policy.lines(name)).cover(labels, listed)
        is_missing = np.array([not label for label in labels], dtype=bool)
        covers.append(_opened(cover, is_missing) if missing_is_any and is_missing.any() else cover)
    return covers


def _opened(cover: Cover, is_open: Bools) -> Cover:
    """The cover in which some labels stand for everything."""
    labels, codes = cover.pairs()
    closed = ~is_open[labels]
    others = cover_of_pairs(labels[closed], codes[closed], cover.n_labels, cover.n_originals)
    last = np.where(is_open, cover.n_originals - 1, -1)
    return joined_covers(others, np.zeros_like(last), last)


def people_under(
    labels: Sequence[Numbers],
    covers: Sequence[Cover],
    codes: Sequence[Ids],
    counts: Ids | Floats,
    n_groups: int,
) -> Floats:
    """How many people there are whose values the labels of each group stand for.

    `labels` has for every attribute the label of each group, `covers` what labels stand for, and `codes` the value of
    each kind of people, of whom there are `counts`.

    Claim: whoever is counted for a group has, for every attribute, an original that its label stands for.
    Why: attribute by attribute, people stay with the beginnings of keys whose labels all cover their values.
    Tested by: tests/claims/test_population.py
    """
    steps, owners = _beginnings(labels, n_groups)
    pairs = [_pairs(cover) for cover in covers]
    alike = np.zeros(n_groups)
    for start in range(0, counts.size, CHUNK):
        some = counts[start : start + CHUNK]
        found = pl.DataFrame({"place": np.arange(some.size), "begun": np.zeros(some.size, dtype=np.int64)})
        for own, cover, step in zip(codes, pairs, steps, strict=True):
            values = pl.Series(own[start : start + CHUNK]).gather(found["place"])
            covered = found.with_columns(code=values).join(cover, on="code")
            found = covered.join(step, on=["begun", "label"]).select("place", begun="next")
        alike += np.bincount(found["begun"], weights=some[found["place"].to_numpy()], minlength=n_groups)[
            owners
        ]
    return alike


def _pairs(cover: Cover) -> pl.DataFrame:
    """Which originals each label stands for: label, code."""
    labels, codes = cover.pairs()
    return pl.DataFrame({"label": labels.astype(np.int64), "code": codes.astype(np.int64)})


def _beginnings(labels: Sequence[Numbers], n_groups: int) -> tuple[list[pl.DataFrame], Ids]:
    """How keys go on, attribute by attribute (begun, label, next), and the number of each group's whole key."""
    begun = np.zeros(n_groups, dtype=np.int64)
    steps = []
    for own in labels:
        pairs, after = np.unique(np.stack([begun, own.astype(np.int64)]), axis=1, return_inverse=True)
        steps.append(pl.DataFrame({"begun": pairs[0], "label": pairs[1], "next": np.arange(pairs.shape[1])}))
        begun = after.reshape(-1).astype(np.int64)
    return steps, begun
