"""The ledger of a release: who is in which of its groups, what these have, and what the releases before let expect.

It is read off the sealed release, as an audit reads it, and not off what the method meant to make.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from manyveils.audits.earlier import Added, added_shown
from manyveils.audits.finding import REMEDY, UNTOLD
from manyveils.audits.shown import chained_in, shown_in, sights_about
from manyveils.audits.signatures import Pairs
from manyveils.errors import DataError
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import DistinctDiversity
from manyveils.reading.chain import persons_hashed
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Ids
from manyveils.reading.sight import Sight
from manyveils.release import Release
from manyveils.release.ledger import CONSTANTS, HELD_BACK, SIGHTINGS, VALUES, Ledger, fresh_key
from manyveils.release.seal import LEFT_OUT
from manyveils.table import Table


def ledger_of(evidence: Evidence) -> Ledger:
    """The ledger of a sealed release and the table it was made from, with where its persons were seen before, if anywhere.

    Persons are hashed as those before are, or with a key that is made here. Whose identity is missing, or who is in no
    group, has no sighting. `n_persons` counts all of the table. What the audit has read is not read again.

    Claim: the next release of a chain finds in it what someone who has this one, and those before, knows of persons.
    Why: groups and counts are those that the audit reads from the published files.
    Tested by: tests/claims/test_chain_judged.py
    """
    release, table, policy = evidence.release, evidence.table, evidence.policy
    assert table.keys is not None
    if table.persons is None:
        table = table.of_persons()
        evidence = Evidence(release, table, policy)
    names = [name for name in policy.sensitive if name in table.attributes]
    groups, values = _Numbered(), []
    told = [
        (name, *_added_by(evidence, name, sights)) for name in names if (sights := _sights(evidence, name))
    ]
    # Groups that are shown come first.
    own = [(name, groups.of(added, shown=True), added, texts) for name, added, texts in told]
    n_shown = groups.n_groups
    for name, numbers, added, texts in own:
        numbers = np.append(numbers, groups.of(added, shown=False))
        values.append(_values(name, numbers, added, texts))
    key = fresh_key()
    hashes = persons_hashed(table, key) if table.earlier is None else table.earlier.hashes
    sightings = _sightings(groups.pairs, hashes)
    return Ledger(
        sightings,
        pl.concat([pl.DataFrame(schema=VALUES), *values]),
        n_shown,
        table.n_persons,
        release.manifest.method,
        key,
        held_back=_held_back(release, table, hashes[: table.n_persons], sightings),
        constants=_constants(table, policy, groups.pairs, hashes),
    )


def _held_back(release: Release, table: Table, hashes: pl.Series, sightings: pl.DataFrame) -> pl.DataFrame:
    """Who is in no view: by the placements, or else whoever stands in no group."""
    left_out = [placement == LEFT_OUT for placement in release.placements.values()]
    if left_out:
        assert table.persons is not None
        gone = np.unique(table.persons[np.any(left_out, axis=0)])
        return hashes.gather(gone).drop_nulls().to_frame("person")
    if not sightings.height:
        return pl.DataFrame(schema=HELD_BACK)
    return hashes.drop_nulls().to_frame("person").join(sightings, on="person", how="anti")


def _sights(evidence: Evidence, name: str) -> list[Sight]:
    """The columns that show an attribute, for someone who knows all quasi-identifiers."""
    known = evidence.table.expand(evidence.policy.quasi)
    return sights_about(evidence, Promise(DistinctDiversity(1), known, (name,)))


def _added_by(evidence: Evidence, name: str, sights: Sequence[Sight]) -> tuple[Added, tuple[str, ...]]:
    """The groups that a release adds to the chain of one attribute, and the texts of its values."""
    shown = shown_in(evidence, sights)
    if shown is None:
        raise DataError.at("release", UNTOLD, REMEDY)
    chained = chained_in(evidence, sights)
    if chained is None:
        added = added_shown(shown.pairs, shown.cells, shown.sizes, shown.prior)
        return added, shown.attribute.texts
    assert evidence.table.earlier is not None
    return chained.added, (*shown.attribute.texts, *evidence.table.earlier.held[name].more)


@dataclass(repr=False)
class _Numbered:
    """Groups of several attributes, numbered through; those that have the same persons are the same."""

    pairs: list[Pairs] = field(default_factory=list)
    n_groups: int = 0
    _known: list[tuple[bool, Pairs, int, int]] = field(default_factory=list)

    def of(self, added: Added, *, shown: bool) -> Ids:
        """The numbers of the groups that a release shows, or of those that can be derived."""
        first, stop = (0, added.n_shown) if shown else (added.n_shown, added.n_groups)
        which = (added.pairs.groups >= first) & (added.pairs.groups < stop)
        own = Pairs(added.pairs.persons[which], added.pairs.groups[which] - first)
        for is_shown, pairs, n_groups, start in self._known:
            if is_shown == shown and n_groups == stop - first and _are_equal(pairs, own):
                return start + np.arange(n_groups)
        start, self.n_groups = self.n_groups, self.n_groups + stop - first
        self._known.append((shown, own, stop - first, start))
        self.pairs.append(own.numbered_from(start))
        return start + np.arange(stop - first)


def _are_equal(pairs: Pairs, others: Pairs) -> bool:
    return np.array_equal(pairs.persons, others.persons) and np.array_equal(pairs.groups, others.groups)


def _values(name: str, numbers: Ids, added: Added, texts: Sequence[str]) -> pl.DataFrame:
    """What the groups have of one attribute, as the ledger lists it."""
    domain = pl.Series([text or None for text in texts], dtype=pl.String)
    cells = added.cells
    return pl.DataFrame(
        {
            "group": numbers[cells.groups],
            "attribute": pl.repeat(name, cells.groups.size, dtype=pl.String, eager=True),
            "value": domain.gather(cells.values),
            "weight": cells.weights,
            "expected": added.expected,
        },
        schema=VALUES,
    )


def _constants(table: Table, policy: Policy, told: Iterable[Pairs], hashes: pl.Series) -> pl.DataFrame:
    """What does not change of everybody in the table who is seen."""
    assert table.persons is not None
    seen = np.zeros(len(hashes), dtype=bool)
    for pairs in told:
        seen[pairs.persons] = True
    persons = np.flatnonzero(seen[: table.n_persons])
    # What does not change is the same in all rows of a person.
    rows = np.zeros(table.n_persons, dtype=np.int64)
    rows[table.persons] = np.arange(table.n_rows)
    rows = rows[persons]
    frames = [
        pl.DataFrame(
            {
                "person": hashes.gather(persons),
                "attribute": pl.repeat(name, rows.size, dtype=pl.String, eager=True),
                "value": pl.Series([text or None for text in table[name].texts], dtype=pl.String).gather(
                    table[name].codes[rows]
                ),
            },
            schema=CONSTANTS,
        )
        for name in policy.constant
        if name in policy.sensitive and name in table.attributes
    ]
    return pl.concat([pl.DataFrame(schema=CONSTANTS), *frames]).drop_nulls("person")


def _sightings(told: Iterable[Pairs], hashes: pl.Series) -> pl.DataFrame:
    """Every person with every group, by her hash."""
    frames = [
        pl.DataFrame({"person": hashes.gather(pairs.persons), "group": pairs.groups}, schema=SIGHTINGS)
        for pairs in told
    ]
    return pl.concat([pl.DataFrame(schema=SIGHTINGS), *frames]).drop_nulls("person")
