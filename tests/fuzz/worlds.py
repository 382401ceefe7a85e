"""What is believed of people in sliced views by someone who knows what identifies all: every world is looked at, in turn."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from tests.fuzz.folder import Columns, Published
from tests.fuzz.guarantees import Crowd

Row = Mapping[str, str]
# So many ways of putting people into buckets are looked at.
MOST_WAYS = 20_000


def crowds_of_worlds(
    view: Published, protected: Columns, name: str, known: Sequence[str], rows: Sequence[Row]
) -> list[Crowd] | None:
    """For everybody of the table who may be published: her values, and how often she has each; None if worlds are too many."""
    buckets = sorted(set(protected.buckets))
    n_out = len(rows) - len(protected.rows)
    places = [*buckets, None] if n_out else buckets
    if len(places) ** len(rows) > MOST_WAYS:
        return None
    wanted = [
        Counter(
            (bucket, _part(row, known, columns))
            for row, bucket in zip(columns.rows, columns.buckets, strict=True)
        )
        for columns in view.columns
    ]
    stays = [Counter[int]() for _ in rows]
    for world in product(places, repeat=len(rows)):
        inside = [(row, place) for row, place in zip(rows, world, strict=True) if place is not None]
        if all(
            Counter((place, _part(row, known, columns)) for row, place in inside) == asked
            for columns, asked in zip(view.columns, wanted, strict=True)
        ):
            for stay, place in zip(stays, world, strict=True):
                if place is not None:
                    stay[place] += 1
    told = zip(rows, stays, strict=True)
    return [_believed(row, stay, protected, name, known) for row, stay in told if stay]


def _part(row: Row, known: Sequence[str], columns: Columns) -> tuple[str, ...]:
    return tuple(row[name] for name in known if name in columns.attributes)


def _believed(row: Row, stay: Counter[int], protected: Columns, name: str, known: Sequence[str]) -> Crowd:
    """Of somebody who is in each bucket in so many worlds; rows that match her there are hers with the same chance."""
    beliefs: dict[str, Fraction] = defaultdict(Fraction)
    own = _part(row, known, protected)
    for bucket, count in stay.items():
        values = list(_matching(protected, bucket, own, name, known))
        for value in values:
            beliefs[value] += Fraction(count, stay.total() * len(values))
    return Crowd.of_beliefs(beliefs)


def _matching(
    protected: Columns, bucket: int, own: tuple[str, ...], name: str, known: Sequence[str]
) -> Iterator[str]:
    for line, place in zip(protected.rows, protected.buckets, strict=True):
        if place == bucket and _part(line, known, protected) == own:
            yield line[name]
