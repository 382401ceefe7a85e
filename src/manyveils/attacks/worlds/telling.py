"""Which views tell something about a question; the others need not be put together with them."""

from collections.abc import Mapping, Sequence

from manyveils.reading.columns import part_of
from manyveils.reading.domains import Domain
from manyveils.release import Release, View


def telling(
    release: Release, views: Sequence[View], asked: Sequence[str], domains: Mapping[str, Domain]
) -> list[View]:
    """The views without those that change nothing about what is asked.

    Claim: beliefs, what is certain and what is impossible are the same without them.
    Why: such a view shares with the others only attributes that stand as they are in one column of it, and in one
    column of another view. Both then fix how many people have each combination of them, the same in every world; so
    every world of the others goes with equally many ways to stand in this view, and nothing else in it is asked about.
    Tested by: tests/attacks/test_worlds.py
    """
    left = list(views)
    for view in sorted(views, key=lambda each: len(each.attributes)):
        others = [each for each in left if each is not view]
        if others and _changes_nothing(release, view, others, asked, domains):
            left = others
    return left


def _changes_nothing(
    release: Release, view: View, others: Sequence[View], asked: Sequence[str], domains: Mapping[str, Domain]
) -> bool:
    shared = {*view.attributes} & {name for other in others for name in other.attributes}
    if not shared or not {*asked} & {*view.attributes} <= shared:
        return False
    return _fixes(release, view, shared, domains) and any(
        _fixes(release, other, shared, domains) for other in others
    )


def _fixes(release: Release, view: View, names: set[str], domains: Mapping[str, Domain]) -> bool:
    """Whether a view shows some attributes of everybody as they are, in one column and nowhere else in it."""
    if view.rows != release.rows:
        return False
    showing = [file for file in view.files if names & {*file.attributes}]
    if len(showing) != 1 or not names <= {*showing[0].attributes}:
        return False
    part = part_of(release, view, showing[0], domains, tuple(sorted(names)))
    return not any(spread.is_coarse for spread in part.spreads.values())
