"""Tables in object storage, which Polars reads by ranges of their rows."""

import re

import polars as pl

from manyveils.errors import DataError

STORED = re.compile(r"^(s3|s3a|gs|gcs|az|abfs|abfss)://", re.IGNORECASE)
PARQUET, ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")


def is_stored(source: object) -> bool:
    """Whether data are named by an address in object storage.

    >>> is_stored("s3://bucket/people.parquet"), is_stored("sqlite:///people.db")
    (True, False)
    """
    return isinstance(source, str) and STORED.match(source) is not None


def scanned(address: str) -> pl.LazyFrame:
    """A table in object storage; keys and endpoint come from the environment, as for any tool there."""
    ending = address.lower()
    if ending.endswith(PARQUET):
        return pl.scan_parquet(address, glob=False)
    if ending.endswith(ARROW):
        return pl.scan_ipc(address, glob=False)
    what = "only parquet and arrow files are read from object storage."
    raise DataError.at(address, what, "Copy the file here, or convert it.")


def unread(address: str) -> DataError:
    """What is said of a table that did not come: the library's own message may hold keys or cells."""
    what = "cannot be read: it is not there, its store does not let us in, or it is damaged."
    remedy = "Look at AWS_ACCESS_KEY_ID, AWS_REGION and AWS_ENDPOINT_URL, or the like of other stores."
    return DataError.at(address, what, remedy)
