"""The demo: needs nothing, shows everything."""

import json

from manyveils.methods import METHODS, load

# What does not change is not kept by all methods.
REFUSE_VISITS = {"alpha-beta-k"}
RELEASES = [name for method in METHODS for name in load(method).demo]


def test_demo(desk, monkeypatch):
    """The demo publishes the fewest rows it takes with every method, keeps every promise, says where the files are, and runs twice."""
    out = desk.folder / "demo"
    words = ("demo", "--out", out, "--rows", 100, "--seed", 1)
    first = desk.run(*words)
    assert (first.status, first.stderr) == (0, "")
    for name in RELEASES:
        assert (out / name / "release.json").is_file()
        assert json.loads((out / f"{name}.private" / "audit.json").read_text())["kept"] is True
        assert name in first.stdout
    for name in set(RELEASES) - REFUSE_VISITS:
        private = out / "visits" / f"{name}.private"
        assert json.loads((private / "audit.json").read_text())["kept"] is True
        assert json.loads((private / "audit.json").read_text())["persons"]["counted_by"] == ["patient"]
    for name in REFUSE_VISITS:
        assert f"Method {name} refuses the visits" in first.stdout
    assert (out / "hospital.csv").is_file()
    assert (out / "policy.toml").is_file()
    assert str(out / "hospital.csv") in first.stdout
    assert (out / "report.html").is_file()
    assert first.stdout.rstrip().endswith("report.html")
    few = list(load(METHODS[0]).demo)
    monkeypatch.setattr("manyveils.methods.METHODS", METHODS[:1])
    # Without the extra that writes reports there is none, and all else.
    monkeypatch.setattr("manyveils.comparing.comparison.can_draw", lambda: False)
    again = desk.run(*words, "--json")
    assert again.status == 0
    assert again.document["report"] is None
    assert [result["name"] for result in again.document["results"]] == few
    assert all(result["kept"] for result in again.document["results"])
