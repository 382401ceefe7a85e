"""Angelization beside anatomy and generalization, on Adult: errors of counts, and who is shown to be there."""

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks.reproductions import occ
from benchmarks.reproductions.table import markdown

SEED = 1
SEVERAL = ("occupation", "education", "marital-status")
L = {"l": 5, "l_kind": "frequency"}
Ways = Mapping[str, tuple[dict[str, Any], dict[str, Any]]]


def ways(guarantee: dict[str, Any]) -> Ways:
    """Ways to publish: a guarantee, and keys of [publish]."""
    mondrian = {"method": "generalize", "recoding": "mondrian"}
    angelized = {
        f"angelize, group_k = {k}": (guarantee, {"method": "angelize", "group_k": k}) for k in (2, 3, 5, 10)
    }
    return {
        "anatomize": (guarantee, {"method": "anatomize"}),
        **angelized,
        "angelize, batches of groups": (guarantee, {"method": "angelize", "batches": "groups"}),
        "generalize, the same promise": (guarantee, mondrian),
        **{f"generalize, k = {k} alone": ({"k": k}, mondrian) for k in (2, 3, 5, 10)},
    }


def table(frame: pl.DataFrame) -> str:
    """One line for each way, with one sensitive attribute and with three."""
    headings = ("sensitive", "release", "error of counts", "against anatomize", "KL", "rows singled out", "members told from others", "likeliest value right")  # fmt: skip
    return markdown(headings, _lines(frame))


def _lines(frame: pl.DataFrame) -> Iterator[tuple[object, ...]]:
    for sensitive, guarantee in ((("occupation",), L), (SEVERAL, {"l": 3})):
        anatomized = None
        for name, (own, publish) in ways(guarantee).items():
            policy = policy_of(sensitive, own, publish)
            release = mv.publish(frame, policy, seed=SEED)
            told = mv.measure(release, frame, policy)
            found = mv.attack(release, frame, policy, only=["membership", "homogeneity"], seed=SEED)
            anatomized = anatomized or float(told["query_error"])
            yield (
                len(sensitive),
                name,
                f"{told['query_error']:.3f}",
                f"{told['query_error'] / anatomized:.2f}",
                f"{told['kl']:.2f}",
                f"{told['singled_out']:.1%}",
                f"{found['membership'].success:.1%}",
                f"{found['homogeneity'].success:.1%}",
            )


def policy_of(sensitive: tuple[str, ...], guarantee: dict[str, Any], publish: dict[str, Any]) -> mv.Policy:
    """OCC-7 with some attributes sensitive and the others known."""
    roles = {
        name: {
            "role": "sensitive" if name in sensitive else "quasi",
            **({"kind": "numeric"} if name == "age" else {}),
        }
        for name in occ.OCC7
    }
    return mv.Policy(attributes=roles, guarantee=guarantee, publish=publish)
