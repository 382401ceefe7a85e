"""A report on people with several rows shows someone who knows one row beside someone who knows all, and counts people."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import manyveils as mv
from manyveils.attacks import attack
from manyveils.reports import render, started
from manyveils.run import judge
from manyveils.table import Streams, hold
from manyveils.utility import measure
from manyveils.utility.portrait import portrait


@pytest.fixture
def page_of():
    """The page about a small release, for rows that are about these persons."""
    frame = pl.DataFrame({"q": list("aabbccdd") * 5, "s": list("uvwx") * 10})
    attributes = {
        name: {"role": role, "kind": "categorical"} for name, role in (("q", "quasi"), ("s", "sensitive"))
    }
    policy = mv.Policy(attributes=attributes, guarantee={"k": 2}, publish={"method": "generalize"})
    release = mv.publish(frame, policy, seed=1)
    table, _ = hold(frame, policy)

    def page(persons):
        own = replace(table, persons=persons)
        document = started(release.manifest.describe(), release.notes, None)
        document["attack"] = attack(release, own, policy, streams=Streams(1)).describe()
        document["audit"] = judge(release, table, policy).describe()
        document["measure"] = measure(release, own, policy).describe()
        document["portrait"] = portrait(release, own, policy).describe()
        return render(document).html

    return page


def test_both_adversaries_are_shown(page_of):
    """The table of attacks has columns for someone who knows all rows, and groups are of people."""
    html = page_of(np.arange(40) // 2)
    assert "/attack/attacks/homogeneity/all_rows/success" in html
    assert "all rows</th>" in html
    assert "People have several rows here" in html
    assert "Rings: the same by someone who knows all rows" in html
    assert "people in the group" in html


def test_rows_that_are_people_are_shown_as_before(page_of):
    """Where every row is a person of its own, nothing of this stands on the page."""
    html = page_of(None)
    assert "all_rows" not in html
    assert "all rows</th>" not in html
    assert "rows in the group" in html
