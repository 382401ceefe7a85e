"""What is left out of a release is nowhere in it, however its tables are written down."""

import io
import pickle

import polars as pl
import pyarrow as pa
import pytest

import manyveils as mv

# All texts are longer than twelve bytes: Polars keeps these outside of the cell, where neighbours may stay behind.
SOUTH = [f"a city of the south, number {n}" for n in range(4)]
NORTH = ["the only city of the north"]
TREE = {"all cities of the south": SOUTH, "all cities of the north": NORTH}
WAYS = {
    "full-domain": {"method": "generalize"},
    "anatomize": {"method": "anatomize"},
    "multi-sa": {"method": "multi-sa", "time_limit": 5},
}
KINDS = {
    "polars": lambda frame: frame,
    "lazy": pl.DataFrame.lazy,
    "pandas": pl.DataFrame.to_pandas,
    "pyarrow": pl.DataFrame.to_arrow,
}


def people():
    """Forty people; one lives where nobody else does, half have one illness, and each has a remark of her own."""
    return pl.DataFrame(
        {
            "city": [*NORTH, *(SOUTH[n % 4] for n in range(39))],
            "ill": [f"an illness with a long name, number {n % 20 if n < 20 else 0}" for n in range(40)],
            "note": [f"a remark about one person, number {n:02}" for n in range(40)],
        }
    )


def policy(publish):
    """Groups of five, no illness in more than half of one; some rows may go."""
    return mv.Policy(
        accept=["free-text: note"],
        attributes={
            "city": {"role": "quasi", "kind": "categorical", "hierarchy": {"tree": TREE}},
            "ill": {"role": "sensitive", "kind": "categorical"},
            "note": {"role": "neutral", "kind": "categorical"},
        },
        guarantee={"k": 5, "l": 2, "l_kind": "frequency"},
        publish={"suppression": 0.3, **publish},
    )


def written(frame):
    """A dataframe of any kind in every form that it may be kept in."""
    table = frame.to_arrow() if isinstance(frame, pl.DataFrame) else pa.table(frame)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    yield from (sink.getvalue(), pickle.dumps(frame), pickle.dumps(table), pickle.dumps(table.to_pandas()))
    for write in (
        ("write_ipc", "write_ipc_stream", "write_parquet") if isinstance(frame, pl.DataFrame) else ()
    ):
        sink = io.BytesIO()
        getattr(frame, write)(sink, compression="uncompressed")
        yield sink.getvalue()
    yield pl.DataFrame(frame).write_csv().encode()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_no_suppressed_text_is_in_any_serialization(way, kind):
    """No text that no published cell has stands in what tables, recodings or the release are written as."""
    release = mv.publish(KINDS[kind](people()), policy(WAYS[way]), seed=1)
    assert release.suppressed > 0
    frames = [*release.frames.values(), *release.recodings.values()]
    shown = {str(cell) for frame in frames for column in frame.get_columns() for cell in column}
    texts = {*(cell for row in people().rows() for cell in row), *TREE}
    assert {name for name in people().columns if set(people()[name]) - shown} >= {"note"}
    forms = [form for frame in [*release.tables.values(), *frames] for form in written(frame)]
    forms.append(pickle.dumps(release))
    assert any(b"a remark about one person" in form for form in forms)
    assert not [text for text in texts - shown if any(text.encode() in form for form in forms)]
