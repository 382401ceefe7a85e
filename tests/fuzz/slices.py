"""What is believed of people in sliced views: p(t, s) of the slicing paper, in fractions."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from tests.fuzz.folder import Columns, Published
from tests.fuzz.guarantees import Crowd

Row = Mapping[str, str]


def crowds_of_slices(
    view: Published, protected: Columns, name: str, known: Sequence[str], rows: Sequence[Row]
) -> Iterator[Crowd]:
    """For everybody of the table whose known values some bucket matches: the belief that results."""
    targets = {tuple(row[n] for n in known): row for row in rows}
    buckets = {id(columns): _by_bucket(columns) for columns in view.columns}
    for target in targets.values():
        beliefs: dict[str, Fraction] = defaultdict(Fraction)
        for bucket, inside in buckets[id(protected)].items():
            weight = Fraction(1)
            for columns in view.columns:
                members = buckets[id(columns)][bucket]
                weight *= Fraction(len(_matching(members, target, known, columns)), len(members))
            if weight:
                matching = _matching(inside, target, known, protected)
                for row in matching:
                    beliefs[row[name]] += weight / len(matching)
        total = sum(beliefs.values(), Fraction(0))
        if total:
            yield Crowd.of_beliefs({value: belief / total for value, belief in beliefs.items()})


def _matching(rows: Sequence[Row], target: Row, known: Sequence[str], columns: Columns) -> list[Row]:
    shared = [name for name in known if name in columns.attributes]
    return [row for row in rows if all(row[name] == target[name] for name in shared)]


def _by_bucket(columns: Columns) -> dict[int, list[Row]]:
    inside: dict[int, list[Row]] = defaultdict(list)
    for bucket, row in zip(columns.buckets, columns.rows, strict=True):
        inside[bucket].append(row)
    return inside
