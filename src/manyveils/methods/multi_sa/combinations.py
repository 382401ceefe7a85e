"""The combinations of sensitive values that occur, and which columns they are made of."""

from dataclasses import dataclass

import numpy as np

from manyveils.errors import PolicyError, Problem
from manyveils.promises.entries import Ids, dense
from manyveils.promises.work import Work

MOST = 20_000


@dataclass(frozen=True)
class Combinations:
    """Every combination of sensitive values in the table, numbered in the order of their codes."""

    names: tuple[str, ...]
    of_row: Ids
    example: Ids

    @property
    def counts(self) -> Ids:
        """Rows per combination."""
        return np.bincount(self.of_row, minlength=self.example.size)


def sensitive_columns(work: Work) -> tuple[str, ...]:
    """The columns of sensitive attributes, and those on the right side of a rule, in the order of the policy."""
    protected = {name for promise in work.promises if promise.is_rule for name in promise.protects}
    return tuple(name for name in work.published if name in protected or name in work.sensitive)


def combinations_of(work: Work, names: tuple[str, ...]) -> Combinations:
    """Count the combinations of some columns; too many are refused, for no program could handle them."""
    of_row, found = dense(work.table.codes(names), work.table.sizes(names), work.table.n_rows)
    if found > MOST:
        raise PolicyError(
            [
                Problem(
                    work.policy.name,
                    f"the sensitive attributes have {found} different combinations; multi-sa takes at most {MOST}.",
                    'Make them coarser, protect fewer of them, or use method = "guardian" or "anatomize".',
                )
            ]
        )
    example = np.zeros(found, dtype=np.int64)
    example[of_row] = np.arange(work.table.n_rows)
    return Combinations(names, of_row, example)
