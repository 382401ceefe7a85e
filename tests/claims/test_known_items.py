"""Nobody who knows a group and some values of a person has fewer than k rows before her: (k, k^m)-anonymity."""

from collections import defaultdict
from dataclasses import replace
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.datasets import histories, history_policy
from manyveils.methods.hiding import Items, hidden_cells
from tests.kit.oracles import fewest_rows

METHODS = {
    "generalize": {"method": "generalize", "suppression": 0.1},
    "mondrian": {"method": "generalize", "recoding": "mondrian"},
    "anatomize": {"method": "anatomize", "suppression": 0.2},
    "codip": {"method": "codip"},
    "separate": {"method": "separate"},
}
SETS = st.sets(st.integers(0, 4), max_size=4)


def items_of(rows, groups, n_values=5):
    """The values of rows as the maker has them."""
    pairs = [(row, value) for row, values in enumerate(rows) for value in sorted(values)]
    listed = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return Items(listed[:, 0], listed[:, 1], np.array(groups), n_values)


def left_of(items):
    """What rows still show, group by group."""
    rows = defaultdict(set)
    for row, value in zip(items.rows.tolist(), items.values.tolist(), strict=True):
        rows[row].add(value)
    groups = defaultdict(list)
    for row, group in enumerate(items.groups.tolist()):
        groups[group].append(frozenset(rows[row]))
    return groups


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_left_is_shown_by_enough_persons(data):
    """Where persons have several rows, every set of values that a row still shows stands in rows of k persons."""
    rows = data.draw(st.lists(SETS, min_size=1, max_size=14))
    numbers = st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows))
    groups, persons = (
        data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))),
        data.draw(numbers),
    )
    k, most = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 3))
    items = replace(items_of(rows, groups), persons=np.array(persons))
    left = items.without(hidden_cells(items, k, most))
    shown = defaultdict(set)
    for row, value in zip(left.rows.tolist(), left.values.tolist(), strict=True):
        shown[row].add(value)
    for row, values in shown.items():
        for size in range(1, most + 1):
            for known in combinations(sorted(values), size):
                alike = {
                    persons[r] for r, own in shown.items() if groups[r] == groups[row] and own >= {*known}
                }
                assert len(alike) >= k


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_what_is_left_keeps_the_promise(data):
    """No set of values that is still shown is rarer than k in its group, and nothing is hidden where none was."""
    rows = data.draw(st.lists(SETS, min_size=1, max_size=14))
    groups = data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows)))
    k, most = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    items = items_of(rows, groups)
    cells = hidden_cells(items, k, most)
    for group, left in left_of(items.without(cells)).items():
        assert fewest_rows(left, most=most) >= min(k, len(left))
        before = left_of(items)[group]
        if fewest_rows(before, most=most) >= k:
            assert not np.isin(cells // 5, group).any()


def release_of(sets, groups):
    """A release of one table as it is, the table, and the attributes of its policy."""
    frame = pl.DataFrame({"q": groups, "codes": ["|".join(sorted(own)) for own in sets]})
    attributes = {"q": {"role": "quasi"}, "codes": {"role": "sensitive", "multivalued": "|"}}
    policy = mv.Policy(attributes=attributes, guarantee={"k": 1}, publish={"method": "generalize"})
    return mv.publish(frame, policy, seed=1), frame, attributes


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_the_judge_measures_as_defined(data):
    """What the audit measures of a table published as it is, is the fewest rows of any group by the definition."""
    values = st.sets(st.sampled_from("abcd"), max_size=4)
    sets = data.draw(st.lists(values, min_size=1, max_size=12).filter(any))
    groups = data.draw(st.lists(st.integers(0, 2), min_size=len(sets), max_size=len(sets)))
    most = data.draw(st.integers(1, 4))
    release, frame, attributes = release_of(sets, groups)
    k = min(2, len(sets))
    asked = mv.Policy(attributes=attributes, guarantee={"k": k, "known_items": most})
    [finding] = [one for one in mv.audit(release, frame, asked).findings if one.promise == "k-m-anonymity"]
    by_group = defaultdict(list)
    for own, group in zip(sets, groups, strict=True):
        by_group[group].append(frozenset(own))
    measured = {group: fewest_rows(rows, most=most) for group, rows in by_group.items()}
    assert finding.measured == min(measured.values())
    assert finding.groups_short == sum(least < k for least in measured.values())
    assert finding.kept == (finding.measured >= k)


@pytest.mark.parametrize("way", METHODS)
@pytest.mark.parametrize("most", [1, 2])
def test_methods_keep_it(way, most):
    """Every method that hides values keeps the promise by its audit and by the definition, and all promises with it."""
    frame = histories(600)
    policy = history_policy(publish=METHODS[way], guarantee={"k": 4, "l": 2, "known_items": most})
    attributes = {
        name: one.model_dump(exclude_unset=True, by_alias=True) for name, one in policy.attributes.items()
    }
    attributes["diagnoses"]["level"] = 2
    policy = policy.replaced(attributes=attributes)
    release = mv.publish(frame, policy, seed=3)
    audit = mv.audit(release, frame, policy)
    assert audit.kept
    assert [finding.promise for finding in audit.findings].count("k-m-anonymity") >= 1
    for view in release.views:
        if len(view.attributes) > 1:
            assert all(
                fewest_rows(rows, most=most) >= 4
                for file in view.files
                for rows in shown_in(release, view, file)
            )
    listed = release.manifest.describe()["promises"]
    assert {"k": 4, "known_items": most, "attribute": "diagnoses"} in [one["parameters"] for one in listed]


def shown_in(release, view, file):
    """The sets that the rows of each group show, for a column that has some."""
    names = [name for name in file.attributes if name.startswith("diagnoses=")]
    known = [
        name
        for name in release.frames[file.table].columns
        if name in ("bucket", "age", "gender", "district", "marital")
    ]
    groups = defaultdict(list)
    for row in release.frames[file.table].iter_rows(named=True):
        groups[tuple(row[name] for name in known)].append(
            frozenset(name for name in names if str(row[name]) == "1")
        )
    return groups.values() if names else ()


def test_hidden_values_are_told():
    """The publisher is told how many values are hidden, and an original with a value stands under what is published."""
    policy = history_policy(
        publish={"method": "generalize", "recoding": "mondrian"}, guarantee={"k": 5, "known_items": 1}
    )
    frame = histories(400)
    release = mv.publish(frame, policy, seed=1)
    assert 0 < release.notes["share_of_values_hidden"] <= 1
    count = release.count("diagnoses contains '407'")
    true = frame["diagnoses"].str.split("|").list.contains("407").sum()
    assert true > 0
    assert count.low <= true <= count.high


@pytest.mark.parametrize("method", ["slice", "guardian", "multi-sa"])
def test_other_methods_refuse(method):
    """Methods whose promises are judged by what stands beside what is hidden say which others there are."""
    policy = history_policy(publish={"method": method}, guarantee={"k": 5, "known_items": 1})
    with pytest.raises(mv.PolicyError, match="cannot hide values of diagnoses"):
        mv.publish(histories(50), policy)


@pytest.mark.parametrize(
    ("guarantee", "said"),
    [
        ({"known_items": 2}, "goes with k"),
        ({"k": 5, "known_items": 0}, "known_items"),
        ({"k": 5, "known_items": 9}, "known_items"),
        ({"k": 5, "known_items": 1, "eliminations": 1}, "a promise of elimination"),
        ({"k": 5, "known_items": 1, "l": 2, "joint": [["specialty", "insurance"]]}, "looks at together"),
    ],
)
def test_what_is_asked_must_mean_something(guarantee, said):
    """Known items without k, none or too many of them, and beside eliminations, are refused."""
    with pytest.raises(mv.PolicyError, match=said):
        mv.publish(histories(50), history_policy(guarantee=guarantee))


def test_there_must_be_several_values():
    """Known items of a table without cells of several values promise nothing, and are refused."""
    attributes = {"q": {"role": "quasi"}, "s": {"role": "sensitive"}}
    with pytest.raises(mv.PolicyError, match="several values in a cell"):
        mv.Policy(attributes=attributes, guarantee={"k": 2, "known_items": 1})


HIDING = {"q": {"role": "quasi"}, "d": {"role": "sensitive", "multivalued": "|"}}


@pytest.mark.parametrize(
    "share", [{"l": 2, "l_kind": "frequency"}, {"alpha": 0.5}, {"epsilon_link": 0.5}, {"beta": 1}]
)
def test_nothing_is_learnt_of_what_is_hidden(share):
    """A value whose rows are suppressed for being too common caps nothing in groups that hide it."""
    frame = pl.DataFrame({"q": [1] * 6 + [2] * 6, "d": ["v", "x", "x", "x", "", "", *["v"] * 6]})
    policy = mv.Policy(
        attributes=HIDING,
        guarantee={"k": 3, "known_items": 1, **share},
        publish={"method": "generalize", "suppression": 0.5},
    )
    release = mv.publish(frame, policy, seed=1)
    assert release.suppressed == 6
    assert set(release.frames["main"]["d=v"]) == {"*"}


def test_promises_that_merging_breaks_are_refused():
    """Hiding merges what a conditional promise tells apart, so those that merging can break are refused."""
    attributes = HIDING | {
        "w": {
            "role": "sensitive",
            "kind": "numeric",
            "guarantee": {"epsilon": 1, "m": 2, "conditional": True},
        }
    }
    frame = pl.DataFrame({"q": [1] * 4, "d": ["a", "a", "b", ""], "w": [0, 2, 9, 20]})
    with pytest.raises(mv.PolicyError, match="epsilon-m-anonymity looks at together"):
        mv.publish(frame, mv.Policy(attributes=attributes, guarantee={"k": 2, "known_items": 1}))


def test_buckets_that_nobody_finds_hide_nothing():
    """Without anything known in a view its buckets are not found, and only values too rare in all rows are hidden."""
    attributes = {"u": {"role": "neutral"}, "d": {"role": "sensitive", "multivalued": "|"}}
    frame = pl.DataFrame(
        {"u": range(12), "d": ["a|b", "a", "b", "c", "c", "a", "b", "c", "a", "b", "c", "a"]}
    )
    policy = mv.Policy(
        accept=["no-quasi: k", "neutral-unique: u"],
        attributes=attributes,
        guarantee={"k": 2, "known_items": 1},
        publish={"method": "anatomize"},
    )
    assert mv.publish(frame, policy, seed=1).notes["values_hidden"] == 0


def test_too_many_sets_are_refused(monkeypatch):
    """More sets of values than can be counted are refused with their number and two remedies."""
    monkeypatch.setattr("manyveils.methods.hiding.MOST_SETS", 3)
    frame = pl.DataFrame({"q": [1] * 8, "d": ["a|b|c"] * 8})
    policy = mv.Policy(attributes=HIDING, guarantee={"k": 2, "known_items": 2})
    with pytest.raises(mv.InfeasibleError, match=r"24 sets of 2 values, 3 at most\. Lower known_items to 1"):
        mv.publish(frame, policy)


def test_codes_under_a_label_are_not_nobody(tmp_path):
    """Where labels of codes are published, a code is refused by queries, and a manifest that says otherwise is a finding."""
    policy = history_policy(guarantee={"k": 5})
    attributes = {
        name: one.model_dump(exclude_unset=True, by_alias=True) for name, one in policy.attributes.items()
    }
    attributes["diagnoses"]["level"] = 2
    frame, policy = histories(300), policy.replaced(attributes=attributes)
    mv.publish(frame, policy, seed=1).save(tmp_path / "out")
    release = mv.Release.load(tmp_path / "out")
    assert release.manifest.levels == {"diagnoses": 2}
    assert release.count("diagnoses contains 'Circulatory'").low > 0
    with pytest.raises(mv.InputError, match="published as labels of its hierarchy"):
        release.count("diagnoses contains '407'")
    assert mv.audit(release, frame, policy).kept
    release.manifest = replace(release.manifest, levels={})
    assert not mv.audit(release, frame, policy).kept
