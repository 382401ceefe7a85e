"""What an audit says is complete, plain and free of cells."""

import json
from dataclasses import replace

import polars as pl
import pytest

from manyveils.audits import Audit, audit
from manyveils.errors import InputError
from manyveils.policy import Policy
from tests.kit import sealed

CELLS = ["Zebra", "Quagga", "Okapi"]
FRAME = pl.DataFrame({"q": ["Alpha", "Alpha", "Alpha", "Omega", "Omega"], "s": [*CELLS, "Zebra", "Zebra"]})
POLICY = Policy(
    attributes={"q": {"role": "quasi"}, "s": {"role": "sensitive"}},
    guarantee={"k": 2, "l": 2, "t": 0.5, "delta": 1.0, "epsilon_link": 0.9},
)


@pytest.fixture
def release():
    return sealed(FRAME, POLICY, columns=[("q", "s")])


def test_no_cell_is_ever_said(release):
    """Neither repr, text nor JSON of an audit holds a value of the data."""
    result = audit(*release, POLICY)
    said = (
        repr(result)
        + json.dumps(result.describe(), allow_nan=False)
        + "".join(map(str, result.findings))
        + repr(result.findings)
    )
    assert not [cell for cell in [*CELLS, "Alpha", "Omega"] if cell in said]


def test_kept_means_that_every_promised_finding_is_kept(release):
    """An audit is broken by promised findings alone."""
    result = audit(*release, POLICY)
    assert not result.kept
    assert {finding.promise for finding in result.broken} == {
        "distinct-l-diversity",
        "delta-disclosure",
        "linkability",
    }
    assert Audit(tuple(finding for finding in result.findings if finding not in result.broken)).kept


def test_counts_say_how_much_falls_short(release):
    """One of two groups, with two of five rows, has a single value."""
    [finding] = [
        found for found in audit(*release, POLICY).findings if found.promise == "distinct-l-diversity"
    ]
    assert (finding.groups, finding.groups_short, finding.rows_short, finding.worst_group_size) == (
        2,
        1,
        2,
        2,
    )


def test_levels_add_unpromised_findings(release):
    """Asking for k = 3 and l = 1 shows both beside the promises and changes no verdict."""
    result = audit(*release, POLICY, levels={"k": 3, "l": 1})
    added = {(found.promise, found.required): found for found in result.findings if not found.promised}
    assert added["k-anonymity", 3].rows_short == 2
    assert added["distinct-l-diversity", 1].kept
    assert result.broken == audit(*release, POLICY).broken


@pytest.mark.parametrize(
    "levels", [{"kk": 3}, {"k": 0}, {"l": 1.5}, {"t": 2}, {"e": -1}, {"t": float("nan")}]
)
def test_levels_that_make_no_sense_are_refused(release, levels):
    """A level that is unknown or out of range is an error of the caller."""
    with pytest.raises(InputError, match="levels"):
        audit(*release, POLICY, levels=levels)


def test_the_level_of_linkability_is_called_as_in_the_policy(release):
    """`epsilon_link` sets linkability, and `epsilon` does not."""
    assert [
        found.required
        for found in audit(*release, POLICY, levels={"epsilon_link": 0.25}).findings
        if not found.promised
    ] == [0.25]
    assert not [
        found for found in audit(*release, POLICY, levels={"epsilon": 0.25}).findings if not found.promised
    ]


def test_an_audit_of_files_equals_that_of_memory(release, tmp_path):
    """Reading a release back changes no finding."""
    from manyveils.release import Release

    made, table = release
    found = audit(Release.load(made.save(tmp_path / "out")), table, POLICY)
    *others, form = found.findings
    assert (form.promise, form.kept) == ("canonical-form", True)
    assert replace(found, findings=tuple(others)) == audit(made, table, POLICY)
