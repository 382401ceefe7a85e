"""A release drawn in numbers: sizes of groups, shares of values and associations, with the original or without."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from manyveils.policy import Policy
from manyveils.reading.cover import Ids
from manyveils.reading.secrets import without_secrets
from manyveils.release import Release
from manyveils.table import Table
from manyveils.utility.comparison import Comparison, Sizes, group_sizes
from manyveils.utility.portrait import values
from manyveils.utility.portrait.groups import some_rows, telling_groups
from manyveils.utility.portrait.values import Shown

# A picture of more cannot be read, and each takes time.
MOST_ATTRIBUTES = 16
MOST_SHARES = 24
# Weaker associations are hardly there.
FAINT = 0.05
# Groups are counted size by size if their sizes differ by less than this, and otherwise between these edges.
FEW_SIZES = 12
EDGES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True, repr=False)
class Portrait:
    """Sizes of groups by view, shares of values by attribute, associations between attributes.

    `before` is the original, `after` what the release lets one estimate; a public portrait has no `before`.
    `left_out` says how many attributes there was no room for; `telling` has the groups that tell most of whoever stands
    in them, for the owner alone, and `rows` some rows, before and after.
    """

    group_sizes: Sequence[Shown]
    shares: Mapping[str, Shown]
    associations: Shown
    left_out: Mapping[str, int]
    telling: Sequence[Shown]
    rows: Sequence[Shown]

    def describe(self) -> Shown:
        """The portrait as plain values for JSON."""
        return asdict(self)

    def __repr__(self) -> str:
        return f"<Portrait: {len(self.group_sizes)} views, {len(self.shares)} attributes>"


def portrait(release: Release, table: Table, policy: Policy) -> Portrait:
    """Draw a release beside the original; secret attributes, which nobody can compare, are left out."""
    release, table = without_secrets(release, table)
    comparison = Comparison(release, table, policy)
    seen = release.reading.estimate.domains.keys() & table.attributes.keys()
    published = [name for name in policy.published if set(table.expand((name,))) <= seen]
    protected = {table.home(name) for name in comparison.protected}
    hidden = [name for name in published if name in protected]
    return Portrait(
        _drawn_groups(comparison.groups, counts_people=comparison.counts_people),
        {
            name: values.shares_compared(release, [table[derived] for derived in table.expand((name,))], name)
            for name in hidden[:MOST_SHARES]
        },
        values.associations_compared(release, table, _first_of(published, protected, {*comparison.quasi})),
        _left_out(hidden, published),
        telling_groups(release, comparison),
        some_rows(release, table, published),
    )


def relations_kept(release: Release, table: Table, policy: Policy) -> float | None:
    """The share of the associations between attributes that the release keeps; None where the original has none.

    Associations that the release makes up are no gain, and those below `FAINT` in the original are none.
    """
    release, table = without_secrets(release, table)
    seen = release.reading.estimate.domains.keys() & table.attributes.keys()
    published = [name for name in policy.published if set(table.expand((name,))) <= seen]
    drawn = values.associations_compared(
        release, table, _first_of(published, {*policy.sensitive}, {*policy.quasi})
    )
    before, after = (
        np.triu(np.array(drawn[side]).reshape(-1, len(published[:MOST_ATTRIBUTES])), 1)
        for side in ("before", "after")
    )
    is_there = before >= FAINT
    if not is_there.any():
        return None
    return float(np.minimum(before, after)[is_there].sum() / before[is_there].sum())


def public_portrait(release: Release) -> Portrait:
    """Draw a release by itself, as anybody could: nothing here has been compared with the original."""
    derived, secret = release.manifest.derived, {*release.manifest.secret}
    promised = {name for promise in release.manifest.promises for name in _protected_by(promise)}
    protected = frozenset(name for home in promised for name in derived.get(home, (home,)))
    unnamed = {name for names in derived.values() for name in names} | secret
    plain = [name for name in release.reading.estimate.domains if name not in unnamed]
    whole = [home for home, names in derived.items() if not secret & {home, *names}]
    shown = [name for name in (*plain, *whole) if name in promised]
    groups = {
        view.name: group_sizes(release, view, frozenset(view.attributes), protected) for view in release.views
    }
    return Portrait(
        _drawn_groups(groups),
        {name: values.shares_alone(release, name) for name in shown[:MOST_SHARES]},
        values.associations_alone(release, _first_of(plain, protected)),
        _left_out(shown, plain),
        (),
        some_rows(release, None),
    )


def _protected_by(promise: Mapping[str, object]) -> Iterator[str]:
    if "attribute" in promise:
        yield str(promise["attribute"])
    yield from promise.get("attributes", ())  # type: ignore[misc]
    rule = promise.get("rule")
    if isinstance(rule, Mapping):
        yield str(rule["protect"])


def _first_of(names: Sequence[str], *kinds: set[str] | frozenset[str]) -> list[str]:
    """As many names as a heat map has room for, those of the first kinds first, in their own order."""

    def rank(name: str) -> int:
        return next((rank for rank, kind in enumerate(kinds) if name in kind), len(kinds))

    chosen = {*sorted(names, key=rank)[:MOST_ATTRIBUTES]}
    return [name for name in names if name in chosen]


def _left_out(hidden: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    return {
        "shares": max(len(hidden) - MOST_SHARES, 0),
        "associations": max(len(names) - MOST_ATTRIBUTES, 0),
    }


def _drawn_groups(groups: Mapping[str, Sizes], *, counts_people: bool = False) -> list[Shown]:
    """The groups of every view; of its columns, those of the column with the smallest group.

    `counts` says that sizes are of people and not of rows, and is left out where they are the same.
    """
    counts = {"counts": "people"} if counts_people else {}
    return [
        sized(view, min(columns, key=lambda sizes: min(sizes, default=0))) | counts
        for view, columns in groups.items()
        if columns
    ]


def sized(view: str, sizes: Ids) -> Shown:
    """The smallest, the middle and the largest group of a view, and the groups and rows in bands of size.

    >>> groups = sized("main", np.array([4, 4, 17]))
    >>> groups["smallest"], groups["largest"], groups["bands"][0]
    (4, 17, {'low': 3, 'high': 4, 'groups': 2, 'rows': 8})
    """
    ordered = np.sort(sizes)
    return {
        "view": view,
        "groups": int(ordered.size),
        "rows": int(ordered.sum()),
        "smallest": int(ordered[0]) if ordered.size else 0,
        "median": float(np.median(ordered)) if ordered.size else 0.0,
        "largest": int(ordered[-1]) if ordered.size else 0,
        "bands": list(_bands(ordered)),
    }


def _bands(sizes: Ids) -> Iterator[dict[str, int]]:
    """Bands of one size where there is room for that, and of growing width otherwise."""
    if not sizes.size:
        return
    smallest, largest = int(sizes[0]), int(sizes[-1])
    few = largest - smallest < FEW_SIZES
    edges = range(smallest, largest + 2) if few else (*EDGES, largest + 1)
    bands = np.searchsorted(edges, sizes, side="right") - 1
    for band in range(int(bands[0]), int(bands[-1]) + 1):
        inside = sizes[bands == band]
        yield {
            "low": int(edges[band]),
            "high": int(edges[band + 1]) - 1,
            "groups": int(inside.size),
            "rows": int(inside.sum()),
        }
