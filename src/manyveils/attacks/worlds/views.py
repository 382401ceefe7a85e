"""The views of a release that a question needs: those that shared attributes join, without those that tell nothing."""

from collections.abc import Sequence
from dataclasses import replace

from manyveils.reading.columns import part_of
from manyveils.reading.views import PublishedView
from manyveils.release import Release


def whole_views(release: Release) -> tuple[PublishedView, ...]:
    """The views of a release, with an attribute that stands in several columns in each of them."""
    estimate = release.reading.estimate
    views = []
    for published, view in zip(release.views, estimate.shapes, strict=True):
        if len(view.attributes) < sum(len(file.attributes) for file in published.files):
            columns = [
                part_of(release, published, file, estimate.domains, file.attributes)
                for file in published.files
            ]
            view = replace(view, parts=tuple(columns))
        views.append(view)
    return tuple(views)


def linked(views: Sequence[PublishedView]) -> list[list[PublishedView]]:
    """The views in groups that share no attribute with each other; inside a group a chain of shared ones joins all."""
    groups: list[list[PublishedView]] = []
    for view in views:
        near = [group for group in groups if {*view.attributes} & _attributes(group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(member for group in near for member in group), view])
    return groups


def _attributes(views: Sequence[PublishedView]) -> set[str]:
    return {name for view in views for name in view.attributes}


def telling(views: Sequence[PublishedView], question: Sequence[str], n_people: int) -> list[PublishedView]:
    """The views without those that change nothing about what is asked.

    Claim: beliefs, what is certain and what is impossible are the same without them.
    Why: such a view shares with the others only attributes that stand as they are in one column of it, and in one
    column of another view. Both then fix how many people have each combination of them, the same in every world; so
    every world of the others goes with equally many ways to stand in this view, and nothing else in it is asked about.
    Tested by: tests/attacks/test_worlds.py
    """
    left = list(views)
    for view in sorted(views, key=lambda view: len(view.attributes)):
        rest = [member for member in left if member is not view]
        if rest and _changes_nothing(view, rest, question, n_people):
            left = rest
    return left


def _changes_nothing(
    view: PublishedView, rest: Sequence[PublishedView], question: Sequence[str], n_people: int
) -> bool:
    shared = {*view.attributes} & _attributes(rest)
    if not shared or not {*question} & {*view.attributes} <= shared:
        return False
    return _fixes(view, shared, n_people) and any(_fixes(member, shared, n_people) for member in rest)


def _fixes(view: PublishedView, names: set[str], n_people: int) -> bool:
    """Whether a view shows some attributes of everybody as they are, in one column and nowhere else in it."""
    showing = [column for column in view.parts if names & {*column.attributes}]
    if view.n_rows != n_people or len(showing) != 1 or not names <= {*showing[0].attributes}:
        return False
    return not any(showing[0].spreads[name].is_coarse for name in names)
