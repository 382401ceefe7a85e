"""`manyveils plan --find-dependencies`: what follows from what in the data."""

import pytest


@pytest.fixture
def counties(desk):
    """A desk with zip codes that decide counties, and a rule that protects the county."""
    rows = [f"Zq7n{i},{i % 7},Zq7zip{i % 6},Zq7county{i % 6 // 2}" for i in range(60)]
    desk.data("\n".join(["name,age,zip,county", *rows]) + "\n")
    desk.document["attributes"] = {"name": {"role": "identifier"}} | {
        name: {"role": "neutral", "kind": "categorical"} for name in ("age", "zip", "county")
    }
    desk.document |= {
        "guarantee": {},
        "rules": [{"given": ["zip", "age"], "protect": "county"}],
        "publish": {"method": "guardian"},
    }
    desk.policy()
    return desk


def test_found(counties):
    """The dependency is listed with the rule it breaks; nothing is published, and no cell is shown."""
    found = counties.run("plan", counties.folder / "policy.toml", "--find-dependencies", "--json")
    assert found.status == 0
    [entry] = found.document["dependencies"]
    assert (entry["from"], entry["to"], entry["declared"]) == (["zip"], "county", False)
    assert entry["breaks"] == ["age, zip ⇏ county"]
    shown = counties.run("plan", counties.folder / "policy.toml", "--find-dependencies")
    assert "age, zip ⇏ county" in shown.stdout
    assert "Zq7" not in shown.stdout.replace(str(counties.folder), "")


def test_declared(counties):
    """A rule that a declared dependency breaks is refused, and the dependency is shown as declared."""
    counties.document["dependencies"] = [{"from": ["zip"], "to": "county"}]
    counties.policy()
    message = counties.refused(status=1)
    assert "rule age, zip ⇏ county: cannot be promised against someone who knows zip → county" in message
    found = counties.run("plan", counties.folder / "policy.toml", "--find-dependencies", "--json")
    assert found.document["dependencies"][0]["declared"] is True


@pytest.mark.parametrize("method", ["generalize", "anatomize", "slice", "codip"])
def test_roles(counties, method):
    """With roles a dependency is not passed over: what it gives away is refused, with the dependency."""
    counties.document |= {"rules": [], "publish": {"method": method}, "guarantee": {"k": 2, "l": 2}}
    counties.document["dependencies"] = [{"from": ["zip"], "to": "county"}]
    counties.document["attributes"] |= {"zip": {"role": "quasi"}, "county": {"role": "sensitive"}}
    counties.policy()
    assert "nothing can be promised of it against someone who knows zip → county" in counties.refused(
        status=1
    )
    counties.document["attributes"] |= {"zip": {"role": "neutral"}, "age": {"role": "quasi"}}
    counties.policy()
    message = counties.refused(status=1)
    assert f"county: known dependencies tie it to zip, and method '{method}' does not part them" in message
