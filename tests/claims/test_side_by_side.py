"""What threads find side by side is what one finds alone."""

from unittest.mock import patch

import pytest

import manyveils as mv
from manyveils.datasets import visit_policy, visits
from manyveils.errors import DataError
from manyveils.threads import side_by_side

METHODS = (
    {"method": "generalize", "suppression": 0.1},
    {"method": "generalize", "recoding": "mondrian"},
    {"method": "anatomize", "suppression": 0.1},
    {"method": "slice", "suppression": 0.1},
)


@pytest.mark.parametrize("publish", METHODS, ids=lambda publish: publish.get("recoding", publish["method"]))
def test_audits(publish):
    """An audit of many rows has the findings, in their order, of one of few."""
    people, policy = visits(600), visit_policy(publish=publish)
    release = mv.publish(people, policy, seed=1)
    alone = mv.audit(release, people, policy)
    with patch("manyveils.threads.MANY_ROWS", 0), patch("polars.thread_pool_size", lambda: 4):
        together = mv.audit(release, people, policy)
        again = mv.publish(people, policy, seed=1)
    assert together.describe() == alone.describe()
    assert all(again.tables[name].equals(table) for name, table in release.tables.items())


def test_the_first_error_is_raised():
    """Of several items that fail, the first one's error is raised, whoever fails first."""

    def refuse(place: int) -> int:
        if place:
            raise DataError.at(f"row {place}", "is wrong.", "Mend it.")
        return place

    with patch("polars.thread_pool_size", lambda: 3):
        found = side_by_side(refuse, range(4), 1_000_000)
        assert next(found) == 0
        with pytest.raises(DataError, match="row 1"):
            next(found)
