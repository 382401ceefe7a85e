"""Which attributes of a table follow from which: exact functional dependencies with few on the left."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from numpy.typing import NDArray

from manyveils.table.attributes import Table
from manyveils.table.levels import Codes

Names = tuple[str, ...]
Ids = NDArray[np.int64]
LARGEST_ID = 2**62
SAMPLES = (4_096, 32_768)


@dataclass(frozen=True)
class Dependencies:
    """What follows from what in a table.

    In `found`, equal values on the left always go with equal values on the right. A key is different in every
    row, so everything follows from it; a constant is the same in every row, so it follows from anything.
    """

    found: tuple[tuple[Names, str], ...]
    keys: tuple[Names, ...]
    constants: Names


def find_dependencies(table: Table, names: Sequence[str], most: int = 2) -> Dependencies:
    """Find what follows from up to `most` of the named attributes together; a missing value is a value.

    Claim: every dependency in `found` and every key holds and would not with fewer attributes on the left, and every
    other dependency of the table with so few on the left comes of one of these, or of a constant.
    Why: a candidate is dropped only when two rows refute it or fewer attributes decide it; a sample of rows may
    refute, but only all rows confirm.
    Tested by: tests/claims/test_dependencies.py
    """
    distinct = tuple(dict.fromkeys(names))
    varied = tuple(name for name in distinct if np.ptp(table[name].codes) > 0) if table.n_rows else ()
    samples = tuple(_samples(table, varied))
    minimal: list[tuple[Names, str]] = []
    keys: list[Names] = []
    # Smaller left sides first, so that what they decide is known.
    for left in chain.from_iterable(combinations(varied, size) for size in range(1, most + 1)):
        if any(set(key) <= set(left) for key in keys):
            continue
        decided = {right for smaller, right in minimal if set(smaller) <= set(left)}
        rights = tuple(name for name in varied if name not in decided and name not in left)
        following = _following(left, rights, samples)
        if following is None:
            keys.append(left)
        else:
            minimal += [(left, right) for right in following]
    return Dependencies(tuple(minimal), tuple(keys), tuple(name for name in distinct if name not in varied))


def _samples(table: Table, names: Names) -> Iterator[Mapping[str, Codes]]:
    """Some rows, more rows, and all rows; which ones decides on speed only."""
    shuffled = np.random.Generator(np.random.PCG64(0)).permutation(table.n_rows)
    for size in SAMPLES:
        if size < table.n_rows:
            yield {name: table[name].codes[shuffled[:size]] for name in names}
    yield {name: table[name].codes for name in names}


def _following(left: Names, rights: Names, samples: tuple[Mapping[str, Codes], ...]) -> Names | None:
    """The right sides that follow from the left; None if the left is different in every row."""
    for sample in samples:
        first, second = _twins([sample[name] for name in left])
        rights = tuple(name for name in rights if np.array_equal(sample[name][first], sample[name][second]))
        if first.size and not rights:
            return ()
    return rights if first.size else None


def _twins(columns: Sequence[Codes]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pairs of rows that are equal in some columns, enough to join all rows that are."""
    ids = _ids(columns)
    order = np.argsort(ids)
    equal = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    return order[equal], order[equal + 1]


def _ids(columns: Sequence[Codes]) -> Ids:
    """One number for each combination of values."""
    ids, n_ids = np.zeros(len(columns[0]), dtype=np.int64), 1
    for codes in columns:
        n_values = int(codes.max(initial=0)) + 1
        if n_ids * n_values >= LARGEST_ID:
            ids = np.unique(ids, return_inverse=True)[1]
            n_ids = len(ids)
        ids = ids * n_values + codes
        n_ids *= n_values
    return ids
