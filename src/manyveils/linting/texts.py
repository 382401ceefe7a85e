"""Free text, which may name anybody, among what is published as it is."""

from collections.abc import Iterator

import polars as pl

from manyveils.linting.finding import Doubt
from manyveils.policy import Policy
from manyveils.table import Attribute, Table

# Texts of this length on average are sentences, and texts that mostly differ are no categories.
LONG = 40
MANY_WORDS = 5
MOSTLY_DIFFERENT = 0.5
LOOKED_AT = 10_000
REMEDY = 'Leave it out (role = "drop"), or publish categories in its place'


def free_texts_among(table: Table, policy: Policy) -> frozenset[str]:
    """The neutral and sensitive attributes that hold free text."""
    names = (*policy.having("neutral"), *policy.sensitive)
    return frozenset(name for name in names if name in table.attributes and _is_free(table[name], table))


def free_texts(names: frozenset[str], table: Table, policy: Policy) -> Iterator[Doubt]:
    """A doubt for every attribute with free text, in the order of the policy."""
    for name in (name for name in policy.attributes if name in names):
        what = f"it is free text ({table[name].n_values:,} different ones in {table.n_people:,} rows), "
        what += "which is published word for word and may name anybody."
        yield Doubt("free-text", (name,), what, REMEDY)


def _is_free(attribute: Attribute, table: Table) -> bool:
    if attribute.domain.dtype != pl.String or attribute.n_values <= MOSTLY_DIFFERENT * table.n_people:
        return False
    texts = attribute.domain.drop_nulls().head(LOOKED_AT)
    if not len(texts):
        return False
    n_characters = int(texts.str.len_chars().sum())
    n_words = int(texts.str.split(" ").list.len().sum())
    return n_characters > LONG * len(texts) or n_words >= MANY_WORDS * len(texts)
