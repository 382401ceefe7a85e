"""A release drawn in numbers: its groups, the shares of its values and what goes with what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.release.secrets import without_secrets
from manyveils.table import Table
from manyveils.utility.comparison import Comparison
from manyveils.utility.groups import group_sizes
from manyveils.utility.portrait import associations, shares
from manyveils.utility.portrait.shares import Shown
from manyveils.utility.portrait.sizes import sized

MOST_ATTRIBUTES = 16


@dataclass(frozen=True, repr=False)
class Portrait:
    """Sizes of groups by view, shares of values by attribute, associations between attributes.

    `before` is the original, `after` what the release lets one estimate; a public portrait has no `before`.
    """

    group_sizes: Sequence[Shown]
    shares: Mapping[str, Shown]
    associations: Shown

    def describe(self) -> Shown:
        """The portrait as plain values for JSON."""
        return {
            "group_sizes": list(self.group_sizes),
            "shares": dict(self.shares),
            "associations": self.associations,
        }

    def __repr__(self) -> str:
        return f"<Portrait: {len(self.group_sizes)} views, {len(self.shares)} attributes>"


def portrait(release: Release, table: Table, policy: Policy) -> Portrait:
    """Draw a release beside the original; secret columns, which nobody can compare, are left out."""
    release, table = without_secrets(release, table)
    comparison = Comparison(release, table, policy)
    seen = release.reading.estimate.domains.keys() & table.columns.keys()
    homes = [name for name in policy.published if set(table.expand((name,))) <= seen]
    protected = {table.home(name) for name in comparison.protected}
    return Portrait(
        [sized(view, sizes) for view, sizes in _grouped(comparison)],
        {
            name: shares.compared(release, [table[each] for each in table.expand((name,))], name)
            for name in homes
            if name in protected
        },
        associations.compared(release, table, homes[:MOST_ATTRIBUTES]),
    )


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
    hidden = {name for parts in derived.values() for name in parts} | {*release.manifest.secret}
    plain = [name for name in release.reading.estimate.domains if name not in hidden]
    sizes = {
        view.name: group_sizes(release, view, frozenset(view.attributes) - protected, protected)
        for view in release.views
    }
    return Portrait(
        [sized(view, _finest(found)) for view, found in sizes.items() if found],
        {name: shares.alone(release, name) for name in plain if name in protected}
        | {home: shares.alone_by_atom(release, home) for home in derived if home in asked},
        associations.alone(release, plain[:MOST_ATTRIBUTES]),
    )


def _protected_by(promise: Mapping[str, object]) -> Iterator[str]:
    if "attribute" in promise:
        yield str(promise["attribute"])
    yield from promise.get("attributes", ())  # type: ignore[misc]
    rule = promise.get("rule")
    if isinstance(rule, Mapping):
        yield str(rule["protect"])
