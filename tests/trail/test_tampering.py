"""Releases that were changed after publishing: the audit finds out."""

import random

import polars as pl
import pytest

METHODS = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.02},
    "separate": {"method": "separate"},
}


@pytest.fixture(params=METHODS)
def released(request, hospital):
    """A hospital release by one method."""
    hospital.policy()
    hospital.document["publish"] = METHODS[request.param]
    hospital.policy()
    hospital.published("--seed", 1)
    return hospital


def audit(desk):
    """Audit the release."""
    return desk.run("audit", desk.out, "--policy", desk.folder / "policy.toml", "--json")


def change(desk, edit, attribute="insurance"):
    """Change the rows of the table that holds an attribute."""
    path = next(
        path for path in (desk.out / "tables").iterdir() if attribute in pl.read_csv(path, n_rows=0).columns
    )
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join([header, *edit(rows)]) + "\n")


def broken(desk):
    """Name the promises that the audit finds broken."""
    outcome = audit(desk)
    assert outcome.status == 1, outcome.said
    assert outcome.document["kept"] is False
    return {
        finding["promise"]
        for finding in outcome.document["findings"]
        if finding["promised"] and not finding["kept"]
    }


def test_untouched(released):
    """A release that nobody touched passes."""
    assert audit(released).status == 0


def test_row_deleted(released):
    """A row that is gone is missed."""
    change(released, lambda rows: rows[:17] + rows[18:])
    assert broken(released)


def test_row_added(released):
    """A row that is there twice is one too many."""
    change(released, lambda rows: rows[:17] + rows[16:])
    assert broken(released)


def test_value_changed(released):
    """A sensitive value that was never there, or not that often, is noticed."""

    def edit(rows):
        place = next(place for place, row in enumerate(rows) if "Employer" in row)
        rows[place] = rows[place].replace("Employer", "Self-paid")
        return sorted(rows) if "bucket" not in rows[0] else rows

    change(released, edit)
    assert "nothing-lost" in broken(released)


def test_rows_reordered(released):
    """Rows in another order may tell who is who, and are refused."""

    def edit(rows):
        random.Random(1).shuffle(rows)
        return rows

    change(released, edit)
    assert "order-tells-nothing" in broken(released)


def test_column_added(released):
    """A column that the manifest does not list is noticed."""
    change(released, lambda rows: [row + "," for row in rows])
    outcome = audit(released)
    assert outcome.status in (1, 2)


def test_weaker_policy_fails(released):
    """A release does not pass the audit of a stricter policy than the one it was made for."""
    released.policy(guarantee={"l": 5, "l_kind": "frequency"})
    outcome = audit(released)
    assert outcome.status == 1
    assert any(
        "frequency" in finding["promise"] and not finding["kept"] for finding in outcome.document["findings"]
    )
