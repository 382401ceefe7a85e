"""Files of a release that read the same and are written otherwise: each could hold a mark, and is found."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import manyveils as mv

FRAME = pl.DataFrame(
    {
        "age": [31, 32, 33, 34, 51, 52, 53, 54],
        "home": ["a", "b"] * 4,
        "ill": ["flu", "gout", "cold", "flu"] * 2,
        "score": [1.5, 2.0, 2.5, 1.5, 3.0, 2.0, 1.0, 0.5],
        "visits": [1, 2, 1000, 4, 7, 6, 7, 8],
    }
)
POLICY = mv.Policy(
    data={"person": "row"},
    attributes={
        "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
        "home": {"role": "quasi"},
        "ill": {"role": "sensitive"},
        "score": {"role": "neutral"},
        "visits": {"role": "neutral"},
    },
    guarantee={"k": 2},
    publish={"method": "generalize"},
    accept=["neutral-unique: visits", "neutral-unique: score", "neutral-unique: visits, score"],
)


def published(folder: Path, form: str) -> Path:
    """A release whose folder is as it was written."""
    out = mv.publish(FRAME, POLICY, 1).save(folder / "out", format=form)
    assert mv.audit(out, FRAME, POLICY).kept
    return out


def broken(out: Path) -> set[str]:
    """What the audit finds broken."""
    return {finding.promise for finding in mv.audit(out, FRAME, POLICY).broken}


def rewritten(file: str, change: Callable[[str], str]) -> Callable[[Path], None]:
    """A text file with something changed in it."""

    def edit(out: Path) -> None:
        path = out / file
        text = path.read_bytes().decode()
        changed = change(text)
        assert changed != text
        path.write_bytes(changed.encode())

    return edit


def with_repeated_key(text: str) -> str:
    """The manifest with a key that comes twice, the first time with something else."""
    return text.replace('"method":', '"method": "mark",\n  "method":', 1)


TABLE, MANIFEST, RECODING = "tables/main.csv", "release.json", "recodings/main.age.csv"
MARKS: dict[str, Callable[[Path], None]] = {
    "sign": rewritten(TABLE, lambda text: text.replace(",1000", ",+1000")),
    "leading zeros": rewritten(TABLE, lambda text: text.replace(",7\n", ",007\n", 1)),
    "trailing zeros": rewritten(TABLE, lambda text: text.replace(",1.5,", ",1.50,", 1)),
    "exponent": rewritten(TABLE, lambda text: text.replace(",1.5,", ",15e-1,", 1)),
    "quotes": rewritten(TABLE, lambda text: text.replace(",flu,", ',"flu",', 1)),
    "line ends": rewritten(TABLE, lambda text: text.replace("\n", "\r\n")),
    "one line end": rewritten(TABLE, lambda text: text.replace("\n", "\r\n", 1)),
    "no last line end": rewritten(TABLE, lambda text: text.rstrip("\n")),
    "byte order mark": rewritten(TABLE, lambda text: "\ufeff" + text),
    "spaces in the manifest": rewritten(MANIFEST, lambda text: text.replace(": ", ":  ", 1)),
    "manifest in one line": rewritten(MANIFEST, lambda text: json.dumps(json.loads(text))),
    "repeated key": rewritten(MANIFEST, with_repeated_key),
    "escapes": rewritten(MANIFEST, lambda text: text.replace("generalize", "\\u0067eneralize", 1)),
    "quotes in a recoding": rewritten(RECODING, lambda text: text.replace(";31", ';"31"')),
    "line ends of a recoding": rewritten(RECODING, lambda text: text.replace("\n", "\r\n")),
}


@pytest.mark.parametrize("mark", MARKS)
def test_marks_in_texts(tmp_path: Path, mark: str) -> None:
    """Whatever reads the same and is written otherwise is told."""
    out = published(tmp_path, "csv")
    MARKS[mark](out)
    # With the byte order mark the first field has another name.
    assert broken(out) & {"canonical-form", "nothing-but-listed"}


def named_pipe(out: Path) -> None:
    """What reads as a file, and is none."""
    os.mkfifo(out / "tables" / "pipe")


def link_to_folder(out: Path) -> None:
    """A folder that is elsewhere."""
    (out / "tables" / "more").symlink_to(out.parent, target_is_directory=True)


def empty_folder(out: Path) -> None:
    """A folder whose name could tell something."""
    (out / "tables" / "yes").mkdir()


@pytest.mark.parametrize("add", [named_pipe, link_to_folder, empty_folder])
def test_nothing_else_stands_in_the_folder(tmp_path: Path, add: Callable[[Path], None]) -> None:
    """Pipes, links and empty folders are not listed, and the folder is refused."""
    out = published(tmp_path, "csv")
    add(out)
    with pytest.raises(mv.DataError, match="is not listed in the manifest"):
        mv.audit(out, FRAME, POLICY)


PARQUET: dict[str, dict[str, Any]] = {
    "row groups": {"row_group_size": 3},
    "compression": {"compression": "snappy"},
    "metadata": {"metadata": {"mark": "7"}},
    "statistics": {"statistics": False},
}


@pytest.mark.parametrize("mark", PARQUET)
def test_marks_in_parquet(tmp_path: Path, mark: str) -> None:
    """Row groups, compression, metadata and the like are as they always are."""
    out = published(tmp_path, "parquet")
    path = out / "tables" / "main.parquet"
    pl.read_parquet(path).write_parquet(path, **PARQUET[mark])
    assert broken(out) == {"canonical-form"}


def test_parquet_of_another_library_is_not_said_to_be_right(tmp_path: Path) -> None:
    """Another library lays the same table out otherwise: that is no mark that could be told, and is not called kept."""
    out = published(tmp_path, "parquet")
    path = out / "tables" / "main.parquet"
    pq.write_table(pl.read_parquet(path).to_arrow(), path)
    found = [own for own in mv.audit(out, FRAME, POLICY).findings if own.promise == "canonical-form"]
    assert [(own.promised, own.measured, own.kept) for own in found] == [
        (True, 0, True),
        (False, None, False),
    ]
    assert broken(out) == set()


def test_metadata_of_another_library_are_looked_at(tmp_path: Path) -> None:
    """Whoever wrote a file, nothing is noted in it beside the table."""
    out = published(tmp_path, "parquet")
    path = out / "tables" / "main.parquet"
    table = pl.read_parquet(path).to_arrow().replace_schema_metadata({"row 1": "ward 3"})
    pq.write_table(table, path)
    assert broken(out) == {"canonical-form"}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_that_is_read_and_written_again_is_the_same(tmp_path: Path, form: str) -> None:
    """Reading and writing changes no byte."""
    out = published(tmp_path, form)
    again = mv.Release.load(out).save(tmp_path / "again", format=form)
    files = [path.relative_to(out) for path in out.rglob("*") if path.is_file()]
    assert all((out / file).read_bytes() == (again / file).read_bytes() for file in files)
