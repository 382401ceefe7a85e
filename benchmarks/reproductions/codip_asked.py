"""What the three searches publish when a closeness is asked for instead of measured."""

from collections.abc import Iterator
from itertools import product

import polars as pl

from benchmarks.reproductions import census
from benchmarks.reproductions.codip_anonymity import LIMIT
from benchmarks.reproductions.table import markdown
from manyveils import publish

KS = (2, 20)
T, ALPHA, BETA, SEED = 0.37, 0.2, 0.5, 1
SEARCHES = {"greedy": "CODIP*", "patient": "patient", "optimal": "best"}


def table(frame: pl.DataFrame) -> str:
    """A line for every search and k."""
    headings = ("k", "search", "tables", "Γα", "Γβ", "closeness", "closeness of one table at best")
    return markdown(headings, _lines(frame))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    for k, search in product(KS, SEARCHES):
        notes = publish(frame, _policy(k, search), seed=SEED).notes
        one_table = notes["one_table"]["best_closeness"]
        ratios = (f"{notes[key]:.4f}" for key in ("association_loss", "information_exposure"))
        closeness = (f"{each:.3f}" for each in (notes["closeness"], one_table))
        yield str(k), SEARCHES[search], str(len(notes["plan"])), *ratios, *closeness


def _policy(k: int, search: str) -> dict[str, object]:
    limits = {"alpha": ALPHA, "beta": BETA, "discernibility": LIMIT}
    return {
        "attributes": census.attributes(),
        "guarantee": {"k": k, "t": T},
        "publish": {"method": "codip", "search": search, **limits},
    }
