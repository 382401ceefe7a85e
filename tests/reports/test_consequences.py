"""The verdict says what somebody can do, the heaviest first, and what was promised against it."""

import re
from html import unescape

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.audits.beyond import beyond
from manyveils.audits.finding import Finding
from manyveils.policy import guarantees
from manyveils.reports.consequences import consequences_of
from manyveils.reports.page import PROMISED

N = 240
RNG = np.random.default_rng(7)
# Whoever knows the drug knows the illness, and nobody needs to.
ILL = RNG.integers(0, 6, N)
FRAME = pl.DataFrame(
    {
        "age": RNG.integers(20, 30, N),
        "ill": [f"ill {code}" for code in ILL],
        "drug": [f"drug {code}" for code in ILL],
    }
)


def policy(**guarantee):
    """Two sensitive attributes that go together, in one table."""
    return mv.Policy(
        attributes={"age": {"role": "quasi"}, "ill": {"role": "sensitive"}, "drug": {"role": "sensitive"}},
        guarantee=guarantee,
    )


def verdict(report):
    """The words of the verdict."""
    section = re.search(r'<section id="verdict">.*?</section>', report.html, re.DOTALL)[0]
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", "", section)))


@pytest.fixture(scope="module")
def report():
    """The report of a release that keeps what it promises, which is not enough."""
    asked = policy(k=3, l=3)
    return mv.report(mv.publish(FRAME, asked, seed=1), FRAME, asked, seed=1)


def test_certainty_is_said_in_words(report):
    """Someone who knows one value and is certain of the other is named, with the people and what would promise more."""
    said = verdict(report)
    numbers = report.document["attack"]["attacks"]["background-join"]["by_attribute"]["ill"]
    assert (
        f"is certain of ill for {numbers['certain']} of the {numbers['targets']} people that were tried."
        in said
    )
    assert "all other sensitive values of a person" in said
    order = ["What is promised", "What is not", "What a user of the data loses", "certain of ill"]
    assert sorted(order, key=said.index) == order
    assert "of ill, drug: 3 values or more stay possible in every group" in said


def test_kept_is_not_green_beside_certainty(report):
    """Where people are found out, the card of promises is not green, and says that promises do not cover everything."""
    assert 'class="is-warm"><span>Promises</span><strong>kept' in report.html
    assert "but they do not cover everything" in report.html


def test_what_was_not_promised_is_open(report):
    """What was not promised and does not hold stands in an open fold."""
    assert re.search(r"<details open><summary>What was not promised", report.html)


def test_the_heaviest_first(report):
    """Certainty comes before likelihood, and of each many people before few."""
    ranks = [told["rank"] for told in consequences_of(report.document)]
    assert ranks == sorted(ranks)
    kinds = [
        told["kind"] for told in consequences_of(report.document) if told["kind"] in ("certain", "likely")
    ]
    assert kinds == sorted(kinds)


def test_nothing_to_say():
    """Where nothing is learnt, the verdict says so, and the card is green."""
    asked = policy(k=200, l=3)
    own = asked.replaced(attributes=_without_drug(asked))
    release = mv.publish(FRAME.drop("drug"), own, seed=1)
    found = mv.report(release, FRAME.drop("drug"), own, only=["linkage"], seed=1)
    assert "found anybody about whom more is learnt than was promised" in verdict(found)
    assert 'class="is-good"><span>Promises' in found.html


def _without_drug(asked):
    return {
        name: body.model_dump(exclude_unset=True) for name, body in asked.attributes.items() if name != "drug"
    }


def test_the_audit_says_it_too():
    """The audit lists what was not promised in words, with rows, and as JSON."""
    asked = policy(k=3, l=3)
    audit = mv.audit(mv.publish(FRAME, asked, seed=1), FRAME, asked)
    told = audit.describe()["not_promised"]
    assert {entry["about"] for entry in told} == {"ill", "drug"}
    for entry in told:
        assert "Someone who knows the other sensitive values of a person is certain of" in entry["what"]
        assert entry["remedy"] == "This was not promised; conditional = true in the policy would promise it."
        assert 0 < entry["rows"] <= N


def finding(attribute, rows, measured, reading="conditional", **more):
    """A finding that is not promised and not kept, unless said otherwise."""
    numbers = {
        "promise": "distinct-l-diversity",
        "view": "main",
        "promised": False,
        "required": 3,
        "kept": False,
    }
    return Finding(
        **(
            {"attribute": attribute, "reading": reading, "measured": measured, "rows_short": rows}
            | numbers
            | more
        )
    )


def test_the_order_of_what_the_audit_says():
    """Certain before likely, many rows before few; values of one attribute are one, and what is promised or kept is none."""
    findings = [
        finding("a=x", 5, 2),
        finding("a=y", 9, 2),
        finding("b", 4, 1),
        finding("c", 90, 2),
        finding("d", 50, 1, promised=True),
        finding("e", 0, 3, kept=True),
        finding("f", 7, 1, reading="marginal"),
    ]
    told = beyond(findings, 100, lambda name: name.partition("=")[0])
    assert [(entry.about, entry.rows, entry.is_certain) for entry in told] == [
        ("b", 4, True),
        ("c", 90, False),
        ("a", 9, False),
    ]


def test_promises_in_words_are_promises():
    """Every kind of promise that the page has words for is one that a policy can ask for."""
    kinds = {
        value.kind for value in vars(guarantees).values() if isinstance(getattr(value, "kind", None), str)
    }
    assert set(PROMISED) <= kinds


def test_every_consequence_says_who():
    """Whatever an attack does, its sentence in the verdict begins with somebody, or with people's presence."""
    frame = mv.datasets.hospital(1_000)
    asked = mv.datasets.hospital_policy(publish={"method": "slice"})
    page = mv.report(
        mv.publish(frame, asked, seed=1), frame, asked, only=["similarity", "divergence"], seed=1
    ).html
    section = re.search(r"What it means for people</h3>.*?</ol>", page, re.DOTALL)[0]
    said = [
        re.sub(r"<[^>]+>", "", entry).strip() for entry in re.findall(r"<li>(.*?)</li>", section, re.DOTALL)
    ]
    assert any(" makes some people seem" in entry for entry in said)
    assert [
        entry
        for entry in said
        if not entry.startswith(("Someone who", "Everybody's", "The presence", "For "))
    ] == []
