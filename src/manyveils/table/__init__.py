"""The table: attributes as dense integer codes with dictionaries, levels as arrays, reading, random streams."""

from dataclasses import replace

from manyveils.errors import DataError
from manyveils.policy.model import Policy
from manyveils.table.attributes import Attribute, Table
from manyveils.table.door import Restore, take_in
from manyveils.table.encode import encode
from manyveils.table.resolve import resolve
from manyveils.table.streams import Streams

__all__ = ["Attribute", "Restore", "Streams", "Table", "encode", "hold", "resolve", "take_in"]


def hold(data: object, policy: Policy) -> tuple[Table, Restore]:
    """Read and code the data (where the policy says, if none are given); also how to hand frames back."""
    source = policy.source if data is None else data
    if source is None:
        what = "data.source is not set and no data were given."
        raise DataError.at(policy.name, what, "Set it or give --data.")
    frame, restore = take_in(source, policy.data)
    table = encode(frame, policy)
    if policy.population.model_fields_set:
        from manyveils.table.population import population_of, refuse_unfit  # Few policies speak of one.

        refuse_unfit(policy, table)
        table = replace(table, population=population_of(policy, table))
    return table, restore
