"""l of labels and of single values: maker and judge decide it as the definition says, and groups may be merged as declared."""

from collections import defaultdict
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.audits.judge import judge
from manyveils.policy import Policy, Promise
from manyveils.policy.guarantees import (
    DistinctDiversity,
    EntropyDiversity,
    FrequencyDiversity,
    RecursiveDiversity,
)
from manyveils.promises.headcounts import kept_by_groups
from manyveils.promises.keeping import watch
from manyveils.reading.evidence import Evidence
from manyveils.release import Draft, Recoding
from manyveils.table import hold, resolve
from tests.kit import sealed
from tests.kit.oracles import holds, verdict
from tests.kit.reading import levels_of

# Two kinds of two, a kind of one, and a level between the kinds and the top.
TREE = {"inner": {"lungs": ["flu", "cough"], "gut": ["ulcer"]}, "outer": {"skin": ["rash", "acne"]}}
ILLS = ["flu", "cough", "ulcer", "rash", "acne"]
KINDS = ["lungs", "gut", "skin"]
SECTIONS = {
    "attributes": {
        "age": {"role": "quasi", "kind": "categorical"},
        "ill": {"role": "sensitive", "kind": "categorical", "hierarchy": {"tree": TREE}},
        "pay": {"role": "sensitive", "kind": "categorical"},
    }
}
POLICY = Policy(**SECTIONS)


@st.composite
def terms(draw):
    """A level, and an l of some of its labels."""
    level = draw(st.integers(0, 2))
    names = (ILLS, KINDS, ["inner", "outer"])[level]
    l_of = draw(st.dictionaries(st.sampled_from([*names, "missing"]), st.integers(1, 4), max_size=2))
    return {"l_level": level, "l_of": tuple(l_of.items())}


def diverse(kind, **thresholds):
    """Guarantees of one kind with any terms."""
    return st.tuples(st.fixed_dictionaries(thresholds), terms()).map(lambda pair: kind(**pair[0], **pair[1]))


L = st.integers(1, 4)
GUARANTEES = {
    "distinct": diverse(DistinctDiversity, l=L),
    "frequency": diverse(FrequencyDiversity, l=L),
    "entropy": diverse(EntropyDiversity, l=L),
    "recursive": diverse(
        RecursiveDiversity, c=st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(4)]), l=L
    ),
}
every_kind = pytest.mark.parametrize("guarantees", GUARANTEES.values(), ids=GUARANTEES.keys())
rows = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([*ILLS, None]), st.sampled_from("xy")),
    min_size=1,
    max_size=14,
)
spared = st.sampled_from(
    [frozenset(), frozenset({"flu"}), frozenset({"flu", "cough"}), frozenset({"", "rash"})]
)


def framed(people):
    """A table of people."""
    return pl.DataFrame(people, schema={"age": pl.String, "ill": pl.String, "pay": pl.String}, orient="row")


def grouped(keys, values):
    """The values of every key, a missing one as the empty text."""
    groups = defaultdict(list)
    for key, value in zip(keys, values, strict=True):
        groups[key].append(value or "")
    return groups


@every_kind
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_the_maker_decides_as_defined(guarantees, data):
    """Every kind of l is decided on labels and with an l of their own as its definition says."""
    people, insensitive = data.draw(rows), data.draw(spared)
    guarantee = data.draw(guarantees)
    table, _ = hold(framed(people), POLICY)
    watches = watch((Promise(guarantee, ("age",), ("ill",), insensitive),), table, ("ill", "pay"))
    ages, ills, _ = zip(*people, strict=True)
    groups = grouped(ages, ills)
    numbers = np.array([list(groups).index(age) for age in ages])
    fine = kept_by_groups(watches, numbers, len(groups))
    whole = [ill or "" for ill in ills]
    asked = {"insensitive": insensitive, "domain": table["ill"].texts, "levels": levels_of(table["ill"])}
    assert fine.tolist() == [holds(guarantee, group, whole, **asked) for group in groups.values()]


@every_kind
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_the_judge_measures_as_defined(guarantees, data):
    """What the audit measures, and what it finds kept, is what the definition says, for published labels too."""
    people, insensitive = data.draw(rows), data.draw(spared)
    guarantee = data.draw(guarantees)
    shown = [
        data.draw(st.sampled_from(_above(ill))) if data.draw(st.booleans()) else ill for _, ill, _ in people
    ]
    release, table = _published(people, shown)
    promise = Promise(guarantee, ("age",), ("ill",), insensitive)
    [finding] = [
        finding
        for finding in judge(Evidence(release, table, POLICY), promise, promised=True)
        if finding.reading == "marginal"
    ]
    levels = levels_of(table["ill"])
    # Where values are counted, texts that stand for the same values are one.
    shown = shown if guarantee.l_level else _as_one(shown, table["ill"].texts)
    verdicts = [
        verdict(guarantee, group, [ill or "" for _, ill, _ in people], insensitive=insensitive,
                domain=table["ill"].texts, levels=levels)
        for group in grouped([age for age, _, _ in people], shown).values()
    ]  # fmt: skip
    assert finding.kept == all(found.kept for found in verdicts)
    assert finding.groups_short == sum(not found.kept for found in verdicts)
    measures = [found.measure for found in verdicts if found.measure is not None]
    worst = (min if guarantee.worst == "smallest" else max)(measures, default=None)
    assert finding.measured == (worst if worst is None else pytest.approx(worst))
    assert finding.terms == guarantee.terms


def _as_one(shown, ills):
    """One text for labels over the same values of the table; a label over one value of the hierarchy is that value."""
    under = {
        text: tuple(ill for ill in ills if text in _above(ill or None)) for text in shown if text not in ills
    }
    first = {}
    for text, own in under.items():
        if len(own) > 1:
            first.setdefault(own, text)
    return [first.get(under.get(text), "ulcer" if text == "gut" else text) for text in shown]


def _above(ill):
    """A value and the labels above it; a missing value has none."""
    paths = {
        leaf: [kind, part, "*"] for part, kinds in TREE.items() for kind, own in kinds.items() for leaf in own
    }
    return [ill, *paths.get(ill, ())]


def _published(people, shown):
    """A release in which illnesses are shown as told."""
    frame = framed(people)
    _, table = sealed(frame, POLICY, columns=[("age", "ill", "pay")])
    texts = tuple(dict.fromkeys(text or "" for text in shown))
    under = {text: [] for text in texts}
    for ill in table["ill"].texts:
        for text in set(_above(ill)) & set(texts):
            under[text].append(ill)
    # A value reads as itself and nothing else.
    pairs = [
        (n, ill)
        for n, text in enumerate(texts)
        for ill in ([text] if text in table["ill"].texts else under[text])
    ]
    codes = np.array([texts.index(text or "") for text in shown], dtype=np.int32)
    numbers, originals = zip(*pairs, strict=True)
    recoding = Recoding(codes, tuple(text or None for text in texts), (np.array(numbers), originals))
    draft = Draft("main", (("age", "ill", "pay"),), np.arange(len(people)), recodings={"ill": recoding})
    release, _ = sealed(frame, POLICY, draft)
    return release, table


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_whatever_is_hidden_the_promise_holds(data):
    """A group that the audit finds kept keeps the promise whichever values stand under labels above the level."""
    guarantee = data.draw(st.one_of(*GUARANTEES.values()).filter(lambda asked: asked.l_level))
    people = data.draw(rows)
    shown = [data.draw(st.sampled_from([*_above(ill)[-1:], ill])) for _, ill, _ in people]
    release, table = _published(people, shown)
    findings = judge(Evidence(release, table, POLICY), Promise(guarantee, ("age",), ("ill",)), promised=True)
    if not all(finding.kept for finding in findings if finding.promised):
        return
    levels, whole = levels_of(table["ill"]), [ill or "" for _, ill, _ in people]
    # A person who is shown as * may have any value of the table.
    meant = [data.draw(st.sampled_from(table["ill"].texts)) if ill == "*" else ill for ill in shown]
    for group in grouped([age for age, _, _ in people], meant).values():
        assert holds(guarantee, group, whole, domain=table["ill"].texts, levels=levels)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_conditional_and_joint(data):
    """Conditional promises count labels inside every combination of the rest, joint ones combinations of labels."""
    people = data.draw(rows)
    guarantee = data.draw(st.one_of(*GUARANTEES.values()))
    table, _ = hold(framed(people), POLICY)
    joint = guarantee.for_combination()
    promises = (
        Promise(guarantee, ("age",), ("ill",), conditional=True),
        Promise(joint, ("age",), ("ill", "pay")),
    )
    ages = [age for age, _, _ in people]
    keys = sorted(set(ages))
    numbers = np.array([keys.index(age) for age in ages])
    conditional, together = (
        kept_by_groups((watched,), numbers, len(keys)) for watched in watch(promises, table, ("ill", "pay"))
    )
    levels = levels_of(table["ill"])
    height = min(guarantee.l_level, len(levels) - 2)
    for number, key in enumerate(keys):
        group = [(ill or "", pay) for age, ill, pay in people if age == key]
        units = [[ill for ill, own in group if own == pay] for pay in {pay for _, pay in group}]
        asked = {"domain": table["ill"].texts, "levels": levels}
        assert conditional[number] == all(holds(guarantee, unit, [], **asked) for unit in units)
        assert together[number] == holds(joint, [f"{levels[height][ill]} {pay}" for ill, pay in group], [])
    release, _ = sealed(framed(people), POLICY, columns=[("age", "ill", "pay")])
    for promise, fine in zip(promises, (conditional, together), strict=True):
        findings = judge(Evidence(release, table, POLICY), promise, promised=True)
        assert all(finding.kept for finding in findings if finding.promised) == fine.all()


@settings(max_examples=300, deadline=None)
@given(
    guarantee=st.one_of(*GUARANTEES.values()),
    one=st.lists(st.sampled_from(ILLS), min_size=1, max_size=9),
    other=st.lists(st.sampled_from(ILLS), min_size=1, max_size=9),
    insensitive=st.sampled_from([frozenset(), frozenset({"flu"}), frozenset({"flu", "cough"})]),
)
@example(
    EntropyDiversity(2, 0, (("acne", 4),)),
    ["acne", "flu", "ulcer", "rash"],
    ["flu", "cough"] * 9,
    frozenset(),
)
@example(DistinctDiversity(2, 0, (("acne", 3),)), ["acne", "acne"], ["flu", "acne", "cough"], frozenset())
def test_merging(guarantee, one, other, insensitive):
    """Two good groups are good as one where that is declared, and one good part heals where that is."""
    promise = Promise(guarantee, ("age",), ("ill",), insensitive)
    table, _ = hold(framed([("a", ill, "x") for ill in ILLS]), POLICY)
    asked = {"insensitive": insensitive, "domain": ILLS, "levels": levels_of(table["ill"])}
    parts = [holds(guarantee, part, ILLS, **asked) for part in (one, other)]
    merged = holds(guarantee, one + other, ILLS, **asked)
    if promise.merging_keeps and all(parts):
        assert merged
    if promise.one_part_heals and any(parts):
        assert merged


def test_what_merging_does_not_keep_is_declared():
    """A union can break entropy and recursive l that both parts keep, and a good part may leave the other short."""
    asked = {"domain": ILLS}
    large = ["flu"] * 9 + ["cough"] * 9
    small = ["acne", "rash", "ulcer", "flu"]
    for guarantee in (
        EntropyDiversity(2, 0, (("acne", 4),)),
        RecursiveDiversity(Fraction(2), 2, 0, (("acne", 4),)),
    ):
        assert holds(guarantee, large, [], **asked)
        assert holds(guarantee, small, [], **asked)
        assert not holds(guarantee, large + small, [], **asked)
        assert not Promise(guarantee, (), ("ill",)).merging_keeps
    listed = DistinctDiversity(2, 0, (("acne", 4),))
    assert holds(listed, ["flu", "cough"], [])
    assert not holds(listed, ["flu", "cough", "acne"], [])
    assert Promise(listed, (), ("ill",)).merging_keeps
    assert not Promise(listed, (), ("ill",)).one_part_heals
    assert Promise(DistinctDiversity(2, 1), (), ("ill",)).one_part_heals


CASES = {
    # Of one kind and of another.
    "labels, two": (DistinctDiversity(2, 1), ["flu", "cough", "ulcer"], True),
    "labels, one": (DistinctDiversity(2, 1), ["flu", "cough", "cough"], False),
    "values": (DistinctDiversity(2), ["flu", "cough", "cough"], True),
    "labels of two fill half": (FrequencyDiversity(2, 1), ["flu", "cough", "ulcer", "rash"], True),
    "labels of two fill more": (FrequencyDiversity(2, 1), ["flu", "cough", "flu", "rash", "ulcer"], False),
    "two equal labels": (EntropyDiversity(2, 1), ["flu", "cough", "rash", "acne"], True),
    "unequal labels": (EntropyDiversity(2, 1), ["flu", "cough", "flu", "rash"], False),
    "labels, recursive": (RecursiveDiversity(Fraction(2), 2, 1), ["flu", "cough", "rash", "acne"], True),
    "labels, recursive, on the bound": (
        RecursiveDiversity(Fraction(2), 2, 1),
        ["flu", "cough", "flu", "flu", "rash", "acne"],
        False,
    ),
    "above the kinds": (DistinctDiversity(2, 2), ["flu", "ulcer"], False),
    "one of four": (FrequencyDiversity(2, 0, (("acne", 4),)), ["acne", "flu", "flu", "rash"], True),
    "one of three": (FrequencyDiversity(2, 0, (("acne", 4),)), ["acne", "flu", "rash"], False),
    "absent": (FrequencyDiversity(2, 0, (("acne", 4),)), ["flu", "rash"], True),
    "with three others": (DistinctDiversity(2, 0, (("acne", 4),)), ["acne", "flu", "ulcer", "rash"], True),
    "with two others": (DistinctDiversity(2, 0, (("acne", 4),)), ["acne", "flu", "ulcer"], False),
    "without it": (DistinctDiversity(2, 0, (("acne", 4),)), ["flu", "ulcer"], True),
    "less for one": (FrequencyDiversity(3, 0, (("flu", 2),)), ["flu", "flu", "ulcer", "rash"], True),
    "entropy of four": (EntropyDiversity(2, 0, (("acne", 4),)), ["acne", "flu", "ulcer", "rash"], True),
    "entropy of fewer": (
        EntropyDiversity(2, 0, (("acne", 4),)),
        ["acne", "flu", "ulcer", "rash", "flu"],
        False,
    ),
    "a label's l": (FrequencyDiversity(2, 1, (("skin", 3),)), ["rash", "flu", "ulcer"], True),
    "a label's l, broken": (
        FrequencyDiversity(2, 1, (("skin", 3),)),
        ["rash", "acne", "flu", "ulcer"],
        False,
    ),
}


@pytest.mark.parametrize(("guarantee", "ills", "kept"), CASES.values(), ids=CASES.keys())
def test_worked_cases(guarantee, ills, kept):
    """Maker, judge and definition agree with what one sees, on both sides of the bound."""
    everyone = [("a", ill, "x") for ill in ills] + [("b", ill, "x") for ill in ILLS * 3]
    release, table = sealed(framed(everyone), POLICY, columns=[("age", "ill", "pay")])
    asked = {"domain": table["ill"].texts, "levels": levels_of(table["ill"])}
    assert holds(guarantee, ills, [ill for _, ill, _ in everyone], **asked) is kept
    promise = Promise(guarantee, ("age",), ("ill",))
    [watched] = watch((promise,), table, ())
    numbers = np.array([age == "b" for age, _, _ in everyone]).astype(np.int64)
    fine = kept_by_groups((watched,), numbers, 2)
    assert fine[0] == kept
    finding = next(judge(Evidence(release, table, POLICY), promise, promised=True))
    assert finding.groups_short == np.count_nonzero(~fine)


def test_a_level_of_the_table_is_for_attributes_that_have_it():
    """l_level counts labels of attributes with a hierarchy, at the highest level they have, and values of others."""
    policy = Policy(
        **SECTIONS, guarantee={"l": 2, "l_level": 5, "l_of": {"outer": 2, "x": 2}, "joint": [["ill", "pay"]]}
    )
    table, _ = hold(framed([("a", ill, pay) for ill in ILLS for pay in "xy"]), policy)
    promised = {promise.subject: promise.guarantee for promise in resolve(policy, table)}
    assert promised["ill"] == DistinctDiversity(2, 2, (("outer", 2),))
    assert promised["pay"] == DistinctDiversity(2, 0, (("x", 2),))
    assert promised["ill+pay"] == DistinctDiversity(2, 5)
    assert promised["ill"].parameters == {"l": 2, "l_level": 2, "l_of": {"outer": 2}}


def test_several_values_in_a_cell():
    """Of each value of a multi-valued attribute, its own l says how many times it must fit; l_level says nothing."""
    sections = {
        "attributes": {"age": {"role": "quasi"}, "ill": {"role": "sensitive", "multivalued": "|"}},
        "guarantee": {"l": 2, "l_of": {"acne": 4}, "l_level": 1},
    }
    frame = pl.DataFrame({"age": ["a"] * 4, "ill": ["flu|acne", "flu", "", "rash"]})
    policy = Policy(**sections)
    table, _ = hold(frame, policy)
    promised = {promise.subject: promise.guarantee for promise in resolve(policy, table)}
    assert promised["ill=acne"] == FrequencyDiversity(4)
    assert promised["ill=flu"] == FrequencyDiversity(2)
    release = mv.publish(frame, policy, seed=1)
    assert [entry["parameters"] for entry in release.manifest.promises] == [{"l": 4}, {"l": 2}]
    with pytest.raises(mv.InfeasibleError, match="fills 2 of 4 rows; with l = 3 it may fill at most 1"):
        mv.publish(frame, policy.replaced(guarantee={"l": 2, "l_of": {"flu": 3}}), seed=1)
