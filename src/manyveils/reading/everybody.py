"""Who stands in which bucket, for someone who knows what identifies everybody: the worlds that agree with a sliced view.

A world puts every person into a bucket, so that each bucket has, in every column, the rows that its persons would have.
Persons who are alike in what is known are one target; worlds differ in who of them is where, and are equally likely.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from manyveils.reading.keys import Floats, Ids
from manyveils.reading.slices import Slices

State = tuple[int, ...]
# So many steps are taken to find the ways of filling buckets.
MOST_STEPS = 200_000


@dataclass(frozen=True)
class Bucket:
    """What a bucket asks of its persons: per column, how many rows of which kind."""

    n_rows: int
    rows: tuple[Mapping[int, int], ...]


def chances(slices: Slices, sizes: Ids) -> Floats | None:
    """How likely somebody of each target is in each bucket, if she is published; None where worlds are too many.

    `sizes` are the rows of the buckets.

    Claim: it is the share of worlds in which she is there.
    Why: which of the rows that match her in a bucket is hers changes nothing of who is in it, and there are as many ways
    to say so in every world; the worlds are counted bucket by bucket, by who is left for the later ones.
    Tested by: tests/claims/test_everybody.py
    """
    buckets = _buckets(slices, sizes)
    if buckets is None:
        return None
    kinds = tuple(zip(*(column.of_target.tolist() for column in slices.columns), strict=True))
    people = tuple(slices.rows.tolist())
    return _Worlds(kinds, people, buckets).chances()


def _buckets(slices: Slices, sizes: Ids) -> list[Bucket] | None:
    """The buckets; None where a row could be of several kinds, because labels overlap."""
    rows: list[tuple[dict[int, int], ...]] = [tuple({} for _ in slices.columns) for _ in sizes]
    for place, column in enumerate(slices.columns):
        what, bucket = np.divmod(column.units.keys, slices.n_buckets)
        if (np.bincount(bucket, column.units.counts, len(sizes)) != sizes).any():
            return None
        for kind, own, count in zip(
            what.tolist(), bucket.tolist(), column.units.counts.tolist(), strict=True
        ):
            rows[own][place][kind] = count
    return [Bucket(size, own) for size, own in zip(sizes.tolist(), rows, strict=True)]


class _TooMany(Exception):
    """There are more ways than are looked at."""


@dataclass
class _Worlds:
    kinds: Sequence[tuple[int, ...]]
    people: State
    buckets: Sequence[Bucket]
    n_steps: int = 0

    def chances(self) -> Floats | None:
        try:
            return self._counted()
        except _TooMany:
            return None

    def _counted(self) -> Floats | None:
        steps = self._steps()
        after = self._after(steps)
        n_worlds = after[0][self.people]
        if not n_worlds:
            # Nobody's people fill these buckets: the view is not of this table.
            return None
        # Sums of whole numbers, as large as they get; only shares are rounded.
        there = [[0] * len(self.buckets) for _ in self.people]
        before: dict[State, int] = {self.people: 1}
        for place, ways in enumerate(steps):
            later: dict[State, int] = defaultdict(int)
            for state, reached in before.items():
                for taken, weight in ways[state]:
                    left = tuple(has - own for has, own in zip(state, taken, strict=True))
                    later[left] += reached * weight
                    worlds = reached * weight * after[place + 1].get(left, 0)
                    for target, own in enumerate(taken):
                        there[target][place] += own * worlds
            before = later
        published = [max(sum(own), 1) for own in there]
        return np.array(
            [[count / total for count in own] for own, total in zip(there, published, strict=True)]
        )

    def _steps(self) -> list[dict[State, list[tuple[State, int]]]]:
        """For every bucket and everybody who may be left for it, the ways to fill it, each with how often it comes."""
        states, steps = {self.people}, []
        for bucket in self.buckets:
            ways = {state: list(self._ways(bucket, state)) for state in states}
            steps.append(ways)
            states = {
                tuple(has - own for has, own in zip(state, taken, strict=True))
                for state, own_ways in ways.items()
                for taken, _ in own_ways
            }
        return steps

    def _after(self, steps: Sequence[Mapping[State, list[tuple[State, int]]]]) -> list[dict[State, int]]:
        """In how many ways all later buckets can be filled; who is left over was suppressed."""
        after: list[dict[State, int]] = [defaultdict(lambda: 1)]
        for ways in reversed(steps):
            own = {}
            for state, told in ways.items():
                lefts = (
                    (tuple(h - o for h, o in zip(state, taken, strict=True)), weight)
                    for taken, weight in told
                )
                own[state] = sum(weight * after[0][left] for left, weight in lefts)
            after.insert(0, own)
        return after

    def _ways(self, bucket: Bucket, state: State) -> Iterator[tuple[State, int]]:
        """The ways to take people of the targets so that every column has its rows."""
        wanted = [dict(rows) for rows in bucket.rows]
        taken = [0] * len(state)
        fitting = [
            target
            for target, kinds in enumerate(self.kinds)
            if state[target] and all(kind in own for own, kind in zip(wanted, kinds, strict=True))
        ]

        def take(place: int, missing: int, weight: int) -> Iterator[tuple[State, int]]:
            self.n_steps += 1
            if self.n_steps > MOST_STEPS:
                raise _TooMany
            if not missing:
                yield tuple(taken), weight
                return
            if place == len(fitting):
                return
            target = fitting[place]
            kinds = self.kinds[target]
            most = min(state[target], *(own[kind] for own, kind in zip(wanted, kinds, strict=True)))
            for number in range(most + 1):
                for own, kind in zip(wanted, kinds, strict=True):
                    own[kind] -= number
                taken[target] = number
                yield from take(place + 1, missing - number, weight * comb(state[target], number))
                taken[target] = 0
                for own, kind in zip(wanted, kinds, strict=True):
                    own[kind] += number

        yield from take(0, bucket.n_rows, 1)
