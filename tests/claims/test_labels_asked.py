"""Queries with published labels count the people who stand under them."""

import polars as pl
import pytest

import manyveils as mv

N = 120
FRAME = pl.DataFrame(
    {
        "age": [20 + i % 40 for i in range(N)],
        "job": [["Nurse", "Doctor", "Cook", "Clerk"][i % 4] for i in range(N)],
        "ill": [f"ill {i % 5}" for i in range(N)],
    }
)
TREE = {"Health": ["Nurse", "Doctor"], "Trade": ["Cook", "Clerk"]}


def release(recoding="full-domain", k=20):
    """A release with intervals of ages and groups of jobs."""
    attributes = {
        "age": {"role": "quasi", "hierarchy": {"widths": [10, 20]}},
        "job": {"role": "quasi", "hierarchy": {"tree": TREE}},
        "ill": {"role": "sensitive"},
    }
    publish = {"method": "generalize", "recoding": recoding}
    return mv.publish(FRAME, mv.Policy(attributes=attributes, guarantee={"k": k}, publish=publish), seed=1)


@pytest.mark.parametrize("recoding", ["full-domain", "mondrian"])
@pytest.mark.parametrize("name", ["age", "job"])
def test_every_label_counts_its_rows(recoding, name):
    """Asked for a label, the release counts at least the rows that show it, and all that may stand under it."""
    published = release(recoding)
    shown = published.tables["main"]
    for label in shown[name].cast(pl.String).unique().drop_nulls().to_list():
        count = published.count(f"{name} = '{label}'")
        n_shown = int((shown[name].cast(pl.String) == label).sum())
        assert count.low >= n_shown or label == "*"
        assert count.high >= n_shown


def test_labels_mean_what_they_cover():
    """`=`, `!=` and `in` with labels agree with the originals written out."""
    published = release(k=15)
    label = next(
        text for text in published.tables["main"]["age"].cast(pl.String).to_list() if text.startswith("[")
    )
    low, high = (int(end) for end in label.strip("[]").split(", "))
    whole = published.count(f"age >= {low} and age <= {high}")
    assert published.count(f"age = '{label}'") == whole
    assert published.count(f"age in ('{label}')") == whole
    others = published.count(f"age != '{label}'")
    assert (others.estimate + whole.estimate) == pytest.approx(published.rows)


def test_an_original_of_the_same_name_comes_first():
    """A text that is an original means that original, whatever labels there are."""
    plain = mv.publish(
        FRAME,
        mv.Policy(
            attributes={"age": {"role": "quasi"}, "job": {"role": "quasi"}, "ill": {"role": "sensitive"}},
            guarantee={"k": 1},
        ),
        seed=1,
    )
    assert plain.count("job = 'Nurse'").estimate == 30
    assert plain.count("job = 'nobody has it'").estimate == 0
