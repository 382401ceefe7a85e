"""The verdict is not kinder than the results: nothing promised is not a promise kept, and what gets through is said."""

import re

import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks import ATTACKS
from manyveils.reports.adversaries import WORDS
from manyveils.reports.page import verdict_of

ROWS = pl.DataFrame({"age": [20, 20, 30, 30] * 3, "ill": ["a", "b", "c", "d"] * 3})
ATTRIBUTES = {"age": {"role": "quasi"}, "ill": {"role": "sensitive"}}


def policy(**guarantee):
    """Publish ages and illnesses in one table."""
    return mv.Policy(attributes=ATTRIBUTES, guarantee=guarantee, publish={"method": "generalize"})


def page(data=ROWS, rules=None, **guarantee):
    """Report on a release, to its own policy unless another is given."""
    release = mv.publish(ROWS, policy(**guarantee), seed=1)
    return mv.report(release, data, rules or policy(**guarantee), only=["homogeneity"], seed=1)


def section(html, name):
    """One section of a page."""
    return re.search(rf'<section id="{name}">.*?</section>', html, re.DOTALL)[0]


def test_nothing_promised_is_said():
    """Without a guarantee the page does not say that promises are kept."""
    html = page().html
    assert "Nothing is promised." in section(html, "verdict")
    assert "Every promise is kept" not in html
    assert 'class="is-good"><span>Promises' not in html


def test_kept_and_broken_are_said():
    """A kept promise is called kept; held against a stronger policy, the same release is called broken."""
    assert "Every promise is kept" in section(page(k=2).html, "verdict")
    broken = section(page(rules=policy(k=7), k=2).html, "verdict")
    assert "A promise is broken." in broken
    assert "Do not publish this" in broken


def test_other_data_are_not_vouched_for():
    """Beside other data than its own, a release is not called kept."""
    other = ROWS.with_columns(ill=pl.Series(["a", "a", "a", "d"] * 3))
    assert "Every promise is kept" not in page(data=other, k=2).html


@pytest.mark.parametrize(
    ("standing", "card"), [("broken", "is-bad"), ("not promised", "is-warm"), ("within bounds", "is-good")]
)
def test_attacks_that_get_through_are_never_green(standing, card):
    """The card of attacks is green only if no attack gets through, with a promise against it or without."""
    from manyveils.reports import render

    document = dict(page(k=2).document)
    outcome = document["attack"]["attacks"]["homogeneity"] | {"standing": standing}
    document["attack"] = document["attack"] | {"attacks": {"homogeneity": outcome}}
    assert re.search(rf'<li class="{card}"><span>Attacks', render(document).html)


def test_attacks_are_ranked_by_what_was_promised():
    """What goes beyond a promise stands first; what works as well on people outside the data is said to be no leak."""
    document = page(k=2).document
    outcome = document["attack"]["attacks"]["homogeneity"]
    told = {"success": 0.6, "interval": [0.5, 0.7], "baseline": 0.2}
    attacks = {
        "fine": outcome | told | {"standing": "nothing learnt", "control": 0.6},
        "open": outcome | told | {"standing": "not promised", "control": 0.1},
        "general": outcome | told | {"standing": "not promised", "control": 0.55},
        "unasked": outcome | told | {"standing": "not promised", "control": None},
        "beyond": outcome | told | {"standing": "broken", "control": 0.1},
        "bounded": outcome | told | {"standing": "within bounds", "control": 0.1},
    }
    ranked = verdict_of({**document, "attack": {**document["attack"], "attacks": attacks}})
    assert list(ranked["ranked"].values()) == [
        ["beyond"],
        ["open", "unasked"],
        ["bounded"],
        ["fine"],
        ["general"],
    ]
    assert ranked["anyway"] == ["general"]


def test_every_attack_has_plain_words():
    """Whoever reads the verdict need not know the names of attacks: all of ours are said in words."""
    assert set(WORDS) == set(ATTACKS)


def test_success_is_explained():
    """The page says of every attack that applies what its success means, since not all are shares of targets."""
    release = mv.publish(ROWS, policy(k=2), seed=1)
    found = mv.report(release, ROWS, policy(k=2), only=["linkage", "homogeneity"], seed=1)
    said = section(found.html, "attacks")
    for name, each in found.document["attack"]["attacks"].items():
        assert f"for {name}: {each['measures']}" in said


def test_attacks_that_do_not_apply():
    """Where no attack applies the page says so, and has neither an empty table nor an empty chart of them."""
    release = mv.publish(ROWS, policy(k=2), seed=1)
    said = section(mv.report(release, ROWS, policy(k=2), only=["sequential"], seed=1).html, "attacks")
    assert "None of the attacks that were tried applies" in said
    assert "<table" not in said
    assert "<svg" not in said


def test_every_finding_has_one_place():
    """Every finding stands in exactly one table of the page."""
    document = page(k=2, l=2).document
    verdict = verdict_of(document)
    places = sorted([*verdict["asked"], *verdict["own"], *verdict["others"]])
    assert places == list(range(len(document["audit"]["findings"])))


def test_a_public_page_has_no_words_of_the_owner():
    """The public page explains no term that only the owner's speaks of, and does not promise its groups to be of size k."""
    html = mv.public_report(mv.publish(ROWS, policy(k=2), seed=1)).html
    assert "with the original as the truth" not in html
    assert "are about quasi-identifiers alone" in section(html, "groups")


def test_the_public_page_is_made_of_files(tmp_path):
    """The public page of a release in memory is that of its files to the letter: nothing else went into it."""
    release = mv.publish(ROWS, policy(k=2, l=2), seed=1)
    release.save(tmp_path / "out")
    assert mv.public_report(release).html == mv.public_report(tmp_path / "out").html
