"""What remains possible of a person who is seen in several groups, for someone who takes an attribute not to change.

A value stays possible if every group she is seen in has it, and beliefs combine: b(v) in proportion to
p(v) · Π p_G(v) / p(v). Groups are those of one release, or of a chain of them: then also those that can be told by
subtracting one release from the next, and a group gains on v what it has of it over what the releases before let
expect. Persons who are seen in the same groups are judged once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from manyveils.audits.combining import SMALLEST, Gains, gains_of, remaining
from manyveils.audits.groups import Together, with_reference
from manyveils.audits.measures import MEASURES
from manyveils.audits.shown import Chained, Shown, chained_in, is_said_constant, shown_in
from manyveils.audits.signatures import Signatures, joined, signatures_in
from manyveils.audits.widened import Widened, widened
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids
from manyveils.reading.sight import Sight


@dataclass(frozen=True, repr=False)
class Seen:
    """Who is seen in which groups, what these gain on each value, how often values are, and the rows of each signature."""

    signatures: Signatures
    gains: Gains
    prior: Floats
    rows: Ids


def measure_sightings(evidence: Evidence, promise: Promise, sights: Sequence[Sight]) -> pl.DataFrame | None:
    """What a promise about one attribute comes to for those seen several times; None where nobody can tell.

    The columns are those of `_worst`: value, rows (persons), measure, kept, times, all_rows. It has no line where nobody
    is seen several times.
    """
    shown = shown_in(evidence, sights)
    if shown is None:
        return None
    chained = chained_in(evidence, sights)
    asked = tuple(f"{sight.file.table}\0{sight.key!r}" for sight in sights)
    question = ("seen", sights[0].shows[0], asked, ())
    seen = evidence.remembered(question, lambda: _seen(evidence, sights, shown, chained))
    if not seen.signatures.persons.size:
        return pl.DataFrame()
    wide = widened(evidence, sights[0].shows[0], seen.prior.size)
    measured = [
        _measured(wide, promise, seen, *told) for told in remaining(seen.signatures, seen.gains, seen.prior)
    ]
    measured = [part for part in measured if part.height]
    if not measured:
        return pl.DataFrame()
    found = pl.concat(measured, how="vertical_relaxed")
    number = found["group"].to_numpy()
    return found.select(
        "measure",
        "kept",
        value=pl.lit(0, dtype=pl.Int64),
        times=pl.lit(1, dtype=pl.Int64),
        rows=pl.Series(seen.signatures.persons[number]),
        all_rows=pl.Series(seen.rows[number]),
    )


def _measured(
    wide: Widened, promise: Promise, seen: Seen, number: Ids, value: Ids, share: Floats
) -> pl.DataFrame:
    """What a promise comes to for some signatures."""
    if not number.size:
        return pl.DataFrame()
    cells = pl.DataFrame({"group": number, "part_0": wide.codes[value], "count": share})
    sizes = pl.Series(seen.signatures.persons[number])
    cells = cells.with_columns(pl.col("group").set_sorted(), rows=sizes, size=pl.lit(1.0))
    groups = with_reference(wide.evidence, promise, cells, [wide.labels])
    groups = replace(groups, together=Together(groups.cells, None))
    measured = MEASURES[type(promise.guarantee)](promise.guarantee, groups)
    return measured.select("group", "measure", "kept")


def _seen(evidence: Evidence, sights: Sequence[Sight], shown: Shown, chained: Chained | None) -> Seen:
    """Who is seen where: of one release those in several groups, and in a chain all of whom the release tells something."""
    assert evidence.table.persons is not None
    n_rows = np.bincount(evidence.table.persons)
    if chained is None:
        # Attributes that stand side by side have the same.
        asked = tuple(f"{sight.file.table}\0{sight.key!r}" for sight in sights)
        signatures = evidence.remembered(
            ("signatures", "", asked, ()), lambda: _of_several(shown, n_rows.size)
        )
        gains = _gains(shown)
        return Seen(signatures, gains, shown.prior, signatures.rows(n_rows))
    return _seen_in_chain(evidence, sights, chained, n_rows)


def _of_several(shown: Shown, n_persons: int) -> Signatures:
    """The signatures of those who are in several groups."""
    several = np.bincount(shown.pairs.persons, minlength=n_persons) > 1
    return signatures_in(shown.pairs.among(several), n_persons)


def _gains(shown: Shown) -> Gains:
    """What the groups of a single release gain on each value: its share in a group over its share among all."""
    cells, n_values = shown.cells, shown.prior.size
    known = np.log(np.maximum(shown.prior, SMALLEST))
    kept = cells.weights > 0
    groups, values = cells.groups[kept], cells.values[kept]
    logs = np.log(cells.weights[kept] / shown.sizes[groups]) - known[values]
    return gains_of(groups * n_values + values, logs, n_values)


def _seen_in_chain(evidence: Evidence, sights: Sequence[Sight], chained: Chained, n_rows: Ids) -> Seen:
    """The same with the groups of earlier releases: of whom a release shows nothing new, it is not judged.

    Who is in one group alone is judged too, since others of the group may be known from before.
    """
    before, own, n_values = chained.before, chained.added, chained.prior.size
    assert evidence.table.earlier is not None
    n_persons = max(evidence.table.earlier.n_persons, n_rows.size)
    is_constant = is_said_constant(evidence, sights[0].shows[0])
    asked = (str(is_constant), chained.like, *(f"{sight.file.table}\0{sight.key!r}" for sight in sights))

    def signatures_told() -> Signatures:
        is_told = np.zeros(n_persons, dtype=bool)
        is_told[own.pairs.persons] = True
        pairs = joined([before.pairs.among(is_told), own.pairs.numbered_from(before.n_groups)])
        if not is_constant:
            pairs = pairs.among(np.bincount(pairs.persons, minlength=n_persons) > 1)
        return signatures_in(pairs, n_persons)

    signatures = evidence.remembered(("signatures", "", asked, ()), signatures_told)
    kept = own.cells.weights > 0
    keys = own.cells.keys(n_values)[kept] + before.n_groups * n_values
    # A weight over what was expected; never of what was thought impossible, since nothing then remains.
    logs = np.log(own.cells.weights[kept]) - np.log(np.maximum(own.expected[kept], SMALLEST))
    gains = gains_of(np.append(chained.gains.keys, keys), np.append(chained.gains.logs, logs), n_values)
    # Whoever is gone counts as a row.
    rows = np.ones(n_persons, dtype=np.int64)
    rows[: n_rows.size] = np.maximum(n_rows, 1)
    return Seen(signatures, gains, chained.prior, signatures.rows(rows))
