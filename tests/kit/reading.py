"""Groups of a release read in plain Python, and what the promises say of them: the independent third reading."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import Elimination, MarketerRisk
from manyveils.release import Release, View
from manyveils.table import Attribute, Table
from tests.kit.oracles import holds, leaks, mean_chance

Group = list[str]


def texts_of(release: Release, table_name: str, attribute: str) -> list[str]:
    """One published attribute as texts; a missing cell is empty."""
    return ["" if value is None else str(value) for value in release.frames[table_name][attribute].to_list()]


def groups_for(
    release: Release, view: View, known: tuple[str, ...], wanted: tuple[str, ...]
) -> dict[tuple[str, ...], list[Group]]:
    """The values of the wanted attributes in each group of a view, one list per row; empty if they are not there."""
    groups: dict[tuple[str, ...], list[Group]] = defaultdict(list)
    for file in view.files:
        if not set(wanted) <= set(file.attributes):
            continue
        names = (["bucket"] if view.bucketed else []) + [name for name in file.attributes if name in known]
        keys = zip(*(texts_of(release, file.table, name) for name in names), strict=True) if names else None
        values = list(zip(*(texts_of(release, file.table, name) for name in wanted), strict=True))
        for key, row in zip(keys, values, strict=True) if keys is not None else (((), row) for row in values):
            groups[tuple(key)].append(list(row))
    return groups


def broken_promises(
    release: Release, table: Table, policy: Policy, promises: tuple[Promise, ...]
) -> Iterator[str]:
    """Every promise that some group breaks, by the oracle."""
    sensitive = table.expand(policy.sensitive)
    for promise in promises:
        for view in release.views:
            if not promise.protects:
                yield from _small_groups(release, view, promise, sensitive)
                continue
            if isinstance(promise.guarantee, Elimination):
                yield from _leaking_groups(release, view, promise, promise.guarantee, table)
                continue
            others = tuple(
                name
                for name in sensitive
                if _attribute(name, policy) != _attribute(promise.protects[0], policy)
            )
            known = (*promise.given, *others) if promise.conditional else promise.given
            for group in groups_for(release, view, known, promise.protects).values():
                if not _keeps(promise, group, table):
                    yield f"{promise.guarantee.kind} of {promise.subject} in {view.name}"


def _small_groups(
    release: Release, view: View, promise: Promise, sensitive: tuple[str, ...]
) -> Iterator[str]:
    """Groups that are too small: of what is sensitive, or of what is known in a view without anything sensitive.

    A view of a single attribute that is not sensitive only lists frequencies.
    """
    shown = [name for name in view.attributes if name in sensitive]
    known = [name for name in view.attributes if name in promise.given and len(view.attributes) > 1]
    for wanted in shown or known:
        groups = groups_for(release, view, promise.given, (wanted,))
        if isinstance(promise.guarantee, MarketerRisk):
            if mean_chance([row[0] for row in group] for group in groups.values()) > promise.guarantee.risk:
                yield f"{promise.guarantee.kind} in {view.name}"
            continue
        for group in groups.values():
            if not holds(promise.guarantee, [row[0] for row in group], []):
                yield f"{promise.guarantee.kind} in {view.name}"


def _leaking_groups(
    release: Release, view: View, promise: Promise, guarantee: Elimination, table: Table
) -> Iterator[str]:
    """Groups in which ruling out values of other attributes in the same column leaves one value."""
    for file in view.files:
        if promise.protects[0] in file.attributes:
            others = [name for name in table.expand(guarantee.ruled_out) if name in file.attributes]
            rows = groups_for(release, view, promise.given, (*promise.protects, *others))
            meant = [_meant(release, view.name, name) for name in (*promise.protects, *others)]
            for cells in rows.values():
                group = [[m.get(cell, cell) for m, cell in zip(meant, row, strict=True)] for row in cells]
                bits = [place for place, name in enumerate(others, start=1) if table.atom(name) is not None]
                if leaks(group, guarantee.eliminations, promise.insensitive, bits):
                    yield f"{guarantee.kind} of {promise.subject} in {view.name}"


def _meant(release: Release, view: str, name: str) -> dict[str, str]:
    """The original of every label that stands for one only."""
    pairs = release.recodings.get((view, name))
    listed = defaultdict(list)
    for label, original in pairs.iter_rows() if pairs is not None else ():
        listed[label or ""].append(original or "")
    return {label: originals[0] for label, originals in listed.items() if len(originals) == 1}


def _attribute(column: str, policy: Policy) -> str:
    homes = [name for name in policy.attributes if column.startswith(f"{name}=")]
    return column if column in policy.attributes else max(homes, key=len)


def _keeps(promise: Promise, group: list[Group], table: Table) -> bool:
    columns = [table[name] for name in promise.protects]
    if len(columns) > 1:
        steps = [levels_of(column) for column in columns]
        heights = [min(promise.guarantee.level, max(len(own) - 2, 0)) for own in steps]
        steps_at = [own[height] for own, height in zip(steps, heights, strict=True)]
        group = [[step[cell] for step, cell in zip(steps_at, cells, strict=True)] for cells in group]
    joined = [" ".join(cells) for cells in group]
    rows = [" ".join(row) for row in zip(*(_cells(column) for column in columns), strict=True)]
    single = columns[0] if len(columns) == 1 else None
    return holds(
        promise.guarantee,
        joined,
        rows,
        insensitive=promise.insensitive,
        domain=list(single.texts) if single else sorted(set(rows)),
        levels=levels_of(single) if single else None,
    )


def _cells(column: Attribute) -> list[str]:
    return [column.texts[code] for code in column.codes.tolist()]


def levels_of(column: Attribute) -> list[dict[str, str]]:
    """The label of each value, level by level."""
    return [
        {text: level.labels[level.label_of[code]] for code, text in enumerate(column.texts)}
        for level in column.levels.each
    ]


def multiset(table: Table, name: str) -> Counter[str]:
    """How often each value of a column stands in the original."""
    return Counter(_cells(table[name]))
