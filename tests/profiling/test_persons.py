"""Who is who is proposed where an identifier-like column repeats, with its reason, and publishes."""

import random
import tomllib

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import encounters
from manyveils.linting import lint
from manyveils.table import hold

N = 2_000
draw = random.Random(3)


def drawn(values, n=N):
    """So many values, drawn at random."""
    return [draw.choice(values) for _ in range(n)]


def table(name, keys, **more):
    """A column of keys beside a few others."""
    n = len(keys)
    return pl.DataFrame(
        {
            name: keys,
            "sex": drawn("fm", n),
            "age": drawn(range(18, 80), n),
            "diagnosis": drawn("abcdef", n),
            **more,
        }
    )


def proposed(frame):
    """The policy that is proposed, as it loads."""
    return mv.Policy(**tomllib.loads(mv.profile(frame).policy_text()))


KEYS = [draw.randrange(1400) for _ in range(N)]


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("patient", [f"{key:07d}" for key in KEYS]),
        ("patient", [key % 250 for key in KEYS]),
        ("patient_id", KEYS),
        ("Kunden-Nr", [f"K{key}" for key in KEYS]),
        ("ssn", [f"123-45-{key:04d}" for key in KEYS]),
        ("email", [f"p{key}@example.org" for key in KEYS]),
        ("id", KEYS),
        ("zzz", [f"{key * 7919 % 10**7:07d}" for key in KEYS]),
        ("zzz", [123_456 + key * 500 for key in KEYS]),
        ("name", [f"Person {key}" for key in KEYS]),
    ],
    ids=range(10),
)
def test_what_tells_persons_apart(name, keys):
    """A column that numbers people and repeats is an identifier, and tells persons apart."""
    frame = table(name, keys)
    policy = proposed(frame)
    assert (policy.person, policy.attributes[name].role) == ((name,), "identifier")
    text = mv.profile(frame).policy_text()
    assert f"{name} repeats" in text.replace("'", "")
    assert f"{len(set(keys)):,} persons" in text
    assert mv.profile(frame).describe()["person"]["persons"] == len(set(keys))


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("doctor_id", [key % 150 for key in KEYS]),
        ("address", [f"{key} Main Street" for key in KEYS]),
        ("surname", [f"Name{key % 90}" for key in KEYS]),
        ("notes", ["a text of more than forty characters, which may name anybody"] * N),
    ],
)
def test_what_does_not(name, cells):
    """What several people share, or was left out, tells nobody apart: rows are taken as persons, and that is said."""
    frame = table(name, cells)
    policy = proposed(frame)
    repeats = policy.attributes[name].role == "identifier"
    assert policy.person == (() if repeats else None)
    if repeats:
        assert any("Every row is taken as a person" in warning for warning in mv.profile(frame).warnings)


def test_nothing_repeats():
    """Where no identifier repeats, nothing is said of persons."""
    text = mv.profile(table("patient", list(range(N)))).policy_text()
    assert "person =" not in text
    assert mv.profile(table("patient", list(range(N)))).describe()["person"] is None


def test_categories_are_no_persons():
    """Few values of a column that is called as people are stay what they were."""
    assert proposed(table("student", drawn(["yes", "no", "part time"]))).person is None
    assert proposed(table("member", drawn(["gold", "silver"]))).person is None


def test_whom_rows_are_about_comes_first():
    """Of several identifiers that repeat, the one that is called as people are tells persons apart."""
    frame = table(
        "claim_no", [key // 2 for key in KEYS], email=[f"p{key}@a.org" for key in KEYS], patient=KEYS
    )
    assert proposed(frame).person == ("patient",)


NOTED = [f"saw {n} at {n % 7} with {n % 9}" for n in range(N - 1)]


@pytest.mark.parametrize("sentence", [True, False])
def test_what_differs_in_nearly_all_rows_is_nobody(sentence):
    """Notes of which one is there twice are not whom rows are about; whoever comes again is."""
    notes = [note if sentence else note.replace(" ", "") for note in [*NOTED, NOTED[0]]]
    emails = [f"u{key % 150}@example.org" for key in KEYS]
    frame = table("contact", emails, comment=notes)
    assert proposed(frame).person == ("contact",)
    assert proposed(frame).attributes["comment"].role == ("drop" if sentence else "identifier")
    # Without anybody who comes again nobody is told apart by notes.
    assert proposed(frame.drop("contact")).person == (None if sentence else ())


def test_of_two_as_good_the_one_that_makes_fewer_persons():
    """Two keys of records that repeat, of which one numbers orders: nobody becomes two persons."""
    frame = table("order_uid", [key // 3 * 7 + n % 4 for n, key in enumerate(KEYS)], uid=KEYS)
    assert proposed(frame).person == ("uid",)


def test_what_stands_beside_persons_is_accepted():
    """A doctor whom many patients share is accepted with its reason, so that the policy publishes as it stands."""
    frame = table("patient", KEYS, doctor_id=[key % 150 for key in KEYS])
    policy = proposed(frame)
    assert (policy.person, policy.accept) == (("patient",), ["identifier-shared: doctor_id"])
    mv.publish(frame, policy, seed=1)


def test_what_may_be_the_person_is_asked_about():
    """Where the best name makes many times as many persons as another key has values, init and lint say so."""
    frame = table("patient", KEYS, user_id=[f"K{key % 150:03d}" for key in KEYS])
    policy = proposed(frame)
    assert (policy.person, policy.accept) == (("patient",), [])
    assert any("which may tell them apart instead" in warning for warning in mv.profile(frame).warnings)
    doubts = lint(hold(frame, policy)[0], policy).doubts
    assert "identifier-shared: user_id" in [doubt.code for doubt in doubts]


def test_constant_attributes():
    """A sensitive attribute of which nobody has two values is constant; one that changes once is not."""
    keys = [f"P{key}" for key in KEYS]
    same = [f"type{key % 4}" for key in KEYS]
    changed = [*same[:-1], "type9"]
    keys[-1] = keys[0]
    same[-1] = same[0]
    frame = table("patient", keys, blood=same, treatment=changed)
    policy = proposed(frame)
    assert policy.constant == ("blood",)
    assert "has two values." in mv.profile(frame).policy_text()


def test_promises_are_guessed_from_persons():
    """Of k and l those are guessed that persons allow: what most persons have is too common, however few their rows."""
    keys = [f"P{n // 10}" for n in range(300)]
    illness = ["Flu" if n % 10 == 0 else f"ill{n % 10}" for n in range(300)]
    frame = table("patient", keys).with_columns(diagnosis=pl.Series(illness))
    policy = proposed(frame)
    # 30 persons, all of whom have all values.
    assert (policy.guarantee.k, policy.guarantee.l_kind) == (3, "distinct")
    assert "The commonest value is that of 100 % of the persons" in mv.profile(frame).policy_text()


@pytest.mark.parametrize("n", [40, 400, 3_000])
def test_encounters_publish(n):
    """The proposed policy of generated encounters names the patient, and publishes as it stands."""
    frame = encounters(n)
    policy = proposed(frame)
    if frame["patient"].n_unique() < n:
        assert policy.person == ("patient",)
    mv.publish(frame, policy, seed=1)


@pytest.mark.parametrize("n", [60, 400, 3_000])
@pytest.mark.parametrize("others", [(), ("diagnosis",), ("diagnosis", "procedure")])
def test_what_does_not_change_publishes(n, others):
    """The proposed policy publishes as it stands where a sensitive attribute is constant, alone or beside others."""
    rng = np.random.default_rng(n)
    patients, m = rng.integers(0, n // 3, n), n // 3
    frame = pl.DataFrame(
        {
            "patient_id": [f"P{patient:05d}" for patient in patients],
            "age": rng.integers(20, 30, m)[patients],
            "sex": np.array(["f", "m"])[rng.integers(0, 2, m)[patients]],
            "zip": rng.integers(10_000, 10_050, m)[patients].astype(str),
            "blood": np.array(["A", "B", "AB", "0"])[rng.integers(0, 4, m)[patients]],
            **{name: [f"c{code}" for code in rng.integers(0, 9, n)] for name in others},
        }
    )
    policy = proposed(frame)
    assert policy.constant == ("blood",)
    mv.publish(frame, policy, seed=1)


def test_odd_columns_publish():
    """A column that cannot be compared, and one without a use, are left out, and need no word about persons."""
    frame = table("tags", [[key] for key in KEYS], notes=["nothing"] * N)
    policy = proposed(frame)
    assert policy.person is None
    assert {*policy.having("drop")} >= {"tags"}
    mv.publish(frame, policy, seed=1)
