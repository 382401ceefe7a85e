"""What people get wrong with hierarchies of dates, and the message they get."""


def with_dates(desk, units, cell="2024-03-05"):
    rows = [f"Zq7n{i},{20 + i},{cell if i == 3 else f'2024-01-{10 + i}'},Zq7ill{i % 4}" for i in range(12)]
    desk.data("\n".join(["name,age,city,illness", *rows]) + "\n")
    desk.policy(attributes={"city": {"hierarchy": {"dates": units}}})
    return desk


def test_good(desk):
    """Dates with the year first are published."""
    assert with_dates(desk, ["month", "year"]).published()


def test_not_dates(desk):
    """Values that are no dates are counted, not quoted, even if they look like one."""
    message = with_dates(desk, ["month", "year"], cell="2024-02-30").refused()
    assert "attributes.city.hierarchy: 1 of 12 values are not dates. Write them as 2024-12-31" in message
    assert "1 of 12 values are not dates" in with_dates(desk, ["month"], cell="Zq7soon").refused()


def test_order(desk):
    """Parts that do not become coarser are refused with an example."""
    message = with_dates(desk, ["year", "month"]).refused()
    assert "attributes.city.hierarchy.dates: each part must be coarser than the one before." in message


def test_unknown_part(desk):
    """An unknown part is refused with the known ones, and nothing at all is refused too."""
    message = with_dates(desk, ["month", "yaer"]).refused()
    assert "must be one of 'day', 'month', 'quarter', 'year' or 'decade'. Did you mean 'year'?" in message
    assert "attributes.city.hierarchy.dates" in with_dates(desk, []).refused()
