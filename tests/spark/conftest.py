"""A Spark session for all tests of the engine, on two cores of this machine."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

HERE = Path(__file__).parent


# Of tests with several cases every fourth is run, and all of them by `make test-spark`.
EVERY = 4
IS_THOROUGH = bool(os.environ.get("MANYVEILS_THOROUGH"))
# Queries on a few rows take Spark longer to compile than to answer; `make test-spark` compiles them as users do.
HASTY = {"spark.sql.codegen.wholeStage": "false"}
HASTY_JAVA = "-XX:TieredStopAtLevel=1"


def pytest_collection_modifyitems(config, items):
    """Leave out cases, unless all are asked for."""
    if IS_THOROUGH:
        return
    cases = {}
    for item in (item for item in items if HERE in item.path.parents):
        cases.setdefault((item.path, item.originalname), []).append(item)
    left_out = {item for some in cases.values() for place, item in enumerate(some) if place % EVERY}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def spark():
    """One session; starting one takes longer than most tests."""
    from manyveils.spark.session import session

    if not IS_THOROUGH:
        os.environ.setdefault("JDK_JAVA_OPTIONS", HASTY_JAVA)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = session("local[2]")
        # Tables are small, and every partition of a shuffle costs a task.
        settings = {"spark.sql.shuffle.partitions": "2"} | ({} if IS_THOROUGH else HASTY)
        for key, value in settings.items():
            found.conf.set(key, value)
        yield found
        found.stop()


@pytest.fixture(autouse=True)
def kept_there(monkeypatch):
    """Rows stay with Spark, few as they are; tests of what is done with small tables say so."""
    monkeypatch.setenv("MANYVEILS_WHOLE_CELLS", "1")


@dataclass(frozen=True)
class There:
    """What publishing on Spark came to: a release as it is read back, or a refusal."""

    refused: str = ""
    release: Any = None
    audit: Any = None
    notes: Any = None
    key: Any = None

    @property
    def tables(self):
        """All cells, in order."""
        return tables_of(self.release)


def tables_of(release):
    """All cells of a release, in order, with the types of its columns."""
    return {name: (frame.schema, frame.rows()) for name, frame in release.frames.items()}


def spread(spark, frame, n_partitions, *, shuffled=0):
    """The rows in another order, in so many partitions."""
    moved = frame.sample(fraction=1, shuffle=True, seed=shuffled) if shuffled else frame
    return spark.createDataFrame(moved.to_arrow()).repartition(n_partitions)


@pytest.fixture
def publish(spark, tmp_path_factory):
    """A way to publish a frame on Spark from so many partitions of shuffled rows."""
    from manyveils.errors import ManyveilsError
    from manyveils.publishing import publish_to
    from manyveils.release import Release

    def publish(frame, policy, n_partitions=3, *, shuffled=0, seed=1):
        folder = tmp_path_factory.mktemp("there") / "out"
        rows = spread(spark, frame, n_partitions, shuffled=shuffled)
        try:
            found = publish_to(policy, folder, data=rows, seed=seed)
        except ManyveilsError as error:
            assert not folder.exists()
            return There(refused=f"{type(error).__name__}: {error}")
        return There("", Release.load(folder), found.audit, dict(found.release.notes), found.release.key)

    return publish


@pytest.fixture
def parts_judged(monkeypatch):
    """How many parts every view was judged in, view after view, as far as views are judged where rows are."""
    from manyveils.spark import grouped

    found = []

    def watched(judge):
        def judged(*arguments):
            findings = judge(*arguments)
            found.extend([] if findings is None else [len(findings)])
            return findings

        return judged

    for name in ("findings_of", "findings_in_ranges"):
        monkeypatch.setattr(grouped, name, watched(getattr(grouped, name)))
    return found


@pytest.fixture
def said():
    """A way to write down what an audit finds, with numbers rounded, or what it refuses."""
    from manyveils.errors import ManyveilsError
    from tests.kit.engines import seen_by_both

    def said(audit):
        try:
            found = audit()
        except ManyveilsError as error:
            return f"{type(error).__name__}: {error}"
        each = [finding.describe().items() for finding in seen_by_both(found).findings]
        return [{key: round(n, 9) if isinstance(n, float) else n for key, n in items} for items in each]

    return said
