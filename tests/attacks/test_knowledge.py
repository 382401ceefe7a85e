"""Attacks by those who know more: other sensitive values, what somebody does not have, what follows from what."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.datasets import alpha_beta_k_group, codip_patients

QUASI, SENSITIVE = ("race", "gender"), ("diagnosis", "family_history", "job")


def roles(quasi, sensitive, **sections):
    attributes = {name: {"role": "quasi"} for name in quasi} | {
        name: {"role": "sensitive"} for name in sensitive
    }
    return mv.Policy(attributes=attributes, **sections)


def attacked(name, release, frame, policy):
    return mv.attack(release, frame, policy, only=[name], seed=1)[name]


def test_codip_example_2(released):
    """On Table 1(b) the job of a patient gives her diagnosis with certainty."""
    frame, policy = codip_patients(), roles(QUASI, SENSITIVE, guarantee={"k": 2})
    recodings = {
        "race": (["white", "white", "*", "*"], {"white": ["white"], "*": ["white", "black"]}),
        "gender": (["*", "*", "m", "m"], {"*": ["f", "m"], "m": ["m"]}),
    }
    release = released(frame, policy, [(*QUASI, *SENSITIVE)], recodings=recodings)
    found = attacked("background-join", release, frame, policy)
    knowing = found.by_attribute["diagnosis"]["knowing"]
    assert (knowing["job"]["certain"], knowing["job"]["success"]) == (4, 1.0)
    assert found.certain == 12


def test_codip_example_2_after_codip():
    """After CODIP the job gives no diagnosis away; what is published beside it still does, which beta allowed."""
    frame = codip_patients()
    policy = roles(QUASI, SENSITIVE, guarantee={"k": 2}, publish={"method": "codip", "beta": 0.25})
    found = attacked("background-join", mv.publish(frame, policy, seed=1), frame, policy)
    diagnosis = found.by_attribute["diagnosis"]
    alone = attacked("homogeneity", mv.publish(frame, policy, seed=1), frame, policy).by_attribute[
        "diagnosis"
    ]
    assert diagnosis["knowing"]["job"]["certain"] == 0
    assert diagnosis["knowing"]["job"]["worst"] == pytest.approx(alone["worst"])
    assert diagnosis["knowing"]["family_history"]["worst"] > alone["worst"]


def test_background_join_across_columns(released):
    """In one column two sensitive values are read off each other; in two columns of one bucket they are not."""
    frame = pl.DataFrame({"q": ["a"] * 8, "s": list("uvwx") * 2, "t": list("klmn") * 2})
    policy = roles(["q"], ["s", "t"], guarantee={"l": 4, "l_kind": "frequency"})
    found = attacked("background-join", released(frame, policy, [("q", "s", "t")]), frame, policy)
    assert (found.success, found.certain, found.broken) == (1.0, 16, 16)
    apart = released(frame, policy, [("q",), ("s",), ("t",)], buckets=[0] * 8)
    found = attacked("background-join", apart, frame, policy)
    assert found.success == found.baseline == 0.25
    assert (found.certain, found.broken, found.standing) == (0, 0, "nothing learnt")


def test_background_join_needs_two(released):
    """With one sensitive attribute there is nothing to join."""
    frame, policy = pl.DataFrame({"q": ["a"] * 4, "s": list("uvwx")}), roles(["q"], ["s"])
    assert not attacked("background-join", released(frame, policy, [("q", "s")]), frame, policy).applies


def test_elimination_by_another_attribute(released):
    """Paper 001: who rules out a salary of 6000 is certain of a depression; in columns of their own she is not."""
    frame = alpha_beta_k_group().with_columns(q=pl.lit("a"))
    policy = mv.Policy(
        attributes={
            "q": {"role": "quasi"},
            "disease": {"role": "sensitive"},
            "salary": {"role": "sensitive", "kind": "categorical"},
        }
    )
    release = released(frame, policy, [("q", "disease", "salary")])
    found = attacked("elimination", release, frame, policy)
    assert found.by_attribute["disease"]["certain"] == 2
    apart = released(frame, policy, [("q",), ("disease",), ("salary",)], buckets=[0] * 4)
    found = attacked("elimination", apart, frame, policy)
    assert (found.certain, found.broken) == (0, 0)


def test_elimination_of_own_values(released):
    """Of two values in a group one is left when the other is ruled out; of five, four are, as l = 5 lets them be."""
    policy = roles(["q"], ["s"], guarantee={"l": 2, "l_kind": "frequency"})
    frame = pl.DataFrame({"q": list("aabb") * 5, "s": list("uvwx") * 5})
    found = attacked("elimination", released(frame, policy, [("q", "s")]), frame, policy)
    assert (found.success, found.certain, found.broken) == (1.0, 20, 20)
    frame = pl.DataFrame({"q": ["a"] * 20, "s": list("uvwxy") * 4})
    policy = policy.replaced(guarantee={"l": 5, "l_kind": "frequency"})
    found = attacked("elimination", released(frame, policy, [("q", "s")]), frame, policy)
    assert found.worst == pytest.approx(1 / 4)
    assert (found.certain, found.broken) == (0, 0)
    assert found.success == pytest.approx(found.baseline)


def towns():
    """People of six clinics; the zip code follows from the clinic, and decides the county."""
    clinics = [place % 6 for place in range(60)]
    zips = [f"z{clinic}" for clinic in clinics]
    return pl.DataFrame(
        {
            "clinic": [f"c{clinic}" for clinic in clinics],
            "zipcode": zips,
            "county": [f"k{c // 2}" for c in clinics],
        }
    )


def test_dependency(released):
    """Who reads the zip code beside the clinic knows the county too, though no view shows the two together."""
    frame = towns()
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in frame.columns},
        rules=[{"given": ["clinic"], "protect": "county", "l": 2}],
        dependencies=[{"from": ["zipcode"], "to": "county"}],
    )
    weak = released(frame, policy, [("clinic", "zipcode")], [("county",)])
    assert attacked("homogeneity", weak, frame, policy).certain == 0
    found = attacked("dependency", weak, frame, policy)
    assert (found.success, found.certain, found.broken) == (1.0, 60, 60)
    sound = released(frame, policy, [("clinic",)], [("zipcode",)], [("county",)])
    found = attacked("dependency", sound, frame, policy)
    assert found.success == pytest.approx(found.baseline) == pytest.approx(1 / 3)
    assert (found.certain, found.broken) == (0, 0)


def test_dependency_needs_one(released):
    """Without a dependency in the policy the attack does not apply, and says so."""
    frame, policy = pl.DataFrame({"q": ["a"] * 4, "s": list("uvwx")}), roles(["q"], ["s"])
    assert (
        "no dependency" in attacked("dependency", released(frame, policy, [("q", "s")]), frame, policy).reason
    )


def test_dependency_over_two_steps(released):
    """What follows from what follows is learnt too, though what stands between is not published."""
    frame = towns()
    policy = mv.Policy(
        attributes={name: {"role": "neutral"} for name in frame.columns} | {"town": {"role": "neutral"}},
        rules=[{"given": ["clinic"], "protect": "county", "l": 2}],
        dependencies=[{"from": ["zipcode"], "to": "town"}, {"from": ["town"], "to": "county"}],
    )
    frame = frame.with_columns(town=pl.col("zipcode").str.replace("z", "t"))
    release = released(frame, policy, [("clinic", "zipcode")], [("county",)])
    found = attacked("dependency", release, frame, policy)
    assert (found.success, found.certain, found.promised) == (1.0, 60, 60)
    assert "knows more than the promise speaks of" in found.verdict


def test_a_fingerprint_tells_the_bucket(released):
    """Whose other values stand in one bucket only is found by them, without her quasi-identifiers; where buckets are mixed nothing is certain."""
    frame = pl.DataFrame(
        {
            "age": [1, 2, 3, 4, 5, 6],
            "ill": ["flu", "flu", "flu", "cold", "cold", "gout"],
            "job": ["clerk", "miner", "miner", "cook", "lawyer", "cook"],
        }
    )
    policy = roles(("age",), ("ill", "job"))
    columns = [("age",), ("ill",), ("job",)]
    weak = attacked(
        "fingerprint", released(frame, policy, columns, buckets=[0, 0, 0, 1, 1, 1]), frame, policy
    )
    sound = attacked(
        "fingerprint", released(frame, policy, columns, buckets=[0, 0, 1, 0, 1, 1]), frame, policy
    )
    assert (weak.by_attribute["ill"]["certain"], weak.by_attribute["ill"]["worst"]) == (3, 1.0)
    assert weak.success > sound.success
    assert sound.certain == 0
    assert not attacked(
        "fingerprint", released(frame, policy, [("age", "ill", "job")]), frame, policy
    ).applies
