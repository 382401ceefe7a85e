"""Every attack by name; a new one is a file of its own and a line here."""

from collections.abc import Callable

from manyveils.attacks import (
    alias_frequency,
    background_join,
    de_finetti,
    dependency,
    divergence,
    elimination,
    homogeneity,
    intersection,
    known_pairs,
    linkage,
    membership,
    minimality,
    proximity,
    sequential,
    similarity,
    skewness,
)
from manyveils.attacks.outcome import Outcome
from manyveils.attacks.scene import Scene

Attack = Callable[[Scene], Outcome]

ATTACKS: dict[str, Attack] = {
    module.NAME: module.attack
    for module in (
        linkage,
        homogeneity,
        skewness,
        similarity,
        elimination,
        background_join,
        intersection,
        proximity,
        divergence,
        membership,
        minimality,
        de_finetti,
        dependency,
        alias_frequency,
        known_pairs,
        sequential,
    )
}
