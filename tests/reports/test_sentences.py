"""What both reports say in words and numbers is what plain counting of the table and of the release gives."""

import re
from html import unescape

import numpy as np
import polars as pl
import pytest

import manyveils as mv

RNG = np.random.default_rng(11)
N = 300
FRAME = pl.DataFrame(
    {
        "key": [f"p{row // 2}" for row in range(N)],
        "age": np.repeat(RNG.integers(20, 60, N // 2), 2),
        "code": [("250", "428", "V57", "E11")[code] for code in RNG.integers(0, 4, N)],
        "drug": [f"drug {code}" for code in RNG.integers(0, 3, N)],
    }
)
ROLES = {
    "key": {"role": "identifier"},
    "age": {"role": "quasi"},
    "code": {"role": "sensitive"},
    "drug": {"role": "sensitive"},
}


def policy(person):
    """Cut into groups of five or more, of rows or of people."""
    return mv.Policy(
        data={"person": person},
        attributes=ROLES,
        guarantee={"k": 5, "l": 2},
        publish={"method": "generalize", "recoding": "mondrian", "cuts": "strict"},
    )


@pytest.fixture(scope="module", params=["row", "key"])
def made(request):
    """A release of rows, or of people with two rows each: its policy, rows as they are published, and both reports in words."""
    asked = policy(request.param)
    release = mv.publish(FRAME, asked, seed=1)
    owner = mv.report(release, FRAME, asked, only=["background-join"], seed=1).html
    return request.param, release.frames["main"], words(owner), words(mv.public_report(release).html)


def words(page):
    """A page without its marks and drawings."""
    page = re.sub(r"<(svg|style)\b.*?</\1>", " ", page, flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page)))


def test_rows_and_people(made):
    """Rows are those that are published, and people those of the data."""
    person, rows, owner, public = made
    for said in (owner, public):
        assert f"Rows published {len(rows)} {N - len(rows)} left out" in said
    assert f"Persons in the data: {N if person == 'row' else N // 2} , in rows: {N} ." in owner


def test_groups(made):
    """The numbers of groups, the smallest and the largest are counted in rows, or in people where people have several."""
    person, rows, owner, public = made
    sizes = rows.group_by("age").len()["len"]
    in_rows = f"{len(sizes)} groups; the smallest has {sizes.min()} rows, the largest {sizes.max()}."
    assert in_rows in public
    assert (in_rows in owner) == (person == "row")
    if person == "key":
        people = f"the smallest has {sizes.min() // 2} people, the largest {sizes.max() // 2}."
        assert f"{len(sizes)} groups; {people}" in owner


def test_shares_of_codes(made):
    """Codes stand by name with their shares of rows, which no release by groups changes."""
    _, rows, owner, public = made
    for code, count in rows["code"].value_counts().iter_rows():
        share = f"{100 * count / len(rows):.3g} %"
        assert f" {code} {share}" in public
        assert f" {code} {share} {share}" in owner
    assert "no bar moves" in owner


def test_certainty():
    """For how many somebody is certain is how many have one code left for those who know the drug."""
    asked = policy("row")
    release = mv.publish(FRAME, asked, seed=1)
    rows = release.frames["main"]
    owner = words(mv.report(release, FRAME, asked, only=["background-join"], seed=1).html)
    left = rows.select(pl.col("code").n_unique().over("age", "drug"))["code"]
    n_certain = int((left == 1).sum())
    assert n_certain
    assert f"certain of code for {n_certain} of the {N} people that were tried." in owner


def test_presence(made):
    """Whose quasi-identifiers stand in the release as they are is a count of rows, and said as what it is."""
    _, rows, owner, _ = made
    exact = rows.filter(pl.col("age").str.contains(r"^[0-9]+$")).height
    share = f"{100 * exact / N:.3g} %"
    assert (
        f"For {share} of the people the release shows that somebody with exactly their quasi-identifiers"
        in owner
    )
    assert "size of a bucket" not in owner


def test_promises(made):
    """Both reports list what the policy asks for, with its numbers."""
    _, _, owner, public = made
    assert "k-anonymity everybody k = 5" in public
    assert "distinct-l-diversity code l = 2" in public
    assert "nobody stands in a group of fewer than 5 (k-anonymity)" in owner
    assert "of code, drug: 2 values or more stay possible in every group" in owner
