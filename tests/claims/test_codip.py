"""CODIP: the two ratios, the merging, the exact frontier, and tables judged once for every plan."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import inf, log

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils.methods import Work, read_options
from manyveils.methods.codip.anonymizers import FullDomain
from manyveils.methods.codip.association import associate, frontier_of, mutual_information
from manyveils.methods.codip.search import merged_plan
from manyveils.policy.guarantees import Closeness, exact
from manyveils.table import Streams, hold, resolve
from manyveils.utility import measure
from tests.kit.oracles import verdict

quick = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
QUASI = {
    "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [2, 4]}},
    "sex": {"role": "quasi", "kind": "categorical"},
}
AGES, SEXES = [20, 21, 22, 23, 26], ["f", "m"]


@st.composite
def tables(draw, *, least=2, most=5, rows=(4, 24), values=3):
    """A table with two quasi-identifiers and several sensitive attributes, some copied with a few changes."""
    n = draw(st.integers(*rows))
    names = [f"s{number}" for number in range(draw(st.integers(least, most)))]
    columns = {"age": AGES, "sex": SEXES} | {name: [f"v{v}" for v in range(values)] for name in names}
    frame = pl.DataFrame(
        {
            name: draw(st.lists(st.sampled_from(domain), min_size=n, max_size=n))
            for name, domain in columns.items()
        }
    )
    for name in names[1:]:
        if draw(st.booleans()):
            frame = frame.with_columns(pl.col(names[0]).alias(name))
    return frame, names


def policy_for(names, guarantee=None, insensitive=(), **publish):
    """Every s is sensitive; values may be insensitive."""
    described = QUASI | {
        name: {"role": "sensitive", "kind": "categorical", "insensitive": list(insensitive)} for name in names
    }
    return mv.Policy(
        attributes=described, guarantee=guarantee or {"k": 1}, publish={"method": "codip", **publish}
    )


def work_for(frame, policy):
    """A publication to be made."""
    table, _ = hold(frame, policy)
    return Work(policy, table, resolve(policy, table), read_options(policy), Streams(1))


def partitions(members):
    """Every way to divide members into parts."""
    if not members:
        yield ()
        return
    first, *rest = members
    for size in range(len(rest) + 1):
        for beside in combinations(rest, size):
            others = [member for member in rest if member not in beside]
            for more in partitions(others):
                yield ((first, *beside), *more)


def ratios_by_definition(columns, plan, sensitive):
    """Both ratios from joint shares, pair by pair, as the paper writes them."""
    n = len(columns[0])

    def share(*fields):
        return {value: times / n for value, times in Counter(zip(*fields, strict=True)).items()}

    def entropy(field):
        return -sum(p * log(p) for p in share(field).values())

    mutual, exposable = {}, {}
    for i, j in combinations(range(len(columns)), 2):
        one, other, both = share(columns[i]), share(columns[j]), share(columns[i], columns[j])
        mutual[i, j] = sum(p * log(p / (one[v,] * other[w,])) for (v, w), p in both.items())
        exposable[i, j] = sum(
            p
            * (
                sensitive(v) * (entropy(columns[i]) - mutual[i, j])
                + sensitive(w) * (entropy(columns[j]) - mutual[i, j])
            )
            for (v, w), p in both.items()
        )
    together = [set(combinations(sorted(part), 2)) for part in plan]
    apart = sum(mutual[pair] for pair in mutual if not any(pair in each for each in together))
    exposed = sum(
        sum(exposable[pair] for pair in each) * len(part) / len(columns)
        for each, part in zip(together, plan, strict=True)
    )
    return (
        apart / sum(mutual.values()) if sum(mutual.values()) > 1e-9 else 0.0,
        exposed / sum(exposable.values()) if sum(exposable.values()) > 1e-9 else 0.0,
    )


@quick
@given(drawn=tables(), spared=st.sampled_from([(), ("v0",), ("v0", "v1", "v2")]), data=st.data())
def test_ratios(drawn, spared, data):
    """Loss and exposure of any plan are what their definitions say, with and without values that need no protection."""
    frame, names = drawn
    policy = policy_for(names, insensitive=spared)
    plan = data.draw(st.sampled_from(list(partitions(list(range(len(names)))))))
    association = associate(hold(frame, policy)[0], policy, tuple(names))
    columns = [frame[name].to_list() for name in names]
    loss, exposure = ratios_by_definition(columns, plan, lambda value: value not in spared)
    assert float(association.loss(plan)) == pytest.approx(loss, abs=1e-7)
    assert float(association.exposure(plan)) == pytest.approx(exposure, abs=1e-7)


@quick
@given(drawn=tables())
def test_one_table_and_one_each(drawn):
    """One table loses nothing and exposes all there is; a table for each attribute the reverse."""
    frame, names = drawn
    policy = policy_for(names)
    association = associate(hold(frame, policy)[0], policy, tuple(names))
    everyone = tuple(range(len(names)))
    shared, exposed = association.totals
    assert association.loss((everyone,)) == 0
    assert association.exposure((everyone,)) == (1 if exposed else 0)
    assert association.loss(tuple((each,) for each in everyone)) == (1 if shared else 0)
    assert association.exposure(tuple((each,) for each in everyone)) == 0


def pareto(points):
    """The points that no other betters."""
    return {p for p in points if not any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)}


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(drawn=tables(least=2, most=8, rows=(6, 30)), data=st.data())
def test_frontier_is_exact(drawn, data):
    """The frontier is the one that the enumeration of all divisions gives, whatever tables are forbidden."""
    frame, names = drawn
    policy = policy_for(names)
    association = associate(hold(frame, policy)[0], policy, tuple(names))
    members = list(range(len(names)))
    banned = data.draw(st.lists(st.sets(st.sampled_from(members), min_size=2, max_size=3), max_size=3))

    def fits(part):
        return not any(each <= set(part) for each in banned)

    points = {
        (association.loss(plan), association.exposure(plan))
        for plan in partitions(members)
        if all(fits(part) for part in plan)
    }
    found = frontier_of(association, tuple((each,) for each in members), fits)
    assert {(found.loss(index), found.exposure(index)) for index in found.indices} == pareto(points)
    for index in found.indices:
        plan = found.plan(index)
        assert sorted(member for part in plan for member in part) == members
        assert (association.loss(plan), association.exposure(plan)) == (
            found.loss(index),
            found.exposure(index),
        )
        assert all(fits(part) for part in plan)


def codip_star(frame, names, policy, beta):
    """The plans of the paper's pseudo-code, step by step, over plain rows and every generalization."""
    table, _ = hold(frame, policy)
    columns = [frame[name].to_list() for name in names]
    nodes = list(product(*(range(len(table[name].levels)) for name in QUASI)))

    def labels(name, level):
        step = table[name].levels[level]
        return [step.labels[step.label_of[code]] for code in table[name].codes.tolist()]

    def check_plan(plan):
        if ratios_by_definition(columns, plan, lambda value: True)[1] > beta + 1e-9:
            return False
        return all(any(anonymous(part, node) for node in nodes) for part in plan)

    def anonymous(part, node):
        keys = list(zip(*(labels(name, level) for name, level in zip(QUASI, node, strict=True)), strict=True))
        k, t = policy.guarantee.k, policy.guarantee.t
        if min(Counter(keys).values()) < k:
            return False
        if policy.publish.options.get("discernibility", inf) < sum(v * v for v in Counter(keys).values()):
            return False
        return all(
            verdict(
                Closeness(exact(t), "equal"),
                [v for v, at in zip(columns[each], keys, strict=True) if at == key],
                columns[each],
            ).kept
            for each in part
            for key in set(keys)
        )

    def average(part):
        pairs = list(combinations(range(len(part)), 2))
        whole = [ratio_pair(columns[part[i]], columns[part[j]]) for i, j in pairs]
        return sum(whole) / len(whole)

    def ends(plan):
        """Every plan that merging can stop at; pairs that share equally much may be merged in any order."""
        if len(plan) == 1:
            return {plan}
        pairs = list(combinations(plan, 2))
        best = max(average((*one, *other)) for one, other in pairs)
        found = set()
        for one, other in (pair for pair in pairs if average((*pair[0], *pair[1])) > best - 1e-9):
            after = tuple(sorted({*plan, tuple(sorted((*one, *other)))} - {one, other}))
            found |= ends(after) if check_plan(after) else {plan}
        return found

    plan = tuple((each,) for each in range(len(names)))
    return ends(plan) if check_plan(plan) else None


def ratio_pair(one, other):
    """Mutual information of two lists."""
    n, both = len(one), Counter(zip(one, other, strict=True))
    return sum(c / n * log(c * n / (one.count(v) * other.count(w))) for (v, w), c in both.items())


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    drawn=tables(rows=(6, 16)),
    t=st.sampled_from([0.2, 0.4, 0.6]),
    beta=st.sampled_from([0.15, 0.45, 1.0]),
    limit=st.sampled_from([None, 40, 90]),
)
def test_greedy_is_codip_star(drawn, t, beta, limit):
    """The greedy search gives the plan of the paper's pseudo-code, or fails where it fails."""
    frame, names = drawn
    coarse = {} if limit is None else {"discernibility": limit}
    policy = policy_for(names, {"k": 2, "t": t, "ground": "equal"}, beta=beta, **coarse)
    expected = codip_star(frame, names, policy, beta)
    try:
        release = mv.publish(frame, policy, seed=1)
    except mv.InfeasibleError:
        assert expected is None
        return
    plan = tuple(tuple(names.index(name) for name in part) for part in release.notes["plan"])
    assert plan in expected


@quick
@given(
    drawn=tables(most=6, rows=(8, 24)),
    t=st.sampled_from([0.2, 0.35, 0.6]),
    beta=st.sampled_from([0.1, 0.3, 0.6]),
    limit=st.sampled_from([None, 60, 150]),
    anonymizer=st.sampled_from(["full-domain", "mondrian"]),
)
def test_optimal_is_never_worse(drawn, t, beta, limit, anonymizer):
    """At the same beta, patience loses no more than greed, and the optimum no more than either."""
    frame, names = drawn
    coarse = {} if limit is None else {"discernibility": limit}
    losses = {}
    for search in ("greedy", "patient", "optimal"):
        policy = policy_for(
            names,
            {"k": 2, "t": t, "ground": "equal"},
            beta=beta,
            search=search,
            anonymizer=anonymizer,
            **coarse,
        )
        try:
            notes = mv.publish(frame, policy, seed=1).notes
        except mv.InfeasibleError:
            losses[search] = None
            continue
        assert notes["information_exposure"] <= beta + 1e-6
        losses[search] = notes["association_loss"]
    if losses["optimal"] is None:
        assert set(losses.values()) == {None}
    elif anonymizer == "full-domain":
        assert losses["optimal"] <= losses["patient"] <= losses["greedy"]


@quick
@given(drawn=tables(rows=(6, 20)), k=st.integers(1, 4), limit=st.sampled_from([30, 60, 120, 400]))
def test_more_attributes_are_never_closer(drawn, k, limit):
    """Theorem 1: the best closeness never falls when attributes are added; and it is the best over all nodes."""
    frame, names = drawn
    policy = policy_for(names, {"k": k})
    work = work_for(frame, policy)
    judged = FullDomain(work, None)
    best = {}
    for size in range(1, len(names) + 1):
        for part in combinations(names, size):
            best[part] = judged.best_closeness(part, limit)
            assert best[part] == pytest.approx(closest_by_definition(frame, work.table, part, k, limit))
    for part, inner in product(best, best):
        if set(inner) <= set(part) and best[part] is not None:
            assert best[inner] <= best[part]


def closest_by_definition(frame, table, names, k, limit):
    """The least closeness over every generalization of large enough classes within the limit."""
    found = []
    for node in product(*(range(len(table[name].levels)) for name in QUASI)):
        fields = []
        for name, level in zip(QUASI, node, strict=True):
            step = table[name].levels[level]
            fields.append([step.labels[step.label_of[code]] for code in table[name].codes.tolist()])
        keys = list(zip(*fields, strict=True))
        sizes = Counter(keys)
        if min(sizes.values()) < k or sum(size * size for size in sizes.values()) > limit:
            continue
        worst = 0.0
        for name in names:
            values = frame[name].to_list()
            whole = Counter(values)
            for key, size in sizes.items():
                inside = Counter(v for v, at in zip(values, keys, strict=True) if at == key)
                worst = max(worst, sum(abs(inside[v] / size - whole[v] / len(values)) for v in whole) / 2)
        found.append(worst)
    return min(found, default=None)


@quick
@given(drawn=tables(rows=(6, 24)), k=st.integers(1, 3))
def test_linkability_stays_within_its_bound(drawn, k):
    """Theorem 2, mended: no value can be named with more confidence than its class's own size and diversity allow."""
    frame, names = drawn
    release = mv.publish(frame, policy_for(names, {"k": k}), seed=1)
    linked = release.notes["linkability"]
    worst = max(
        max(Counter(rows).values()) / len(rows)
        for view in release.views
        for name in view.attributes
        if name in names
        for rows in by_class(release, view, name).values()
    )
    assert linked["measured"] == pytest.approx(worst, abs=1e-6)
    assert linked["measured"] <= linked["bound"] + 1e-9


def by_class(release, view, name):
    """The values of one attribute in every class of a view."""
    frame = release.frames[view.files[0].table]
    known = [each for each in view.attributes if each in QUASI]
    return (
        {key: rows[name].to_list() for key, rows in frame.group_by(known)}
        if known
        else {(): frame[name].to_list()}
    )


def test_the_smallest_class_does_not_bound_linkability():
    """The paper's bound takes the smallest class; a larger one may be surer of a value."""
    frame = pl.DataFrame({"q": ["x"] * 2 + ["y"] * 10, "a": ["u", "v", *["u"] * 9, "v"]})
    policy = {
        "attributes": {"q": {"role": "quasi"}, "a": {"role": "sensitive"}},
        "guarantee": {"k": 2, "l": 2},
        "publish": {"method": "codip"},
    }
    linked = mv.publish(frame, policy, seed=1).notes["linkability"]
    assert linked == {"measured": 0.9, "bound": 0.9, "bound_of_smallest_class": 0.5}


@quick
@given(drawn=tables(), spared=st.sampled_from([(), ("v1",)]), beta=st.sampled_from([0.0, 0.3, 1.0]))
def test_measures_agree(drawn, spared, beta):
    """The measures of a release give the ratios that the method gives, from the release's own tables."""
    frame, names = drawn
    policy = policy_for(names, insensitive=spared, beta=beta)
    release = mv.publish(frame, policy, seed=1)
    measured = measure(release, hold(frame, policy)[0], policy)
    for key in ("association_loss", "information_exposure"):
        assert measured[key] == pytest.approx(release.notes[key], abs=1e-6)


def test_values_of_one_attribute_may_part():
    """The values of a multi-valued attribute are attributes of their own, and an insensitive one exposes nothing."""
    cells = ["x|y", "x|y", "", "z", "x|y", "z", "", "z|x|y"] * 4
    frame = pl.DataFrame({"age": [20, 21, 22, 23] * 8, "m": cells, "s": ["a", "b"] * 16})
    described = {
        "age": QUASI["age"],
        "m": {"role": "sensitive", "multivalued": "|"},
        "s": {"role": "sensitive"},
    }
    policy = {"attributes": described, "guarantee": {"k": 4}, "publish": {"method": "codip", "beta": 0.4}}
    release = mv.publish(frame, policy, seed=1)
    assert release.notes["plan"] == [["m=x", "m=y"], ["m=z", "s"]]
    assert release.manifest.derived == {"m": ("m=x", "m=y", "m=z")}
    described["m"]["insensitive"] = ["x", "y", "z"]
    described["s"]["insensitive"] = ["a", "b"]
    assert mv.publish(frame, policy | {"publish": {"method": "codip", "beta": 0}}, seed=1).notes["plan"] == [
        ["m=x", "m=y", "m=z", "s"]
    ]


def test_neutral_attributes_stand_in_one_table():
    """A neutral attribute stands where it tells most, and in one table only."""
    rows = range(40)
    frame = pl.DataFrame(
        {
            "age": [20 + n % 4 for n in rows],
            "s0": [n % 5 for n in rows],
            "s1": [n % 3 for n in rows],
            "note": [n % 3 for n in rows],
        }
    ).with_columns(pl.exclude("age").cast(pl.String))
    described = {
        "age": QUASI["age"],
        "s0": {"role": "sensitive"},
        "s1": {"role": "sensitive"},
        "note": {"role": "neutral"},
    }
    release = mv.publish(
        frame,
        {
            "accept": ["near-copy: note + s1"],
            "attributes": described,
            "guarantee": {"k": 2},
            "publish": {"method": "codip", "beta": 0},
        },
        seed=1,
    )
    assert [view.attributes for view in release.views] == [("age", "s0"), ("age", "s1", "note")]


def test_attributes_protected_as_one_stay_together():
    """Combinations of `joint` share a table from the start, and are protected there."""
    rows = range(48)
    frame = pl.DataFrame(
        {"age": [20 + n % 2 for n in rows], **{f"s{m}": [str(n // 2 % m) for n in rows] for m in (2, 3, 4)}}
    )
    described = {
        "age": QUASI["age"],
        **{f"s{m}": {"role": "sensitive", "kind": "categorical"} for m in (2, 3, 4)},
    }
    sections = {"attributes": described, "guarantee": {"k": 2, "l": 2, "joint": [["s3", "s4"]]}}
    for search in ("greedy", "optimal"):
        publish = {"method": "codip", "beta": 0.4, "search": search}
        assert ["s3", "s4"] in mv.publish(frame, sections | {"publish": publish}, seed=1).notes["plan"]
    with pytest.raises(mv.InfeasibleError, match=r"publish.beta: \{s2\} \{s3, s4\} exposes"):
        mv.publish(frame, sections | {"publish": {"method": "codip", "beta": 0.01}})
    with pytest.raises(mv.PolicyError, match="s3 and s4 are protected as one"):
        mv.publish(frame, sections | {"publish": {"method": "codip", "plan": [["s2", "s3"], ["s4"]]}})


@quick
@given(drawn=tables(rows=(8, 24)), anonymizer=st.sampled_from(["full-domain", "mondrian"]))
def test_against_those_who_know_other_values(drawn, anonymizer):
    """With conditional promises only attributes that do not give each other away share a table."""
    frame, names = drawn
    policy = policy_for(names, {"l": 2, "conditional": True}, beta=1, search="patient", anonymizer=anonymizer)
    try:
        release = mv.publish(frame, policy, seed=1)
    except mv.PolicyError:
        assume(False)
    except mv.InfeasibleError:
        assert any(frame[name].n_unique() < 2 for name in names)
        return
    for one, other in combinations(names, 2):
        if frame[one].equals(frame[other]):
            assert not any({one, other} <= set(part) for part in release.notes["plan"])


def test_merges_need_no_rows(monkeypatch):
    """After the pairs and the classes are counted, merging does not look at rows again."""
    frame = pl.DataFrame(
        {
            "age": [20 + n % 5 for n in range(60)],
            **{f"s{m}": [str(n * n % m) for n in range(60)] for m in range(2, 9)},
        }
    )
    names = [name for name in frame.columns if name != "age"]
    policy = mv.Policy(
        attributes={
            "age": QUASI["age"],
            **{name: {"role": "sensitive", "kind": "categorical"} for name in names},
        },
        guarantee={"k": 2, "t": 0.5},
        publish={"method": "codip"},
    )
    work = work_for(frame, policy)
    association = associate(work.table, policy, tuple(names))
    judged = FullDomain(work, None)
    for column in work.table.attributes.values():
        monkeypatch.setattr(
            type(column), "codes", property(lambda self: pytest.fail("rows were read")), raising=False
        )
    plan, merges = merged_plan(
        association,
        tuple((each,) for each in range(len(names))),
        lambda part: judged.fits(tuple(names[member] for member in part)),
        Fraction(1),
        patient=True,
    )
    assert len(plan) == 1
    assert len(merges) >= len(names) - 1


def test_many_attributes():
    """Sixteen attributes have an exact frontier; more are refused with another way to go."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {"age": rng.integers(20, 24, 60), **{f"s{n}": rng.integers(0, 2, 60).astype(str) for n in range(17)}}
    )
    described = {"age": QUASI["age"], **{f"s{n}": {"role": "sensitive"} for n in range(17)}}
    sections = {
        "attributes": described,
        "guarantee": {"k": 2},
        "publish": {"method": "codip", "search": "optimal"},
    }
    with pytest.raises(mv.PolicyError, match=r"17 sensitive attributes, 16 at most.*patient"):
        mv.publish(frame, sections)


@pytest.mark.parametrize("anonymizer", ["full-domain", "mondrian"])
@pytest.mark.parametrize(
    "roles", [{}, {"q": "quasi"}, {"q": "quasi", "note": "neutral"}, {"note": "neutral"}]
)
@pytest.mark.parametrize("sensitive", [(), ("a",), ("a", "b")])
def test_any_roles(anonymizer, roles, sensitive):
    """Tables without quasi-identifiers, without sensitive attributes, with neutral ones: all are published whole."""
    rows = range(24)
    frame = pl.DataFrame(
        {name: [str(n % (3 + place)) for n in rows] for place, name in enumerate((*roles, *sensitive))}
    )
    if not frame.width:
        return
    described = {name: {"role": role} for name, role in roles.items()} | {
        name: {"role": "sensitive"} for name in sensitive
    }
    release = mv.publish(
        frame,
        {
            "accept": ["no-quasi: k"],
            "attributes": described,
            "guarantee": {"k": 2},
            "publish": {"method": "codip", "anonymizer": anonymizer},
        },
        seed=1,
    )
    assert release.rows == 24
    assert {name for view in release.views for name in view.attributes} == set(described)


def test_nobody_is_alone():
    """Without k, classes still have two rows or more: unique people would be joined across tables."""
    frame = pl.DataFrame({"age": list(range(20, 50)), "a": ["x", "y", "z"] * 10, "b": ["u", "v"] * 15})
    described = {
        "age": {"role": "quasi", "hierarchy": {"widths": [5, 10]}},
        "a": {"role": "sensitive"},
        "b": {"role": "sensitive"},
    }
    release = mv.publish(
        frame, {"attributes": described, "guarantee": {"t": 0.9}, "publish": {"method": "codip"}}, seed=1
    )
    for view in release.views:
        assert release.frames[view.files[0].table]["age"].value_counts()["count"].min() >= 2


def test_linkability_speaks_of_sensitive_values():
    """Not having a value, and values that need no protection, are not named with confidence."""
    rows = range(40)
    frame = pl.DataFrame(
        {
            "q": [str(n % 2) for n in rows],
            "m": ["flu" if n % 5 == 0 else "" for n in rows],
            "s": ["None"] * 30 + ["x"] * 10,
        }
    )
    described = {
        "q": {"role": "quasi"},
        "m": {"role": "sensitive", "multivalued": "|"},
        "s": {"role": "sensitive", "insensitive": ["None"]},
    }
    release = mv.publish(
        frame,
        {"attributes": described, "guarantee": {"epsilon_link": 0.5}, "publish": {"method": "codip"}},
        seed=1,
    )
    assert release.notes["linkability"]["measured"] <= 0.5


def test_names_with_signs():
    """A multi-valued attribute may have a sign in its name that its values are joined with."""
    frame = pl.DataFrame({"q": ["u", "v"] * 12, "a=b": ["x|y", "y"] * 12, "s": ["1", "2", "3"] * 8})
    described = {
        "q": {"role": "quasi"},
        "a=b": {"role": "sensitive", "multivalued": "|", "insensitive": ["y"]},
        "s": {"role": "sensitive", "kind": "categorical"},
    }
    policy = {
        "attributes": described,
        "guarantee": {"l": 2, "l_kind": "frequency"},
        "publish": {"method": "codip"},
    }
    assert mv.publish(frame, policy, seed=1).manifest.derived == {"a=b": ("a=b=x", "a=b=y")}


def test_knowing_more_does_not_replace_knowing_less():
    """A promise that merging can break holds for those who know other values, and for those who do not."""
    frame = pl.DataFrame({"q": ["x"] * 8, "w": [0, 0, 2, 2, 1, 1, 3, 3], "b": ["e"] * 4 + ["o"] * 4})
    described = {
        "q": {"role": "quasi"},
        "w": {"role": "sensitive", "guarantee": {"epsilon": 1, "m": 2, "conditional": True}},
        "b": {"role": "sensitive"},
    }
    for publish in ({"method": "generalize"}, {"method": "codip", "plan": [["w", "b"]]}):
        with pytest.raises(mv.InfeasibleError):
            mv.publish(frame, {"attributes": described, "publish": publish})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "a|b", "a|c|d", "d", "b|c", ""]), min_size=1, max_size=30))
def test_information_of_bits(cells):
    """What derived attributes tell of each other is the same to the last digit, counted together or pair by pair."""
    if not "".join(cells).strip("|"):
        return
    frame = pl.DataFrame({"q": [1] * len(cells), "codes": cells, "other": ["x"] * len(cells)})
    attributes = {
        "q": {"role": "quasi"},
        "codes": {"role": "sensitive", "multivalued": "|"},
        "other": {"role": "sensitive"},
    }
    policy = mv.Policy(attributes=attributes)
    table, _ = hold(frame, policy)
    names = table.expand(("codes", "other"))
    together = associate(table, policy, names)
    for (i, name), (j, other) in combinations(enumerate(names), 2):
        assert (
            together.information[i, j] == together.information[j, i] == mutual_information(table, name, other)
        )
