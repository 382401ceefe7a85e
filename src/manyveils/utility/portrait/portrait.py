"""A release drawn in numbers: its groups, the shares of its values and what goes with what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from manyveils.policy import Policy
from manyveils.reading.secrets import without_secrets
from manyveils.release import Release
from manyveils.table import Table
from manyveils.utility.comparison import Comparison
from manyveils.utility.groups import group_sizes
from manyveils.utility.portrait import associations, shares
from manyveils.utility.portrait.shares import Shown
from manyveils.utility.portrait.sizes import sized

# A picture of more cannot be read, and each takes time.
MOST_ATTRIBUTES = 16
MOST_SHARES = 24


@dataclass(frozen=True, repr=False)
class Portrait:
    """Sizes of groups by view, shares of values by attribute, associations between attributes.

    `before` is the original, `after` what the release lets one estimate; a public portrait has no `before`.
    `left_out` says how many attributes there was no room for.
    """

    group_sizes: Sequence[Shown]
    shares: Mapping[str, Shown]
    associations: Shown
    left_out: Mapping[str, int]

    def describe(self) -> Shown:
        """The portrait as plain values for JSON."""
        return {
            "group_sizes": list(self.group_sizes),
            "shares": dict(self.shares),
            "associations": self.associations,
            "left_out": dict(self.left_out),
        }

    def __repr__(self) -> str:
        return f"<Portrait: {len(self.group_sizes)} views, {len(self.shares)} attributes>"


def portrait(release: Release, table: Table, policy: Policy) -> Portrait:
    """Draw a release beside the original; secret columns, which nobody can compare, are left out."""
    release, table = without_secrets(release, table)
    comparison = Comparison(release, table, policy)
    seen = release.reading.estimate.domains.keys() & table.attributes.keys()
    homes = [name for name in policy.published if set(table.expand((name,))) <= seen]
    protected = {table.home(name) for name in comparison.protected}
    hidden = [name for name in homes if name in protected]
    chosen = _weightiest(homes, protected, {*comparison.quasi})
    return Portrait(
        [sized(view, sizes) for view, sizes in _grouped(comparison)],
        {
            name: shares.compared(release, [table[each] for each in table.expand((name,))], name)
            for name in hidden[:MOST_SHARES]
        },
        associations.compared(release, table, chosen),
        _left_out(hidden, homes),
    )


def _weightiest(names: Sequence[str], *kinds: set[str] | frozenset[str]) -> list[str]:
    """As many names as a heat map has room for, those of the first kinds first, in their own order."""
    ranked = sorted(
        names, key=lambda name: next((n for n, kind in enumerate(kinds) if name in kind), len(kinds))
    )
    kept = {*ranked[:MOST_ATTRIBUTES]}
    return [name for name in names if name in kept]


def _left_out(hidden: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    return {
        "shares": max(len(hidden) - MOST_SHARES, 0),
        "associations": max(len(names) - MOST_ATTRIBUTES, 0),
    }


def _grouped(comparison: Comparison) -> Iterator[tuple[str, pl.Series]]:
    holding = [view for view in comparison.release.views if comparison.protected & {*view.attributes}]
    for view, sizes in zip(holding or comparison.release.views, comparison.groups, strict=True):
        if sizes:
            yield view.name, _finest(sizes)


def _finest(sizes: Sequence[pl.Series]) -> pl.Series:
    """Of the columns of a view, the one with the smallest group."""
    return min(sizes, key=lambda each: int(each.min() or 0))  # type: ignore[arg-type]


def public_portrait(release: Release) -> Portrait:
    """Draw a release by itself, as anybody could: nothing here has been compared with the original."""
    derived = release.manifest.derived
    asked = {name for promise in release.manifest.promises for name in _protected_by(promise)}
    protected = frozenset(name for home in asked for name in derived.get(home, (home,)))
    secret = {*release.manifest.secret}
    hidden = {name for parts in derived.values() for name in parts} | secret
    plain = [name for name in release.reading.estimate.domains if name not in hidden]
    sizes = {
        view.name: group_sizes(release, view, frozenset(view.attributes) - protected, protected)
        for view in release.views
    }
    whole = [home for home, parts in derived.items() if not secret & {home, *parts}]
    shown = [name for name in (*plain, *whole) if name in asked]
    return Portrait(
        [sized(view, _finest(found)) for view, found in sizes.items() if found],
        {
            name: (shares.alone_by_atom if name in derived else shares.alone)(release, name)
            for name in shown[:MOST_SHARES]
        },
        associations.alone(release, _weightiest(plain, protected)),
        _left_out(shown, plain),
    )


def _protected_by(promise: Mapping[str, object]) -> Iterator[str]:
    if "attribute" in promise:
        yield str(promise["attribute"])
    yield from promise.get("attributes", ())  # type: ignore[misc]
    rule = promise.get("rule")
    if isinstance(rule, Mapping):
        yield str(rule["protect"])
