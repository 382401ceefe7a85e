"""Findings on a screen: broken first, values of one attribute as one line with its worst."""

from dataclasses import replace

from manyveils.audits.finding import Audit, Finding
from manyveils.audits.grouped import grouped

KEPT = Finding("frequency-l-diversity", "ill=a", "main", "marginal", True, 3, 5.0, True, 9)
DERIVED = {"ill": ("ill=a", "ill=b", "ill=c+d")}


def lines(*findings):
    """The lines of an audit."""
    return grouped(Audit(findings, DERIVED))


def test_values_of_one_attribute_are_one_line():
    """A hundred values are one line that names the attribute, their number and the worst of them."""
    broken = replace(KEPT, attribute="ill=c+d", kept=False, measured=1.0, rows_short=4)
    [row] = lines(KEPT, replace(KEPT, attribute="ill=b"), broken)
    assert (row.worst, row.shown("attribute")) == (broken, "ill (3 values)")
    assert str(row) == (
        "BROKEN: frequency-l-diversity of ill (3 values), view main: needs 3, measured 1; 4 rows fall short"
    )


def test_what_differs_in_more_than_its_value_stays_apart():
    """Other views, readings, promises and levels have lines of their own."""
    others = [replace(KEPT, view="other"), replace(KEPT, reading="conditional"), replace(KEPT, required=4)]
    assert len(lines(KEPT, *others, replace(KEPT, promised=False))) == 5


def test_broken_first():
    """Broken promises come first, then kept ones, then what was not promised, whether it holds or not."""
    broken = replace(KEPT, attribute="z", kept=False)
    unpromised = replace(KEPT, attribute="a", promised=False, kept=False)
    assert [row.worst for row in lines(unpromised, KEPT, broken)] == [broken, KEPT, unpromised]


def test_a_narrow_terminal_has_lines_instead_of_a_table(desk, monkeypatch):
    """Below 110 letters every finding is a line in words; with room there is a table of the columns that fit."""
    import manyveils.cli.examine as examine

    out = desk.published()
    said = {}
    for letters in (60, 80, 120, 140):
        monkeypatch.setattr(examine, "width", lambda letters=letters: letters)
        said[letters] = desk.run("audit", out, "--policy", desk.folder / "policy.toml").stdout
    assert "kept: k-anonymity, view main: needs 2, measured" in said[80]
    assert "┃" not in said[80]
    first, *goes_on = [line for line in said[60].splitlines() if line.startswith("  ")]
    assert first.startswith("  kept")
    assert any(line.startswith("    ") for line in goes_on)
    assert max(map(len, [first, *goes_on])) <= 60
    assert "groups short" not in said[120]
    assert "groups short" in said[140]
