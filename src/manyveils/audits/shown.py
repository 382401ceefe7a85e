"""The groups in which a release shows one attribute: who is in them, and what they have."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from manyveils.audits.combining import Gains
from manyveils.audits.earlier import (
    Added,
    Before,
    Cells,
    Told,
    added,
    added_shown,
    before_of,
    gains_before,
    holding,
    told_after,
)
from manyveils.audits.members import members_of
from manyveils.audits.originals import original_weights, rows_of_persons
from manyveils.audits.persons import Placed, placed_in, spread_over_originals
from manyveils.audits.signatures import Pairs, paired
from manyveils.policy import Promise
from manyveils.reading.evidence import Evidence
from manyveils.reading.keys import Floats, Ids
from manyveils.reading.labels import Labels, unrecoded
from manyveils.reading.sight import Sight, columns_for, known_in, sight_of
from manyveils.table.earlier import Held

ROUNDING = 1e-9


@dataclass(frozen=True, repr=False)
class Shown:
    """The groups of all columns that show an attribute, numbered through; `sizes` are their persons.

    `cells` have originals, also of values that a label hides.
    """

    attribute: Labels
    pairs: Pairs
    cells: Cells
    sizes: Floats
    # How often the original has each value, of everybody.
    prior: Floats

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.sizes.size


@dataclass(frozen=True, repr=False)
class Chained:
    """What a release adds to what earlier ones tell of an attribute; values that the table does not have come last.

    `gains` are those of the groups before.
    """

    before: Before
    added: Added
    gains: Gains
    prior: Floats
    # Attributes of which the same groups tell have the same.
    like: str


def sights_about(evidence: Evidence, promise: Promise) -> list[Sight]:
    """The columns that show what a promise protects, for someone who knows what identifies the rows and nothing else."""
    return [
        sight_of(promise, view, file, known_in(view, promise, evidence))
        for view in evidence.showing(frozenset(promise.protects))
        for file in columns_for(promise, view, evidence)
        if evidence.people(file)
    ]


def shown_in(evidence: Evidence, sights: Sequence[Sight]) -> Shown | None:
    """The groups of some columns that show one attribute; None where nobody can tell who is in them."""
    question = ("shown", sights[0].shows[0], _asked(sights), ())
    return evidence.remembered(question, lambda: _shown(evidence, sights))


def _asked(sights: Sequence[Sight]) -> tuple[str, ...]:
    return tuple(f"{sight.file.table}\0{sight.key!r}" for sight in sights)


def _shown(evidence: Evidence, sights: Sequence[Sight]) -> Shown | None:
    attribute = unrecoded(evidence.original(sights[0].shows[0]))
    pairs = evidence.remembered(("pairs", "", _asked(sights), ()), lambda: pairs_in(evidence, sights))
    if pairs is None or rows_of_persons(evidence, [attribute]) is None:
        return None
    told = [placed_in(evidence, sight) for sight in sights]
    keys, weights, sizes, n_groups, n_values = [], [], [], 0, len(attribute.texts)
    for [labels], placed in (own for own in told if own is not None):
        cells = _of_originals(evidence, labels, placed)
        keys.append((cells["group"].to_numpy() + n_groups) * n_values + cells["part_0"].to_numpy())
        counts = cells["count"].to_numpy().astype(float)
        # Thirds of a person that make a whole one are one.
        weights.append(np.where(np.abs(counts - np.rint(counts)) < ROUNDING, np.rint(counts), counts))
        sizes.append(placed.sizes.astype(float))
        n_groups += placed.sizes.size
    every_key, every_weight = np.concatenate(keys), np.concatenate(weights)
    if (np.diff(every_key) < 0).any():
        order = np.argsort(every_key, kind="stable")
        every_key, every_weight = every_key[order], every_weight[order]
    counted = Cells(*np.divmod(every_key, n_values), every_weight)
    values = pl.DataFrame({"part_0": np.arange(n_values), "value": np.arange(n_values)})
    prior = original_weights(evidence, [attribute], values, None).to_numpy() / evidence.table.n_persons
    return Shown(attribute, pairs, counted, np.concatenate(sizes), prior)


def pairs_in(evidence: Evidence, sights: Sequence[Sight]) -> Pairs | None:
    """Every person with every group of some columns, which are numbered through; None where nobody can tell."""
    told = [members_of(evidence, sight.view, sight.file, sight.key) for sight in sights]
    members = [own for own in told if own is not None]
    if len(members) < len(told):
        return None
    offsets = np.cumsum([0, *(own.sizes.size for own in members)])
    groups = [own.pairs[1] + start for own, start in zip(members, offsets, strict=False)]
    return paired(np.concatenate([own.pairs[0] for own in members]), np.concatenate(groups))


def _of_originals(evidence: Evidence, labels: Labels, placed: Placed) -> pl.DataFrame:
    """How much of persons is spread on each original, also of those that a label hides: group, part_0, count, size."""
    if labels.cover.is_coarse or (labels.cover.sizes == 0).any():
        return spread_over_originals(evidence, labels, placed).weighed(None, "part_0")
    cells = placed.weighed(None, "part_0")
    return cells.with_columns(part_0=pl.Series(labels.cover.firsts).gather(cells["part_0"]))


def chained_in(evidence: Evidence, sights: Sequence[Sight]) -> Chained | None:
    """What a release adds to what earlier ones tell; None where nothing is known before, or nobody can tell."""
    question = ("chained", sights[0].shows[0], _asked(sights), ())
    return evidence.remembered(question, lambda: _chained(evidence, sights))


def _chained(evidence: Evidence, sights: Sequence[Sight]) -> Chained | None:
    name, earlier, shown = sights[0].shows[0], evidence.table.earlier, shown_in(evidence, sights)
    if earlier is None or name not in earlier.held or shown is None:
        return None
    held, is_constant = earlier.held[name], is_said_constant(evidence, name)
    prior = _prior(shown, held, evidence.table.n_persons)
    # Attributes that stand side by side go on from the same groups.
    like = str(hash(holding(earlier, held, is_constant=is_constant).tobytes()))
    asked = (like, *_asked(sights))
    before = evidence.remembered(
        ("before", str(is_constant), asked, ()), lambda: before_of(earlier, held, is_constant=is_constant)
    )
    if not is_constant:
        own = added_shown(shown.pairs, shown.cells, shown.sizes, prior)
        return Chained(before, own, gains_before(before, held, prior.size), prior, like)
    told: Told = evidence.remembered(
        ("told", "", asked, ()), lambda: told_after(before, shown.pairs, shown.n_groups)
    )
    value = values_of_persons(evidence, shown.attribute)
    own = added(before, told, held, shown.cells, value, prior)
    return Chained(before, own, gains_before(before, held, prior.size), prior, like)


def _prior(shown: Shown, held: Held, n_persons: int) -> Floats:
    """How often values are in the table; what nobody of it has any more is taken to be as rare as can be."""
    prior = np.append(shown.prior, np.zeros(held.n_values - shown.prior.size))
    prior = np.where(prior > 0, prior, 1 / n_persons)
    return prior / prior.sum()


def is_said_constant(evidence: Evidence, name: str) -> bool:
    """Whether the policy says that an attribute does not change."""
    return evidence.policy.attributes[evidence.table.home(name)].constant


def values_of_persons(evidence: Evidence, attribute: Labels) -> Ids:
    """The value of each person of the table of an attribute that does not change."""
    rows = rows_of_persons(evidence, [attribute])
    assert rows is not None
    persons, [codes] = rows
    value = np.zeros(evidence.table.n_persons, dtype=np.int64)
    value[persons] = codes
    return value
