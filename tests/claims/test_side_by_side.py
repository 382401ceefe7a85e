"""What threads find side by side is what one finds alone."""

from unittest.mock import patch

import pytest

import manyveils as mv
from manyveils.datasets import insured, insured_policy, visit_policy, visits
from manyveils.errors import DataError
from manyveils.publishing import publish_to
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


@pytest.mark.parametrize("method", ["anatomize", "generalize"])
def test_chains(method, tmp_path):
    """A second release of many people has the bytes of one of few."""
    publish = {"method": method, "suppression": 0.2} | (
        {"recoding": "mondrian"} if method == "generalize" else {}
    )
    policy, folders = insured_policy(publish=publish), []
    for name, most in (("alone", 10**9), ("together", 0)):
        with patch("manyveils.threads.MANY_ROWS", most), patch("polars.thread_pool_size", lambda: 4):
            first = publish_to(policy, tmp_path / f"{name}-1", data=insured(2_000, 1), seed=1)
            again = tmp_path / f"{name}-2"
            publish_to(policy, again, data=insured(2_000, 2), seed=1, after=[first.folder])
        folders.append(again)
    files = [sorted((folder / "tables").iterdir()) for folder in folders]
    assert [path.name for path in files[0]] == [path.name for path in files[1]]
    assert all(one.read_bytes() == other.read_bytes() for one, other in zip(*files, strict=True))


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
