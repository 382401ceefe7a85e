"""All attacks on Adult: how long they take on slices, and what they get right by method (python -m benchmarks.attacks)."""

import sys
from collections.abc import Iterator
from functools import partial
from time import perf_counter
from typing import Any

import polars as pl

import manyveils as mv
from benchmarks.clock import best
from benchmarks.line import Line, skipped, under
from benchmarks.reproductions import occ
from benchmarks.reproductions.page import DOCS, put
from benchmarks.reproductions.table import markdown
from benchmarks.setting import Setting
from manyveils.datasets import encounter_policy, encounters

SECONDS = 60
CODED_SECONDS = 3
SEED = 1
PAGE = DOCS.parent / "attacks.md"
NAMES = ("age", "workclass", "marital-status", "race", "sex", "education", "occupation", "hours")
SLICED = (
    "age",
    "workclass",
    "marital-status",
    "race",
    "sex",
    "education",
    "education-num",
    "occupation",
)
OCCUPATIONS = {
    "Office": ["Prof-specialty", "Exec-managerial", "Adm-clerical", "Sales", "Tech-support"],
    "Manual": [
        "Craft-repair",
        "Machine-op-inspct",
        "Transport-moving",
        "Handlers-cleaners",
        "Farming-fishing",
    ],
    "Service": ["Other-service", "Protective-serv", "Priv-house-serv", "Armed-Forces"],
}
WAYS: dict[str, dict[str, Any]] = {
    "generalize": {"method": "generalize", "suppression": 0.02},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize"},
    "slice": {"method": "slice"},
    "codip": {"method": "codip", "beta": 0.5},
    "guardian": {"method": "guardian"},
    "alpha-beta-k": {"method": "alpha-beta-k", "beta": 3},
    "grade": {"method": "grade"},
    "grade, then generalize": {"method": "grade", "then": "generalize"},
    "separate": {"method": "separate"},
}
MARKS = {
    "broken": " !",
    "not promised": " ?",
    "within bounds": " ~",
    "nothing learnt": "",
    "does not apply": "",
}


def lines(setting: Setting) -> Iterator[Line]:
    """All attacks on Adult sliced, and on encounters whose sensitive attributes have hundreds of codes."""
    yield from _on_adult()
    yield from _on_encounters()


def _on_encounters() -> Iterator[Line]:
    """All attacks on encounters in buckets: 717, 749, 75, 4 and 3 codes."""
    frame, policy = (
        encounters(),
        encounter_policy(data={"person": "row"}, publish={"method": "anatomize", "suppression": 0.02}),
    )
    release = mv.publish(frame, policy, seed=SEED)
    seconds, found = best(partial(mv.attack, release, frame, policy, seed=SEED), repetitions=3)
    applying = sum(outcome.applies for outcome in found.values())
    what = f"{applying} attacks, {frame.height:,} encounters anatomized, five coded attributes"
    yield under(what, seconds, CODED_SECONDS)


def _on_adult() -> Iterator[Line]:
    """All attacks on Adult, sliced with l = 5, beside an older release of nearly the same people."""
    if not occ.is_here():
        yield skipped("attacks", occ.MISSING)
        return
    frame, policy = occ.read(SLICED), sliced_policy()
    # Slicing does not part what a known dependency ties, and refuses it; the adversary may know it nevertheless.
    known = policy.replaced(dependencies=[{"from": ["education"], "to": "education-num"}])
    release = mv.publish(frame, policy, seed=SEED)
    older = mv.publish(frame[: frame.height * 9 // 10], policy, seed=SEED + 1)
    work = partial(mv.attack, release, frame, known, others=[older], seed=SEED)
    seconds, found = best(work, repetitions=2)
    applying = sum(each.applies for each in found.values())
    yield under(f"{applying} attacks, {frame.height:,} rows of Adult sliced, l = 5", seconds, SECONDS)


def sliced_policy() -> mv.Policy:
    """Three sensitive attributes, one of them with l = 5."""
    attributes: dict[str, Any] = {each: {"role": "quasi"} for each in SLICED}
    attributes["age"] |= {"kind": "numeric"}
    attributes["education"] = {"role": "sensitive"}
    attributes["education-num"] = {"role": "sensitive", "kind": "numeric"}
    attributes["occupation"] = {
        "role": "sensitive",
        "hierarchy": {"tree": OCCUPATIONS},
        "guarantee": {"l": 5, "l_kind": "frequency"},
    }
    return mv.Policy(attributes=attributes, publish={"method": "slice"})


def policy_of(name: str) -> mv.Policy:
    """Five quasi-identifiers, three sensitive attributes; grading by itself promises nothing."""
    attributes: dict[str, Any] = {each: {"role": "quasi"} for each in NAMES}
    attributes["age"] |= {"kind": "numeric", "hierarchy": {"widths": [5, 10, 20, 40]}}
    attributes["education"] = {"role": "sensitive"}
    attributes["occupation"] = {"role": "sensitive", "hierarchy": {"tree": OCCUPATIONS}}
    attributes["hours"] = {"role": "sensitive", "kind": "numeric"}
    if not name.startswith("grade"):
        attributes["education"]["guarantee"] = {"l": 2, "l_kind": "frequency"}
        attributes["occupation"]["guarantee"] = {"l": 3, "l_kind": "frequency"}
    guarantee = {} if name == "grade" else {"k": 5}
    return mv.Policy(attributes=attributes, guarantee=guarantee, publish=WAYS[name])


def attacked(frame: pl.DataFrame) -> dict[str, mv.Attacks]:
    """The outcomes of all attacks on what every method makes of the table."""
    found = {}
    for name in WAYS:
        start = perf_counter()
        policy = policy_of(name)
        release = mv.publish(frame, policy, seed=SEED)
        made = perf_counter()
        found[name] = mv.attack(release, frame, policy, seed=SEED)
        spent = perf_counter() - made
        print(f"{name}: made in {made - start:.0f} s, attacked in {spent:.0f} s", file=sys.stderr)
    return found


def table(found: dict[str, mv.Attacks]) -> str:
    """Attacks by methods: success, marked where people are known beyond the bound, or better than people outside."""
    names = next(iter(found.values()))
    rows = [[name, _guess(name, found), *(_cell(each[name]) for each in found.values())] for name in names]
    return markdown(["attack", "guessing", *found], [row for row in rows if {*row[2:]} != {"–"}])


def _guess(name: str, found: dict[str, mv.Attacks]) -> str:
    return next((_percent(each[name].baseline) for each in found.values() if each[name].applies), "–")


def _cell(outcome: mv.Outcome) -> str:
    if not outcome.applies:
        return "–"
    few = f"{outcome.promised:,} of " if 0 < outcome.promised < outcome.broken else ""
    harmed = f" ({few}{outcome.broken:,})" if outcome.broken else ""
    return f"{_percent(outcome.success)}{MARKS[outcome.standing]}{harmed}"


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.3g} %"


def main() -> None:
    """Attack every method's release, and put the table into docs/attacks.md."""
    if not occ.is_here():
        sys.exit(f"Nothing was measured: {occ.MISSING}.")
    put(PAGE, "adult", table(attacked(occ.read(NAMES))))


if __name__ == "__main__":
    main()
