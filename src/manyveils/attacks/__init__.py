"""What adversaries can do with a release, tried on it: never through the method that made it.

One file per idea; `score` compares with guessing and with people who were not in the data.
A new attack is a function of a scene, and its name in `ATTACKS`; other packages bring theirs by entry points.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from manyveils import plugins
from manyveils.attacks import (
    de_finetti,
    dependency,
    downcoding,
    finding,
    grades,
    groups,
    knowledge,
    minimality,
    secrets,
    sequential,
    several,
)
from manyveils.attacks.adversaries import Reader
from manyveils.attacks.outcome import Attacks, Outcome
from manyveils.attacks.scene import Scene
from manyveils.errors import InputError, Problem
from manyveils.policy import Policy
from manyveils.policy.hierarchies import TOP
from manyveils.reading import beside
from manyveils.release import Release
from manyveils.table import Streams, Table

__all__ = ["ATTACKS", "Attacks", "Outcome", "Scene", "attack", "attack_names"]

ATTACKS: dict[str, Callable[[Scene], Outcome]] = {
    "linkage": finding.linkage,
    "downcoding": downcoding.downcoding,
    "homogeneity": groups.homogeneity,
    "skewness": groups.skewness,
    "similarity": groups.similarity,
    "elimination": knowledge.elimination,
    "background-join": knowledge.background_join,
    "fingerprint": knowledge.fingerprint,
    "intersection": several.intersection,
    "proximity": groups.proximity,
    "divergence": groups.divergence,
    "membership": finding.membership,
    "minimality": minimality.attack,
    "de-finetti": de_finetti.attack,
    "dependency": dependency.attack,
    "alias-frequency": secrets.alias_frequency,
    "known-pairs": secrets.known_pairs,
    "counting-grades": grades.counting_grades,
    "quantile-matching": grades.quantile_matching,
    "sequential": sequential.sequential,
}
# They take codes and grades for what they are; others open them.
OF_WHAT_IS_OPEN = frozenset(
    {
        "homogeneity",
        "skewness",
        "similarity",
        "proximity",
        "divergence",
        "elimination",
        "background-join",
        "fingerprint",
    }
)
REMEDY = "Give the data that the release was made from."

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
    """Try all attacks on a release, or some; nothing is written anywhere.

    `others` are more releases of the same people; the earlier ones of a chain, whose ledgers the table was put beside,
    come last, oldest first.
    """
    names = _named(only)
    release, *others = (beside(published, table) for published in (release, *others))
    # Whether releases of a chain are of the same people its ledgers tell, whatever values have come and gone.
    apart = others if table.earlier is None else others[: -table.earlier.n_releases or None]
    releases = {"release": release} | {f"other {number}": more for number, more in enumerate(apart, 1)}
    # On releases of other data attacks would find nothing.
    problems = [
        problem for where, own in releases.items() for problem in _problems(where, own, table, policy)
    ]
    if problems:
        raise InputError(dict.fromkeys(problems))
    scene = Scene(release, table, policy, tuple(others), control, streams or Streams())
    outcomes = {}
    for index, name in enumerate(names):
        progress("attacks", index / len(names))
        progress(name, 0.0)
        outcomes[name] = _with_unread(name, _attack_of(name)(scene), scene)
        progress(name, 1.0)
    progress("attacks", 1.0)
    return Attacks(release.manifest.method, outcomes)


def _with_unread(name: str, outcome: Outcome, scene: Scene) -> Outcome:
    """The outcome, and of attacks that read what is in the open, which attributes they leave unread."""
    unread = tuple(secret for secret in scene.release.manifest.secret if secret in scene.sensitive)
    return replace(outcome, unread=unread) if name in OF_WHAT_IS_OPEN else outcome


def _named(only: Sequence[str] | None) -> tuple[str, ...]:
    if only is None or not len(only):
        return attack_names()
    wanted = (only,) if isinstance(only, str) else tuple(only)
    known = attack_names()
    there_are = f"There are {', '.join(known)}."
    unknown = [
        Problem("only", f"there is no attack {name!r}.", there_are) for name in wanted if name not in known
    ]
    if unknown:
        raise InputError(unknown)
    return tuple(name for name in known if name in wanted)


def attack_names() -> tuple[str, ...]:
    """The names of all attacks: ours, and those that other packages bring along."""
    return (*ATTACKS, *plugins.installed(plugins.ATTACKS, ATTACKS))


def _attack_of(name: str) -> Callable[[Scene], Outcome]:
    if name in ATTACKS:
        return ATTACKS[name]
    entry = plugins.installed(plugins.ATTACKS, ATTACKS)[name]
    brought: Callable[[Scene], Outcome] = plugins.loaded(entry, callable, "a function of a scene")
    return brought


def _problems(where: str, release: Release, table: Table, policy: Policy) -> Iterator[Problem]:
    """Whether a release shares no attribute with the data, or no value of one."""
    reader = Reader(release, table, policy)
    if not reader.published:
        yield Problem(where, "it has no attribute in common with the data.", REMEDY)
    domains = release.reading.estimate.domains
    for name in sorted(reader.readable):
        is_shown = domains[name].texts not in ((), (TOP,))
        if is_shown and table[name].n_values and (reader.places[name] < 0).all():
            # The name of a derived attribute holds a value of the data, so the attribute it comes from is named.
            yield Problem(f"{where}: {table.home(name)}", "no value of the data stands in it.", REMEDY)
