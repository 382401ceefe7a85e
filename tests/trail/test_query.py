"""`manyveils query`: counts from a release folder alone."""


def test_query(desk):
    """An estimate lies in its range; a count that is certain is told as such."""
    out = desk.published("--seed", 1)
    found = desk.run("query", out, "age >= 25 and illness = 'Zq7ill1'", "--json")
    assert found.status == 0
    assert found.document["low"] <= found.document["estimate"] <= found.document["high"]
    assert set(found.document) == {"estimate", "low", "high", "how"}
    assert "for certain" in desk.run("query", out, "age >= 25 and illness = 'Zq7ill1'").stdout
    assert desk.run("query", out, "illness = 'Zq7ill1'").stdout == "Exactly 3 rows.\n"


def test_wrong_queries(desk):
    """A query that cannot be answered is refused with status 2."""
    out = desk.published("--seed", 1)
    assert "is not published" in desk.refused("query", out, "name = 'x'")
    assert "ends too early" in desk.refused("query", out, "age >")
