"""How many people of the population look like each group of a view: those whose values its labels stand for."""

import numpy as np
import polars as pl

from manyveils.reading.evidence import Evidence, Key
from manyveils.reading.keys import Ids, example
from manyveils.reading.meanings import Meanings
from manyveils.release import View
from manyveils.release.views import ColumnFile

# So many people are matched at once.
CHUNK = 100_000


def people_alike(evidence: Evidence, view: View, file: ColumnFile, key: Key) -> Ids:
    """The people of the population who look like each group of rows that are alike in `key`.

    Claim: whoever is counted for a group has, for every attribute of the key, an original that its label stands for.
    Why: attribute by attribute, people stay with the beginnings of keys whose labels all cover their values.
    Tested by: tests/claims/test_population.py
    """
    population = evidence.table.population
    assert population is not None
    groups = evidence.group_numbers(file, key)
    rows = example(groups)
    labels = np.stack([evidence.coded(file, name).codes[rows] for name in key]) if key else np.zeros((0, 1))
    covers = [_pairs(evidence, file, name) for name in key]
    steps, owner = _beginnings(labels.astype(np.int64))
    alike = np.zeros(rows.size, dtype=np.int64)
    for start in range(0, population.counts.size, CHUNK):
        some = slice(start, start + CHUNK)
        codes = [population.attributes[name].codes[some] for name in key]
        found = pl.DataFrame(
            {
                "place": np.arange(population.counts[some].size),
                "begun": np.zeros(population.counts[some].size, dtype=np.int64),
            }
        )
        for own, cover, step in zip(codes, covers, steps, strict=True):
            placed = found.with_columns(code=pl.Series(own.astype(np.int64)).gather(found["place"]))
            found = (
                placed.join(cover, on="code").join(step, on=["begun", "label"]).select("place", begun="next")
            )
        counts = population.counts[some][found["place"].to_numpy()]
        alike += np.bincount(owner[found["begun"].to_numpy()], weights=counts, minlength=rows.size).astype(
            np.int64
        )
    return alike


def _pairs(evidence: Evidence, file: ColumnFile, name: str) -> pl.DataFrame:
    """Which originals of the population each label stands for: label, code."""
    population = evidence.table.population
    assert population is not None
    meanings = Meanings(population.attributes[name], evidence.policy.lines(name))
    labels, codes = meanings.cover(evidence.texts(file, name)).pairs()
    return pl.DataFrame({"label": labels.astype(np.int64), "code": codes.astype(np.int64)})


def _beginnings(labels: Ids) -> tuple[list[pl.DataFrame], Ids]:
    """How keys go on, attribute by attribute (begun, label, next), and the group of each whole key."""
    begun = np.zeros(labels.shape[1], dtype=np.int64)
    steps = []
    for own in labels:
        pairs, after = np.unique(np.stack([begun, own]), axis=1, return_inverse=True)
        steps.append(pl.DataFrame({"begun": pairs[0], "label": pairs[1], "next": np.arange(pairs.shape[1])}))
        begun = after.reshape(-1).astype(np.int64)
    owner = np.zeros(int(begun.max(initial=0)) + 1, dtype=np.int64)
    owner[begun] = np.arange(begun.size)
    return steps, owner
