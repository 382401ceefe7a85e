"""What adversaries can do with a release, tried on it: never through the method that made it.

One file per attack; `score` compares with guessing and with people who were not in the data.
"""

from collections.abc import Callable, Sequence

from manyveils.attacks.agreement import refuse_strange
from manyveils.attacks.outcome import Attacks, Outcome
from manyveils.attacks.registry import ATTACKS
from manyveils.attacks.scene import Scene
from manyveils.errors import InputError, Problem
from manyveils.policy import Policy
from manyveils.reading import beside
from manyveils.release import Release
from manyveils.table import Streams, Table

__all__ = ["ATTACKS", "Attacks", "Outcome", "Scene", "attack"]

Progress = Callable[[str, float], None]


def attack(
    release: Release,
    table: Table,
    policy: Policy,
    *,
    only: Sequence[str] | None = None,
    others: Sequence[Release] = (),
    control: Table | None = None,
    streams: Streams | None = None,
    progress: Progress = lambda stage, share: None,
) -> Attacks:
    """Try all attacks on a release, or some; nothing is written anywhere."""
    names = _named(only)
    release, *others = (beside(published, table) for published in (release, *others))
    refuse_strange(_by_place(release, others), table)
    scene = Scene(release, table, policy, tuple(others), control, streams or Streams())
    found = {}
    for place, name in enumerate(names):
        progress("attacks", place / len(names))
        progress(name, 0.0)
        found[name] = ATTACKS[name](scene)
        progress(name, 1.0)
    progress("attacks", 1.0)
    return Attacks(release.manifest.method, found)


def _by_place(release: Release, others: Sequence[Release]) -> dict[str, Release]:
    return {"release": release} | {f"other {place + 1}": each for place, each in enumerate(others)}


def _named(only: Sequence[str] | None) -> tuple[str, ...]:
    if only is None or not len(only):
        return tuple(ATTACKS)
    asked = (only,) if isinstance(only, str) else tuple(only)
    unknown = [name for name in asked if name not in ATTACKS]
    if unknown:
        raise InputError(
            [
                Problem("only", f"there is no attack {name!r}.", f"There are {', '.join(ATTACKS)}.")
                for name in unknown
            ]
        )
    return tuple(name for name in ATTACKS if name in asked)
