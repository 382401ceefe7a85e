"""The policy that a profile writes: it loads, explains itself, is the same every time, and publishes."""

import re
import tomllib

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils import datasets

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)
pools = st.sampled_from(
    [
        ["a", "b", "c"],
        ["1", "2", "3", "40", "500"],
        ["0.5", "1.25", "?", "7"],
        ["2020-01-31", "1999-12-01", ""],
        ["47906", "47302", "01234"],
        ["x|y", "y|z", "x", "z"],
        ["same"],
        ["", "NA"],
        ["1", "one", "2020-01-01"],
    ]
)


@st.composite
def frames(draw):
    """Tables of texts with any names and all kinds of cells."""
    chosen = draw(st.lists(names.filter(lambda name: name != "bucket"), min_size=1, max_size=5, unique=True))
    n = draw(st.integers(2, 40))
    cells = {name: draw(st.lists(st.sampled_from(draw(pools)), min_size=n, max_size=n)) for name in chosen}
    return pl.DataFrame(cells, schema=dict.fromkeys(chosen, pl.String))


def written(frame):
    try:
        return mv.profile(frame).policy_text()
    except mv.DataError:
        return None


def unexplained(text):
    """Settings without a comment on the line above."""
    lines = text.splitlines()
    settings_ = [number for number, line in enumerate(lines) if re.match(r"^\w+ = ", line)]
    # The two keys of a dependency share its comment.
    return [
        lines[n] for n in settings_ if not lines[n - 1].startswith("#") and not lines[n].startswith("to =")
    ]


@given(frames())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_any_table(frame):
    """Whatever the names and cells, the policy loads, names every column, explains every setting and publishes."""
    text = written(frame)
    if text is None:
        return
    document = tomllib.loads(text)
    assert list(document["attributes"]) == frame.columns
    assert unexplained(text) == []
    policy = mv.Policy(**document)
    release = mv.publish(frame, policy, seed=1)
    assert release.rows == frame.height


@given(frames())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
def test_always_the_same(frame):
    """The same table gives the same policy, word for word."""
    assert written(frame) == written(frame.clone())


@pytest.mark.parametrize(
    "frame",
    [
        datasets.hospital(300),
        datasets.tumours(300),
        datasets.discharges(800),
        datasets.slicing_patients(),
        datasets.codip_patients(),
        datasets.versatile_patients(),
    ],
    ids=["hospital", "tumours", "discharges", "slicing", "codip", "versatile"],
)
def test_embedded_tables(frame):
    """The policy of every embedded table publishes it, once somebody has decided what it asks for."""
    text = mv.profile(frame).policy_text().replace('role = "?"', 'role = "quasi"')
    assert unexplained(text) == []
    assert mv.publish(frame, tomllib.loads(text), seed=1).rows == frame.height


def test_several_values_in_a_cell():
    """Cells with several values are declared so where a promise about single values can be kept."""
    document = tomllib.loads(mv.profile(datasets.hospital(300)).policy_text())
    assert document["attributes"]["diagnosis"]["multivalued"] == "|"
    common = pl.DataFrame({"age": range(20, 60), "symptoms": ["a|b", "a|c", "a", "a|b|c"] * 10})
    attributes = tomllib.loads(mv.profile(common).policy_text())["attributes"]
    assert "multivalued" not in attributes["symptoms"]


def test_kinds_of_frames():
    """Tables of pandas and PyArrow give the policy that Polars gives."""
    frame = datasets.hospital(200)
    text = mv.profile(frame).policy_text()
    assert mv.profile(frame.to_arrow()).policy_text() == text
    assert mv.profile(frame.to_pandas()).policy_text() == text


def test_promises_leave_room():
    """The l that is promised is kept by the whole table: shares of a quarter allow 3, of two fifths 2."""

    def promised(values):
        frame = pl.DataFrame({"illness": values, "sex": ["m", "f"] * (len(values) // 2)})
        return tomllib.loads(mv.profile(frame).policy_text())["guarantee"]

    assert promised(list("abcd") * 25) == {"k": 5, "l": 3, "l_kind": "frequency"}
    assert promised(list("aabcd") * 20) == {"k": 5, "l": 2, "l_kind": "frequency"}
    assert promised(list("aaabc") * 20) == {"k": 5, "l": 2, "l_kind": "distinct"}
    assert promised(list("abcd") * 3) == {"k": 2, "l": 2, "l_kind": "frequency"}


def test_several_values_whose_columns_would_clash():
    """An attribute with several values in a cell is not declared so if a column has the name of one of its values."""
    cells = ["Flu|Gout", "Cold|Burn", "Cut|Acne", "Flu|Cold", "Gout|Burn", "Cut", "Acne", "Cold"] * 10
    plain = pl.DataFrame({"age": [str(n % 7) for n in range(80)], "diagnosis": cells})
    assert 'multivalued = "|"\n' in mv.profile(plain).policy_text()
    clashing = plain.with_columns(plain["age"].alias("diagnosis=Flu"))
    text = mv.profile(clashing).policy_text()
    mv.publish(clashing, mv.Policy(**tomllib.loads(text)), seed=1)


def test_several_values_that_are_not_declared_are_told():
    """Where one of several values in a cell is too common to be protected by itself, the policy says that it is not."""
    cells = ["Flu|Gout", "Flu|Cold", "Burn|Flu", "Flu", "Gout|Cold"] * 12
    frame = pl.DataFrame({"age": [str(n % 7) for n in range(60)], "diagnosis": cells})
    text = mv.profile(frame).policy_text()
    assert "Cells seem to hold several values, separated by |, but each cell counts as one value here" in text


def test_another_delimiter(tmp_path):
    """A delimiter that is given is written into the policy, which then reads the file."""
    data = tmp_path / "data.csv"
    data.write_text("age^diagnosis\n" + "".join(f"{n % 9}^{'abc'[n % 3]}\n" for n in range(60)))
    found = mv.profile(data, delimiter="^")
    policy = mv.Policy(**tomllib.loads(found.policy_text()))
    assert policy.data.delimiter == "^"
    assert mv.publish(data, policy, seed=1).rows == 60
    for wrong in ("", "^^", "\n", "é"):
        with pytest.raises(mv.InputError, match="must be one character"):
            mv.profile(data, delimiter=wrong)
