"""SLOMS, SLAMSA and KC-slice as configurations of ours, on Adult and on Census-Income with several sensitive attributes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks.reproductions import census, occ
from benchmarks.reproductions.table import markdown

SEED, ROWS = 1, 20_000
ATTACKS = ("homogeneity", "background-join", "fingerprint", "membership")
Columns = Sequence[Sequence[str]]


@dataclass(frozen=True, repr=False)
class Setting:
    """A table, its quasi-identifiers, and its sensitive attributes in clusters that belong together."""

    name: str
    frame: pl.DataFrame
    quasi: tuple[str, ...]
    clusters: tuple[tuple[str, ...], ...]

    @property
    def sensitive(self) -> tuple[str, ...]:
        """All sensitive attributes."""
        return tuple(chain.from_iterable(self.clusters))

    def policy(self, guarantee: Mapping[str, Any], publish: Mapping[str, Any]) -> mv.Policy:
        """The roles with a guarantee and keys of [publish]."""
        roles: dict[str, Any] = {name: {"role": "quasi"} for name in self.quasi}
        roles["age"]["kind"] = "numeric"
        roles |= {name: {"role": "sensitive"} for name in self.sensitive}
        return mv.Policy(attributes=roles, guarantee=dict(guarantee), publish=dict(publish))


def settings() -> Iterator[Setting]:
    """Adult and Census-Income, as far as they are here; rows are drawn with a fixed seed."""
    if occ.is_here():
        clusters = (("workclass", "occupation"), ("education", "relationship"))
        quasi = ("age", "race", "sex", "marital-status")
        frame = occ.read((*quasi, *chain.from_iterable(clusters)))
        yield Setting("Adult", frame.sample(ROWS, seed=SEED), quasi, clusters)
    if census.is_here():
        clusters = (
            ("worker_class", "industry", "occupation"),
            ("education",),
            ("employment_status",),
        )
        frame = census.read().select(*census.QUASI, *chain.from_iterable(clusters))
        yield Setting("Census-Income", frame.sample(ROWS, seed=SEED), census.QUASI, clusters)


def recipes(setting: Setting) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Each method of the literature as a guarantee and keys of [publish]; docs/howto/slicing-recipes.md explains them."""
    clusters, each = [list(one) for one in setting.clusters], [[name] for name in setting.sensitive]
    half = len(setting.quasi) // 2
    parted = [list(setting.quasi[:half]), list(setting.quasi[half:])]
    return {
        "anatomize": ({"k": 5, "l": 3}, {"method": "anatomize"}),
        "SLOMS": ({"l": 3}, {"method": "angelize", "group_k": 5, "link": clusters}),
        "SLAMSA": ({"l": 3}, {"method": "slice", "columns": [*parted, *each], "column_k": 5}),
        "KC-slice": (
            {"k": 5, "l": 3, "alpha": 0.8},
            {"method": "slice", "columns": [list(setting.quasi), *each]},
        ),
        "generalize": ({"k": 5, "l": 3}, {"method": "generalize", "recoding": "mondrian"}),
    }


def table() -> str:
    """One line for each table and recipe."""
    headings = (
        "table",
        "recipe",
        "buckets",
        "error of counts",
        "KL",
        "rows singled out",
        *(f"{name}, right" for name in ATTACKS),
    )
    return markdown(headings, _lines())


def _lines() -> Iterator[tuple[object, ...]]:
    for setting in settings():
        for name, (guarantee, publish) in recipes(setting).items():
            policy = setting.policy(guarantee, publish)
            try:
                release = mv.publish(setting.frame, policy, seed=SEED)
            except mv.InfeasibleError:
                yield setting.name, name, "refused", *["–"] * (3 + len(ATTACKS))
                continue
            told = mv.measure(release, setting.frame, policy)
            found = mv.attack(release, setting.frame, policy, only=ATTACKS, seed=SEED)
            shares = (f"{found[one].success:.1%}" if found[one].applies else "–" for one in ATTACKS)
            buckets = release.notes.get("buckets", release.notes.get("groups", ""))
            yield (
                setting.name,
                name,
                buckets,
                f"{told['query_error']:.3f}",
                f"{told['kl']:.2f}",
                f"{told['singled_out']:.1%}",
                *shares,
            )
