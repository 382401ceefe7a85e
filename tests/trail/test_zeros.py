"""Spellings of one number: one value in a numeric attribute, several in a text one, wherever they are read."""

import polars as pl
import pytest

import manyveils as mv
from manyveils.table import encode

SPELLINGS = ["-0", "0", "0.0", "-0.0", " 0", "1e2", "100", "0.5"]
TEXTS = pl.DataFrame(
    {
        "q": [SPELLINGS[i % 8] for i in range(48)],
        "s": [SPELLINGS[(i * 5 + i // 8) % 8] for i in range(48)],
    }
)
NUMBERS = TEXTS.with_columns(pl.all().str.strip_chars().cast(pl.Float64))


def policy(kind, method="generalize"):
    """Make both columns of one kind; None lets the data decide."""
    section = {} if kind is None else {"kind": kind}
    attributes = {"q": {"role": "quasi", **section}, "s": {"role": "sensitive", **section}}
    return mv.Policy(attributes=attributes, guarantee={"k": 2, "l": 2}, publish={"method": method})


@pytest.mark.parametrize("kind", [None, "numeric"])
@pytest.mark.parametrize("frame", [TEXTS, NUMBERS, NUMBERS.reverse()], ids=["texts", "numbers", "reversed"])
def test_equal_numbers_are_one_value(frame, kind):
    """Every spelling of zero is the value 0.0, whichever of them stands first."""
    for _ in range(10):
        assert encode(frame, policy(kind))["s"].texts == ("0.0", "0.5", "100.0")


def test_a_lone_negative_zero_is_zero():
    """A column that only writes -0 has the text of zero, not one of its own."""
    for cells in (["-0", "0.5"], [-0.0, 0.5]):
        frame = pl.DataFrame({"q": cells, "s": cells})
        assert encode(frame, policy("numeric"))["s"].texts == ("0.0", "0.5")


def test_texts_stay_as_written():
    """In a text attribute every spelling is a value of its own."""
    assert set(encode(TEXTS, policy("categorical"))["s"].texts) == set(SPELLINGS)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("method", ["generalize", "anatomize", "separate", "slice"])
@pytest.mark.parametrize("kind", [None, "numeric", "categorical"])
@pytest.mark.parametrize("maker", ["csv", "polars", "pandas"])
def test_the_audit_always_says_the_same(tmp_path, maker, kind, method, form):
    """A release of columns with several spellings of zero is kept in every audit, from memory and from its folder."""
    TEXTS.write_csv(tmp_path / "texts.csv")
    data = {"csv": tmp_path / "texts.csv", "polars": NUMBERS, "pandas": NUMBERS.to_pandas()}[maker]
    release = mv.publish(data, policy(kind, method), seed=1)
    release.save(tmp_path / "out", format=form)
    for _ in range(3):
        assert mv.audit(release, data, policy(kind, method)).kept
        assert mv.audit(tmp_path / "out", data, policy(kind, method)).kept


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_negative_zero_in_a_published_file_is_zero(tmp_path, form):
    """A folder that writes some of its zeros as -0.0 is read as if it wrote 0.0."""
    promised = policy("numeric", "separate")
    mv.publish(NUMBERS, promised, seed=1).save(tmp_path / "out", format=form)
    for path in (tmp_path / "out" / "tables").iterdir():
        if form == "csv":
            path.write_text(path.read_text().replace("\n0.0\n", "\n-0.0\n"))
        else:
            table = pl.read_parquet(path)
            zeros = pl.when(pl.all() == 0).then(-0.0).otherwise(pl.all()).name.keep()
            table.with_columns(zeros).write_parquet(path)
    for table in mv.Release.load(tmp_path / "out").frames.values():
        assert "-0.0" not in table.to_series().cast(pl.String).to_list()
    for _ in range(5):
        broken = {finding.promise for finding in mv.audit(tmp_path / "out", NUMBERS, promised).broken}
        # A zero with a sign could be a mark.
        assert broken == {"canonical-form"}
