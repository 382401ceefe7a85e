"""A chain release by release: who came, went and came back, and what somebody who has all of them may know."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import polars as pl

from manyveils.audits.combining import remaining
from manyveils.audits.earlier import before_of, gains_before
from manyveils.audits.signatures import signatures_in
from manyveils.policy import Policy
from manyveils.reading.keys import Floats
from manyveils.release.ledger import Ledger, as_numbers
from manyveils.table import Table
from manyveils.table.earlier import Earlier


@dataclass(frozen=True)
class Known:
    """What may be known at most of one attribute that does not change: how many values remain, and how far one is believed."""

    attribute: str
    values: int
    belief: float


@dataclass(frozen=True)
class Moment:
    """One release of a chain: how many persons its original has, who of them are new or back, and who is not in it.

    Whose identity is missing is counted among all persons alone.
    """

    release: str
    method: str
    persons: int
    joined: int
    returned: int
    left: int
    held_back: int
    known: tuple[Known, ...] = field(default=())

    def describe(self) -> dict[str, object]:
        """The release as plain values for JSON; what may be known only where it was worked out."""
        told = asdict(self)
        return told if self.known else {key: value for key, value in told.items() if key != "known"}


def moments(names: Sequence[str], ledgers: Sequence[Ledger]) -> Iterator[Moment]:
    """The releases of a chain, oldest first, by their ledgers alone."""
    ever = last = pl.Series(dtype=pl.Int128)
    for name, ledger in zip(names, ledgers, strict=True):
        here = _shown_in(ledger)
        yield _moment(name, ledger, here, last, ever)
        ever, last = ever.append(here).unique(), here


def last_moment(name: str, ledger: Ledger, before: Sequence[Ledger]) -> Moment:
    """The last release of a chain; one alone is asked for much more often than all of them."""
    seen = [pl.Series(dtype=pl.Int128), *map(_shown_in, before)]
    return _moment(name, ledger, _shown_in(ledger), seen[-1], pl.concat(seen))


def _shown_in(ledger: Ledger) -> pl.Series:
    """Everybody who is in a release; who only left a group that it shows is not."""
    persons = ledger.sightings.filter(pl.col("group") < ledger.n_shown)["person"]
    return as_numbers(persons).unique()


def _moment(name: str, ledger: Ledger, here: pl.Series, last: pl.Series, ever: pl.Series) -> Moment:
    stayed = _n_among(here, last)
    # After one release nobody can have come back.
    known = stayed if len(ever) == len(last) else _n_among(here, ever)
    counts = ledger.n_persons, len(here) - known, known - stayed, len(last) - stayed
    return Moment(name, ledger.method, *counts, ledger.held_back.height)


def _n_among(persons: pl.Series, others: pl.Series) -> int:
    """How many persons are among others."""
    own, other = (series.alias("person").to_frame() for series in (persons, others))
    return own.join(other, on="person", how="semi").height


def known_after(earlier: Earlier, table: Table, policy: Policy) -> Iterator[tuple[Known, ...]]:
    """What may be known of anybody after each release of a chain, of the attributes that do not change."""
    names = [name for name in policy.sensitive if name in earlier.held and policy.attributes[name].constant]
    told = {name: list(_known_of(name, earlier, table)) for name in names}
    for release in range(int(earlier.release_of.max(initial=-1)) + 1):
        yield tuple(own for name in names if (own := told[name][release]) is not None)


def _known_of(name: str, earlier: Earlier, table: Table) -> Iterator[Known | None]:
    held = earlier.held[name]
    before = before_of(earlier, held, is_constant=True)
    gains = gains_before(before, held, held.n_values)
    prior = _prior(table, name, held.n_values)
    for release in range(int(earlier.release_of.max(initial=-1)) + 1):
        pairs = before.pairs.within(earlier.release_of <= release)
        values, belief = held.n_values + 1, 0.0
        for number, _, share in remaining(signatures_in(pairs, earlier.n_persons), gains, prior):
            n_values = np.bincount(number)
            values = min(values, int(n_values[n_values > 0].min(initial=values)))
            belief = max(belief, float(share.max(initial=0.0)))
        yield Known(name, values, belief) if belief else None


def _prior(table: Table, name: str, n_values: int) -> Floats:
    """How common values are in the table; one that it has no more is taken to be as rare as can be."""
    counts = np.zeros(n_values)
    counts[: table[name].n_values] = table[name].counts
    return np.maximum(counts / max(table.n_people, 1), 1 / max(table.n_persons, 1))
