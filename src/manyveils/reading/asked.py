"""Published labels in queries: a label means the originals that it covers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from manyveils.policy.hierarchies import TOP
from manyveils.reading.keys import ranges
from manyveils.reading.model import Estimate
from manyveils.reading.predicates import Condition

OF_VALUES = ("=", "!=", "in")


def in_originals(conditions: Sequence[Condition], estimate: Estimate) -> list[Condition]:
    """The conditions with originals in place of labels; a text that is an original too means that."""
    return [_in_originals(condition, estimate) for condition in conditions]


def _in_originals(condition: Condition, estimate: Estimate) -> Condition:
    if condition.sign not in OF_VALUES or condition.name not in estimate.domains:
        return condition
    values = [text for value in condition.values for text in _meant(condition.name, value, estimate)]
    return replace(condition, values=tuple(dict.fromkeys(values)))


def _meant(name: str, value: str, estimate: Estimate) -> Iterator[str]:
    domain = estimate.domains[name]
    if value == TOP or int(domain.codes_of([value])[0]) >= 0:
        yield value
        return
    for view in (view for view in estimate.views if name in view.attributes):
        column = view.column_of(name)
        labels = column.texts[name].to_list()
        if value in labels:
            cover, label = column.covers[name], labels.index(value)
            runs = slice(int(cover.starts[label]), int(cover.starts[label + 1]))
            codes = ranges(cover.low[runs], cover.high[runs] - cover.low[runs] + 1)
            yield from (domain.texts[code] for code in codes.tolist())
            return
    yield value
