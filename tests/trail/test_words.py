"""Every number on the screen says what it is and which way is good."""

import re

from manyveils.cli.words import MEASURES, PROMISES
from manyveils.policy import guarantees


def test_every_promise_has_words():
    """Every kind of guarantee that is measured has a line."""
    kinds = {
        kind.kind
        for kind in vars(guarantees).values()
        if getattr(kind, "kind", None) and isinstance(kind, type)
    }
    assert {kind for kind in kinds if isinstance(kind, str)} - {*PROMISES} <= {
        "elimination",
        "alpha-difference",
    }


def test_every_measure_has_words(hospital):
    """Every measure of a release has a line that says which way is good, and screens print it."""
    out = hospital.published()
    measured = hospital.run("measure", out, "--policy", hospital.folder / "policy.toml", "--json").document
    assert {name.removesuffix("_by_attribute") for name in measured} <= {*MEASURES}
    said = hospital.run("measure", out, "--policy", hospital.folder / "policy.toml").stdout
    assert "is better" in said
    assert "is better" in hospital.run("plan", hospital.folder / "policy.toml").stdout
    audit = " ".join(hospital.run("audit", out, "--policy", hospital.folder / "policy.toml").stdout.split())
    assert re.search(r"k-anonymity: measured is people in the smallest group; more is better", audit)
