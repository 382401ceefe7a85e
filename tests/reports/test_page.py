"""A report says what the commands say, to whom it may, and nothing else."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import manyveils as mv
from manyveils.datasets import hospital_sections, write_hospital
from manyveils.reports.page import GLOSSARY, MEASURES
from manyveils.utility import Utility

METHODS = {
    "generalize": {"method": "generalize", "suppression": 0.02},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.02},
    "slice": {"method": "slice"},
    "codip": {"method": "codip", "beta": 0.5},
    "guardian": {"method": "guardian", "decompose": "gd"},
    "alpha-beta-k": {"method": "alpha-beta-k", "beta": 2},
    "grade": {"method": "grade", "then": "generalize"},
    "separate": {"method": "separate"},
}
# These take a cell with several values for one value.
WHOLE_CELLS = {"alpha-beta-k", "grade"}


class Page(HTMLParser):
    """The numbers of a page with their places, and its tags."""

    def __init__(self, html):
        super().__init__()
        self.numbers, self.tags, self.open = [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        """Note a tag."""
        self.tags.append((tag, dict(attributes)))
        if tag == "data":
            self.numbers.append((dict(attributes)["data-from"], dict(attributes)["value"]))


def look_up(document, place):
    """Follow a JSON pointer."""
    for step in place.split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


@pytest.fixture
def hospital(desk):
    """A desk with a published hospital table."""
    write_hospital(desk.folder / "data", n=300)
    desk.policy_file = desk.folder / "data" / "policy.toml"
    published = desk.run("publish", desk.policy_file, "--out", desk.out, "--seed", 3)
    assert published.status == 0, published.said
    return desk


def test_every_number_is_the_one_of_its_command(hospital):
    """Every number of the page stands in its JSON, and that is the JSON of audit, measure and attack."""
    known = ("--policy", hospital.policy_file, "--json")
    found = hospital.run("report", hospital.out, *known, "--seed", 3).document
    page = (hospital.folder / "out.private" / "report.html").read_text()
    numbers = Page(page).numbers
    assert len(numbers) > 200
    for place, value in numbers:
        assert look_up(found, place) == json.loads(value), place
    assert found["audit"] == hospital.run("audit", hospital.out, *known).document
    assert found["measure"] == hospital.run("measure", hospital.out, *known).document
    assert found["attack"] == hospital.run("attack", hospital.out, *known, "--seed", 3).document
    assert found["manifest"] == json.loads((hospital.out / "release.json").read_text())
    assert found["plan"] == json.loads((hospital.folder / "out.private" / "plan.json").read_text())


def test_the_page_stands_alone(hospital):
    """The page has no script, fetches nothing, is private to its owner, and stays small."""
    assert hospital.run("report", hospital.out, "--policy", hospital.policy_file).status == 0
    path = hospital.folder / "out.private" / "report.html"
    html = path.read_text()
    tags = Page(html).tags
    assert not [tag for tag, _ in tags if tag in {"script", "iframe", "object", "img"}]
    links = [value for tag, each in tags for key, value in each.items() if key in {"href", "src"}]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert "url(http" not in html
    assert path.stat().st_mode & 0o077 == 0
    assert len(html) < 5_000_000


def test_pictures_are_told_in_words(hospital):
    """Every drawing has a title and a description, and every table its headings."""
    page = hospital.run("report", hospital.out, "--policy", hospital.policy_file)
    assert page.status == 0
    html = (hospital.folder / "out.private" / "report.html").read_text()
    drawings = re.findall(
        r'<svg[^>]*class="drawing" role="img"[^>]*><title>([^<]+)</title><desc>([^<]+)</desc>', html
    )
    assert len(drawings) == html.count("<svg") > 5
    assert all(tag != "th" or "scope" in each for tag, each in Page(html).tags)
    ids = [each["id"] for _, each in Page(html).tags if "id" in each]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_report(tmp_path, name):
    """Any release can be laid out, for the owner and for everybody."""
    write_hospital(tmp_path / "data", n=150)
    policy = mv.Policy.load(tmp_path / "data" / "policy.toml").replaced(publish=METHODS[name])
    if name in WHOLE_CELLS:
        policy = policy.replaced(attributes=hospital_sections(whole_cells=True)["attributes"])
    release = mv.publish(None, policy, seed=1)
    owner = mv.report(release, None, policy, only=["homogeneity"], seed=1)
    everybody = mv.public_report(release)
    assert "Every promise is kept" in owner.html
    assert Page(everybody.html).numbers
    for page in (owner, everybody):
        for place, value in Page(page.html).numbers:
            assert look_up(page.document, place) == json.loads(value)


def test_public_version_compares_with_nothing(hospital):
    """The public page is made without policy and data, and has neither audit nor measures nor attacks."""
    (hospital.folder / "data").rename(hospital.folder / "elsewhere")
    outcome = hospital.run("report", hospital.out, "--public", "--json")
    found = outcome.document
    assert set(found) == {"file", "manifest", "portrait", "public"}
    assert "before" not in json.dumps(found["portrait"])
    html = (hospital.folder / "out.html").read_text()
    assert 'id="verdict"' not in html
    assert 'id="attacks"' not in html


def test_text_of_the_data_is_escaped(desk):
    """Values and names that look like HTML are shown and not obeyed."""
    rows = "\n".join(f"{20 + i % 4},<b>x{i % 3}</b>&amp;" for i in range(24))
    desk.data(f"age,<i>ill</i>\n{rows}\n")
    desk.document["attributes"] = {"age": {"role": "quasi"}, "<i>ill</i>": {"role": "sensitive"}}
    desk.policy(publish={"method": "anatomize"})
    desk.published()
    assert desk.run("report", desk.out, "--policy", desk.folder / "policy.toml").status == 0
    for page in (desk.folder / "out.private" / "report.html",):
        html = page.read_text()
        assert "<i>" not in html
        assert "<b>" not in html
        assert "<b>x0</b>&amp;" in unescape(html)


def test_an_existing_page_is_kept(hospital):
    """A page that is there is replaced by force only, and no work is done before that is said."""
    known = ("report", hospital.out, "--policy", hospital.policy_file, "--only", "homogeneity")
    assert hospital.run(*known).status == 0
    again = hospital.run(*known)
    assert again.status == 2
    assert "is there already" in again.said
    assert hospital.run(*known, "--force").status == 0
    # A release whose private part has a report in it can still be replaced.
    assert hospital.run("publish", hospital.policy_file, "--out", hospital.out, "--force").status == 0


def test_a_missing_comparison_is_told(hospital):
    """A comparison that is not there is a mistake, and the message says how to make one."""
    known = ("report", hospital.out, "--policy", hospital.policy_file)
    outcome = hospital.run(*known, "--comparison", hospital.folder / "nothing")
    assert outcome.status == 2
    assert "manyveils compare" in outcome.said


def test_every_measure_is_explained(hospital):
    """The page has a sentence for every measure there is."""
    utility = mv.measure(hospital.out, None, hospital.policy_file)
    assert isinstance(utility, Utility)
    assert {key for key, value in utility.items() if not isinstance(value, dict)} <= set(MEASURES)


def test_reports_show_in_notebooks(hospital):
    """Results render as HTML in a notebook, without a cell of the data."""
    policy = mv.Policy.load(hospital.policy_file)
    release = mv.Release.load(hospital.out)
    audit = mv.audit(release, None, policy)
    utility = mv.measure(release, None, policy)
    attacks = mv.attack(release, None, policy, only=["homogeneity"])
    for each in (policy, release, audit, utility, attacks):
        html = each._repr_html_()
        assert html.startswith("<div>")
        assert "Private basic" not in html


def test_glossary_page_has_every_term():
    """The glossary of the documentation is that of the report."""
    page = (Path(__file__).parents[2] / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert [term for term, meaning in GLOSSARY.items() if f"| {term} | {meaning} |" not in page] == []
