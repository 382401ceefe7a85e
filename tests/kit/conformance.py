"""What every method must pass; a method plugs in with one line in `CONFIGURATIONS`."""

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl

from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy import Policy
from manyveils.policy.guarantees import exact
from manyveils.reading.secrets import as_published
from manyveils.release import Release
from manyveils.run import publish
from manyveils.table import hold, resolve
from tests.kit.reading import broken_promises, multiset, texts_of
from tests.kit.strategies import Case, attributes

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "full-domain, loss": {"method": "generalize"},
    "full-domain, discernibility": {"method": "generalize", "objective": "discernibility"},
    "full-domain, class size": {"method": "generalize", "objective": "class-size"},
    "mondrian, automatic labels": {"method": "generalize", "recoding": "mondrian"},
    "mondrian, sets, strict": {
        "method": "generalize",
        "recoding": "mondrian",
        "labels": "sets",
        "cuts": "strict",
    },
    "mondrian, hierarchy labels": {"method": "generalize", "recoding": "mondrian", "labels": "hierarchy"},
    "anatomize": {"method": "anatomize"},
    "angelize": {"method": "angelize", "group_k": 2},
    "angelize, batches of groups": {"method": "angelize", "batches": "groups", "labels": "sets"},
    "slice": {"method": "slice"},
    "slice, two columns, generalized": {"method": "slice", "columns": 2, "column_k": 2},
    "codip": {"method": "codip"},
    "codip, optimal, mondrian": {"method": "codip", "search": "optimal", "anonymizer": "mondrian", "beta": 1},
    "codip, patient, coarse at most": {
        "method": "codip",
        "search": "patient",
        "discernibility": 50_000,
        "beta": 1,
    },
    "guardian": {"method": "guardian"},
    "guardian, repaired": {"method": "guardian", "decompose": "gd"},
    "guardian, generalized": {"method": "guardian", "anonymizer": "generalize", "decompose": "gd"},
    "alpha-beta-k": {"method": "alpha-beta-k"},
    "alpha-beta-k, consecutive, strict": {
        "method": "alpha-beta-k",
        "pairs": "consecutive",
        "eliminations": 2,
        "cuts": "strict",
        "repair": "rule",
    },
    "grade": {"method": "grade"},
    "grade, then generalize": {"method": "grade", "then": "generalize", "categories": 2, "default_choice": 2},
    "grade, then anatomize": {"method": "grade", "then": "anatomize", "spacing": "quantile"},
    "multi-sa": {"method": "multi-sa"},
    "separate": {"method": "separate"},
}


def attempt(case: Case, *, seed: int = 1) -> Release | None:
    """Publish a case; nothing if the promise cannot be kept or contradicts the data."""
    try:
        return publish(case.frame, case.policy, seed=seed)
    except (InfeasibleError, PolicyError):
        return None


def check_promises(case: Case) -> None:
    """Every promise holds in every group by the oracle, or nothing is published."""
    release = attempt(case)
    if release is None:
        return
    policy = case.policy
    table = as_published(release, hold(case.frame, policy)[0])
    broken = list(broken_promises(release, table, policy, resolve(policy, table)))
    assert not broken, broken


def check_nothing_lost(case: Case) -> None:
    """Every unrecoded attribute keeps its multiset up to the declared suppression, within the limit."""
    release = attempt(case)
    if release is None:
        return
    policy = case.policy
    table, _ = hold(case.frame, policy)
    assert release.rows + release.suppressed == table.n_rows
    assert release.suppressed <= int(exact(policy.publish.suppression) * table.n_rows)
    published = {name for view in release.views for name in view.attributes}
    assert published == set(table.expand(policy.published))
    for view in release.views:
        for file in view.files:
            for name in file.attributes:
                if (view.name, name) not in release.recodings and name not in release.manifest.secret:
                    lost = multiset(table, name) - Counter(texts_of(release, file.table, name))
                    assert lost.total() == release.suppressed


def check_order_is_hidden(case: Case, shuffled: list[int]) -> None:
    """The same rows in another order, with other identifiers, give the same release."""
    one = attempt(case)
    moved = case.frame[shuffled].with_columns(name=pl.Series([f"other {number}" for number in shuffled]))
    other = attempt(Case(moved, case.sections))
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.manifest == other.manifest
        assert all(one.frames[name].equals(other.frames[name]) for name in one.frames)


def check_same_bytes(policy: Policy, data: object, folder: Path) -> None:
    """The same seed gives the same bytes in every file."""
    for name in ("one", "two"):
        publish(data, policy, seed=7).save(folder / name)
    files = sorted(path.relative_to(folder / "one") for path in (folder / "one").rglob("*") if path.is_file())
    assert files == sorted(
        path.relative_to(folder / "two") for path in (folder / "two").rglob("*") if path.is_file()
    )
    for file in files:
        assert (folder / "one" / file).read_bytes() == (folder / "two" / file).read_bytes()


def impossible(publish_section: dict[str, Any]) -> Case:
    """A table in which one value fills most rows, and a promise that forbids it."""
    frame = pl.DataFrame(
        {
            "name": [str(number) for number in range(12)],
            "age": [20 + number for number in range(12)],
            "job": ["clerk", "miner"] * 6,
            "sex": ["f", "m", "m"] * 4,
            "ill": ["flu"] * 9 + ["ulcer", "asthma", "colic"],
        }
    )
    sections = {
        "attributes": attributes(n_sensitive=1),
        "guarantee": {"l": 3, "l_kind": "frequency"},
        "publish": publish_section,
    }
    return Case(frame, sections)
