"""Identifiers that repeat although the policy tells persons apart by something else, or counts every row as one."""

from collections.abc import Iterator

from manyveils.linting.finding import Doubt
from manyveils.plain import toml_text
from manyveils.policy import Policy
from manyveils.policy.accepting import SHARED
from manyveils.table import Table

REMEDY = "Write person = {} in [data] if it tells persons apart"
NAMES_NOBODY = '{}, role = "drop" if it names nobody'


def repeats(table: Table, policy: Policy) -> Iterator[Doubt]:
    """A doubt for every identifier that persons share, at least two to a value, and for what repeats among rows.

    The policy has decided who is a person, so none of these is refused.
    """
    for column in table.repeating:
        remedy = REMEDY.format(toml_text(column.name))
        if column.n_persons is None:
            what = f"{column.n_present:,} rows have {column.n_different:,} different values of it, "
            what += 'and person = "row" counts every row as a person of its own.'
            yield Doubt("identifier-repeats", (column.name,), what, remedy, is_void=False)
        elif column.is_shared:
            told = " and ".join(policy.person or ())
            what = f"by {told} they are {column.n_persons:,} persons, who have only {column.n_different:,} different "
            what += "values of it: where it names the person, promises count her many times."
            yield Doubt(SHARED, (column.name,), what, NAMES_NOBODY.format(remedy), is_void=False)
