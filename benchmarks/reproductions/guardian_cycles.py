"""How often GD's loop repairs an attribute twice, and how often it never ends, by the order of its repairs."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import polars as pl

from benchmarks.random_rules import protectable, random_rules
from benchmarks.reproductions.table import markdown
from manyveils.methods.guardian.decompose import repaired_as_drawn
from manyveils.methods.guardian.pieces import Demand, Demands
from manyveils.policy import Promise
from manyveils.policy.guarantees import FrequencyDiversity
from manyveils.policy.rules import PrivacyRule

N_SETS, LHS, L = 50, 3, 2
COUNTS = (1, 3, 5, 7, 9)


class InOrder:
    """A stand-in for chance that always takes the first, and counts what is repaired."""

    def integers(self, _: int) -> int:
        """The first."""
        return 0


def table(tables: Sequence[tuple[str, pl.DataFrame]]) -> str:
    """A line for every table and number of rules: of so many rule sets, how many repair twice, and how many never end."""
    headings = (
        "table",
        "rules",
        "rule sets",
        "some attribute repaired twice",
        "never ends, first broken rule",
    )
    return markdown((*headings, "never ends, drawn"), _lines(tables))


def _lines(tables: Sequence[tuple[str, pl.DataFrame]]) -> Iterator[tuple[object, ...]]:
    for name, frame in tables:
        allowed = protectable(frame, L)
        for c in COUNTS:
            sets = [_demands(frame.columns, c, seed, allowed) for seed in range(N_SETS)]
            twice = sum(_repairs_twice(frame.columns, demands) for demands in sets)
            first = sum(_never_ends(frame.columns, demands, InOrder) for demands in sets)
            drawn = sum(
                _never_ends(frame.columns, demands, lambda: np.random.default_rng(1)) for demands in sets
            )
            yield name, c, N_SETS, twice, first, drawn


def _demands(names: Sequence[str], c: int, seed: int, allowed: Sequence[str]) -> Demands:
    rules = random_rules(names, c, LHS, seed, allowed)
    return Demands(tuple(_demand(frozenset(rule["given"]), str(rule["protect"])) for rule in rules))


def _demand(given: frozenset[str], protect: str) -> Demand:
    return Demand(
        given, protect, Promise(FrequencyDiversity(L), tuple(sorted(given)), (protect,), is_rule=True)
    )


def _never_ends(names: Sequence[str], demands: Demands, chance: Callable[[], object]) -> bool:
    return repaired_as_drawn(names, demands, chance()) is None


class Counted(Demands):
    """Demands that count what is repaired."""

    repaired: Counter[str]

    def silenced(self, pieces, rule: PrivacyRule):
        """The same, counted."""
        self.repaired[rule.protect] += 1
        return super().silenced(pieces, rule)


def _repairs_twice(names: Sequence[str], demands: Demands) -> bool:
    counted = Counted(demands.each)
    object.__setattr__(counted, "repaired", Counter())
    repaired_as_drawn(names, counted, InOrder())
    return max(counted.repaired.values(), default=0) > 1
