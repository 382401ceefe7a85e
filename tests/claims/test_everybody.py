"""Beliefs of someone who knows everybody's quasi-identifiers: all worlds of up to six people, counted in plain Python."""

from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits.everybody import everybody_findings
from manyveils.policy import Policy
from manyveils.reading.everybody import chances
from manyveils.reading.evidence import Evidence
from manyveils.reading.slices import slices_of
from manyveils.release import Draft, seal
from manyveils.table import hold

PEOPLE = [
    ("a1", "b1", "y"),
    ("a1", "b2", "y"),
    ("a1", "b0", "y"),
    ("a0", "b2", "x"),
    ("a0", "b1", "z"),
    ("a1", "b0", "w"),
]


def policy(**guarantee: Any) -> Policy:
    """Two attributes are known, a third is not to be learnt."""
    return Policy(
        data={"person": "row"},
        attributes={"a": {"role": "quasi"}, "b": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"l": 2, "l_kind": "frequency", **guarantee},
        publish={"method": "slice", "columns": [["a"], ["b", "s"]]},
    )


def sliced(people: Any, buckets: Any, wanted: Policy, rows: Any = None) -> Evidence:
    """A view of two columns in these buckets, as an adversary reads it; some rows may be left out."""
    frame = pl.DataFrame(people, schema=["a", "b", "s"], orient="row")
    table, restore = hold(frame, wanted)
    rows = np.arange(len(people)) if rows is None else np.array(rows)
    draft = Draft("main", (("a",), ("b", "s")), rows, np.array(buckets))
    release = seal([draft], table, wanted, restore, notes={}, rng=np.random.default_rng(1))
    return Evidence(release, table, wanted)


def believed(people: Any, buckets: Any, rows: Any = None) -> dict[tuple[str, str], dict[str, Fraction]]:
    """What all worlds say, in which every person stands in one row of [b, s] and nobody else does, or in none."""
    rows = range(len(people)) if rows is None else rows
    slots = [(bucket, people[row][1], people[row][2]) for row, bucket in zip(rows, buckets, strict=True)]
    shown = Counter((bucket, people[row][0]) for row, bucket in zip(rows, buckets, strict=True))
    told: dict[tuple[str, str], Counter[str]] = {}
    for world in permutations(range(len(people)), len(slots)):
        if any(people[who][1] != slot[1] for who, slot in zip(world, slots, strict=True)):
            continue
        if Counter((slot[0], people[who][0]) for who, slot in zip(world, slots, strict=True)) != shown:
            continue
        for who, slot in zip(world, slots, strict=True):
            told.setdefault(people[who][:2], Counter())[slot[2]] += 1
    return {who: {s: Fraction(n, own.total()) for s, n in own.items()} for who, own in told.items()}


def worst(beliefs: dict[tuple[str, str], dict[str, Fraction]]) -> float:
    """The largest belief."""
    return float(max(max(own.values()) for own in beliefs.values()))


def finding(evidence: Evidence) -> Any:
    """The one finding of this reading."""
    [told] = everybody_findings(evidence)
    return told


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_worlds_of_up_to_six_people(data: Any) -> None:
    """The measure is what all worlds say, also where some are left out."""
    n_people = data.draw(st.integers(2, 6))
    letters = st.tuples(st.sampled_from("pq"), st.sampled_from("uvw"), st.sampled_from("xyz"))
    people = data.draw(st.lists(letters, min_size=n_people, max_size=n_people))
    n_shown = data.draw(st.integers(max(2, n_people - 1), n_people))
    buckets = data.draw(st.lists(st.integers(0, 2), min_size=n_shown, max_size=n_shown))
    evidence = sliced(people, buckets, policy(), range(n_shown))
    told = finding(evidence)
    assert told.terms == ""
    assert 1 / told.measured == pytest.approx(worst(believed(people, buckets, range(n_shown))))


def test_someone_is_certain_where_the_formula_is_not() -> None:
    """In buckets of three of these six somebody is certain, although p(t, s) keeps l = 2; it binds where it is asked for."""
    n_certain = 0
    for buckets in ([0, 0, 1, 0, 1, 1], [0, 1, 0, 0, 1, 1], [0, 1, 1, 0, 0, 1]):
        evidence = sliced(PEOPLE, buckets, policy(everybody=True))
        told = finding(evidence)
        assert told.promised
        assert 1 / told.measured == pytest.approx(worst(believed(PEOPLE, buckets)))
        n_certain += not told.kept
    assert n_certain
    assert not finding(sliced(PEOPLE, [0, 0, 1, 0, 1, 1], policy())).promised


def test_too_many_worlds_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where worlds are not counted, every bucket counts as found, and no belief is above what that says."""
    exact = finding(sliced(PEOPLE, [0, 0, 1, 0, 1, 1], policy()))
    monkeypatch.setattr("manyveils.audits.everybody.MOST_PEOPLE", 3)
    bound = finding(sliced(PEOPLE, [0, 0, 1, 0, 1, 1], policy()))
    assert bound.terms == "every bucket found"
    assert bound.measured <= exact.measured
    monkeypatch.setattr("manyveils.audits.everybody.MOST_PEOPLE", 300)
    monkeypatch.setattr("manyveils.reading.everybody.MOST_STEPS", 1)
    assert finding(sliced(PEOPLE, [0, 0, 1, 0, 1, 1], policy())).measured == bound.measured


def test_chances_add_up() -> None:
    """Somebody who is published is in one bucket."""
    evidence = sliced(PEOPLE, [0, 0, 1, 0, 1, 1], policy())
    shares = chances(slices_of(evidence, evidence.release.views[0], frozenset("ab")), np.array([3, 3]))
    assert shares is not None
    assert shares.sum(axis=1) == pytest.approx(1)


def test_the_audit_shows_it(tmp_path: Path) -> None:
    """The audit of a slice tells this reading, and one that is promised and does not hold is refused."""
    people = [(f"a{n % 3}", f"b{n % 4}", "wxyz"[n * n % 4]) for n in range(24)]
    frame = pl.DataFrame(people, schema=["a", "b", "s"], orient="row")
    wanted = policy()
    release = mv.publish(frame, wanted, 1)
    readings = {told.reading for told in mv.audit(release, frame, wanted).findings}
    assert "everybody" in readings


def test_what_does_not_hold_is_refused_with_what_helps() -> None:
    """A release that somebody who knows all could read is refused, and the error says what to do."""
    frame = pl.DataFrame(
        [*PEOPLE, ("a2", "b1", "x"), ("a0", "b0", "z")], schema=["a", "b", "s"], orient="row"
    )
    document = policy(everybody=True).model_dump(exclude_unset=True, by_alias=True)
    document["publish"] |= {"partition": "random", "bucket": 3}
    with pytest.raises(mv.BrokenPromise, match=r"knows everybody.*anatomize"):
        list(map(partial(mv.publish, frame, mv.Policy(**document)), range(8)))


def test_persons_with_several_rows_are_refused() -> None:
    """Worlds of persons with several rows are not worked out, and whoever asks for them is told."""
    frame = pl.DataFrame({"id": [*"abcdefgh", "h"], "q": [*"xxxxyyyy", "y"], "s": [*"uvwxuvwx", "x"]})
    asked = mv.Policy(
        data={"person": "id"},
        attributes={"id": {"role": "identifier"}, "q": {"role": "quasi"}, "s": {"role": "sensitive"}},
        guarantee={"l": 2, "everybody": True},
        publish={"method": "slice"},
    )
    with pytest.raises(mv.PolicyError, match="several rows"):
        mv.publish(frame, asked, 1)
