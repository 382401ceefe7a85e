"""Downcoding: Cohen's construction at growing sizes, and what it recovers of Adult."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

import manyveils as mv
from benchmarks import adult
from benchmarks.reproductions.table import counted, markdown

K, D, RARE, SEED = 5, 12, 1 / 60, 1
CLUSTERS = (40, 160, 640)
TREE = {"A": ["a", "a'"], "B": ["b", "b'"]}
LOCAL = {"method": "generalize", "recoding": "mondrian", "labels": "hierarchy"}
QUASI = ("age", "sex", "race", "marital-status", "education")


def clustered(n_clusters: int, seed: int = SEED) -> pl.DataFrame:
    """Clusters of k to 2k - 1 rows around a centre; few cells have the rare value beside the centre's.

    A least recoding makes a group of every cluster, and generalizes a cell only where somebody has the rare value.
    """
    rng = np.random.default_rng(seed)
    place = np.repeat(np.arange(n_clusters), rng.integers(K, 2 * K, n_clusters))
    centres = rng.choice(["a", "b"], (n_clusters, D))[place]
    cells = np.where(rng.random(centres.shape) < RARE, np.char.add(centres, "'"), centres)
    columns = {f"q{number}": cells[:, number] for number in range(D)}
    return pl.DataFrame({"place": place, **columns, "ill": rng.choice(["flu", "cold"], place.size)})


def policy(**publish: Any) -> mv.Policy:
    """Places are numbers, the other quasi-identifiers have a hierarchy of two branches."""
    known = {f"q{number}": {"role": "quasi", "hierarchy": {"tree": TREE}} for number in range(D)}
    roles = {"place": {"role": "quasi", "kind": "numeric"}, **known, "ill": {"role": "sensitive"}}
    return mv.Policy(attributes=roles, guarantee={"k": K}, publish=publish)


def downcoded(frame: pl.DataFrame, asked: mv.Policy) -> mv.Outcome:
    """What the attack achieves on a release."""
    return mv.attack(mv.publish(frame, asked, seed=SEED), frame, asked, only=["downcoding"], seed=SEED)[
        "downcoding"
    ]


def construction() -> str:
    """The share of hidden records written exactly, at growing sizes."""
    ways: dict[str, dict[str, Any]] = {
        "generalize, Mondrian with labels": LOCAL,
        "generalize, full-domain": {"method": "generalize"},
        "slice": {"method": "slice"},
        "separate": {"method": "separate"},
    }
    return markdown(
        ("rows", "release", "records hidden", "written exactly", "by drawing values"),
        (
            (counted(frame.height), name, *_told(downcoded(frame, policy(**publish))))
            for frame in map(clustered, CLUSTERS)
            for name, publish in ways.items()
        ),
    )


def on_adult() -> str:
    """The same on Adult with ARX's hierarchies, k = 5."""
    return markdown(("release", "records hidden", "written exactly", "by drawing values"), _on_adult())


def _on_adult() -> Iterator[tuple[str, ...]]:
    frame = adult.read().select(*QUASI, "occupation")
    ways: dict[str, dict[str, Any]] = {
        "generalize, full-domain": {"method": "generalize", "suppression": 0.02},
        "generalize, Mondrian with labels": LOCAL,
        "generalize, Mondrian with ranges and sets": {
            "method": "generalize",
            "recoding": "mondrian",
            "labels": "sets",
        },
        "angelize": {"method": "angelize", "labels": "sets"},
        "slice": {"method": "slice", "column_k": 5},
        "separate": {"method": "separate"},
    }
    for name, publish in ways.items():
        roles = adult.policy(QUASI, {"k": K}, publish, {"occupation": {}})
        asked = mv.Policy(
            attributes={
                one: roles.attributes[one].model_dump(by_alias=True, exclude_unset=True)
                for one in frame.columns
            },
            guarantee={"k": K},
            publish=publish,
        )
        yield name, *_told(downcoded(frame, asked))


def _told(found: mv.Outcome) -> tuple[str, ...]:
    if not found.applies:
        return "none", "–", "–"
    return counted(found.targets), f"{found.success:.1%}", f"{found.baseline:.1%}"
