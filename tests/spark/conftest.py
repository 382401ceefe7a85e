"""A Spark session for all tests of the engine, on two cores of this machine."""

import warnings

import pytest

pytest.importorskip("pyspark")


@pytest.fixture(scope="session")
def spark():
    """One session; starting one takes longer than most tests."""
    from manyveils.spark.session import session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = session("local[2]")
        yield found
        found.stop()
