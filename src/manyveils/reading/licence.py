"""What a method may claim of its release, and a release without the claims that are not its method's."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from manyveils.policy import Policy
from manyveils.release import Release, View
from manyveils.table import Table


@dataclass(frozen=True)
class Licence:
    """Whether the views of the policy's method may enforce rules, and whether its labels may be secret."""

    enforces: bool = False
    secret: bool = False


class Licensed(NamedTuple):
    """A release with nothing but licensed claims, and how many others it made."""

    release: Release
    n_refused: int


def licensed(release: Release, table: Table, policy: Policy, licence: Licence) -> Licensed:
    """Leave out what the manifest claims without a licence: it would change how promises are judged.

    Only sensitive attributes can be secret, and a view enforces rules about what it shows.
    """
    allowed = set(table.expand(policy.sensitive)) if licence.secret else set()
    secret = tuple(name for name in release.manifest.secret if name in allowed)
    views = tuple(
        view if licence.enforces and _shows_protected(view, table) else replace(view, enforces=None)
        for view in release.views
    )
    n_refused = len(release.manifest.secret) - len(secret)
    n_refused += sum(before != after for before, after in zip(release.views, views, strict=True))
    if not n_refused:
        return Licensed(release, 0)
    manifest = replace(release.manifest, secret=secret, views=views)
    weights, placements = release.weights, release.placements
    believed = Release(manifest, release.frames, release.recodings, weights=weights, placements=placements)
    return Licensed(believed, n_refused)


def _shows_protected(view: View, table: Table) -> bool:
    protected = table.expand((view.enforces["protect"],)) if view.enforces else ()
    return not {*protected}.isdisjoint(view.attributes)
