"""What is found in parts of a release that hold whole groups adds up to what is found in all rows."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from manyveils.arguments import Order, licence_of
from manyveils.audits import Finding, Licence, audit
from manyveils.audits.together import promise_findings, together
from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy import Policy
from manyveils.reading import blocks
from manyveils.reading.secrets import as_published
from manyveils.run import make
from manyveils.table import hold, resolve
from tests.kit import sealed
from tests.kit.compact import compact_release, compact_table, part_of, some_rows
from tests.kit.conformance import CONFIGURATIONS
from tests.kit.strategies import cases

N_PARTS = 3
LEVELS = {"k": 3, "l": 2, "t": 0.3, "alpha": 0.4, "beta": 0.7, "delta": 0.8, "n": 5, "eliminations": 1}
WHOLE_GROUPS = {
    name: CONFIGURATIONS[name]
    for name in (
        "full-domain, loss",
        "mondrian, automatic labels",
        "anatomize",
        "codip",
        "guardian",
        "alpha-beta-k",
        "grade",
        "grade, then anatomize",
        "separate",
    )
}
some = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
ASKED = [
    {"k": 3, "l": 2, "l_kind": "entropy", "alpha": 0.5},
    {"l": 2, "l_kind": "recursive", "c": 1.5, "beta": 0.5},
    {"l": 2, "l_kind": "frequency", "delta": 0.8, "epsilon_link": 0.6},
    {"l": 2, "conditional": True},
    {"t": 0.2, "ground": "equal", "k": 2},
    {"t": 0.2, "n": 4, "ground": "hierarchical"},
]
FINDING = Finding("k-anonymity", "", "main", "marginal", promised=True, required=2, measured=None, kept=True)


def assert_alike(found, expected):
    """Finding by finding, numbers within rounding."""
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        mine, others = one.describe(), other.describe()
        numbers = (one.measured, other.measured)
        if None not in numbers and math.isclose(*numbers, rel_tol=1e-9):
            mine.pop("measured"), others.pop("measured")
            if numbers[0] % 1:
                # Two groups of equal measure differ by rounding, and either may be called the worst.
                mine.pop("worst_group_size"), others.pop("worst_group_size")
        assert mine == others


def promises_in(findings):
    """The findings about promises, without those that compare views, which do not fit together, or are about nobody in them."""
    return [
        found
        for found in findings
        if found.reading not in ("release", "absent", "everybody") and "+" not in found.view
    ]


def part_numbers(release, quasi):
    """A part for each row: by bucket, by what is known of it, or one for all if nothing is."""
    found = {}
    for view in release.views:
        known = [name for name in view.attributes if name in quasi]
        for file in view.files:
            frame = release.frames[file.table]
            if not known:
                found[file.table] = np.zeros(frame.height, dtype=np.int64)
            elif view.bucketed:
                found[file.table] = frame["bucket"].to_numpy() % N_PARTS
            else:
                found[file.table] = (frame.select(known).hash_rows(seed=7) % N_PARTS).to_numpy()
    return found


def published(case):
    """What a method makes, audited or not; nothing if it refuses."""
    try:
        table, restore = hold(case.frame, case.policy)
        return make(Order(None, case.policy, seed=1), table, restore), table
    except (InfeasibleError, PolicyError):
        assume(False)


def asked(policy, guarantee, release, table):
    """The policy with another guarantee, if it can be asked of the table."""
    try:
        policy = policy.replaced(guarantee=guarantee)
        resolve(policy, as_published(release, table))
    except PolicyError:
        assume(False)
    return policy


@pytest.mark.parametrize("publish", WHOLE_GROUPS.values(), ids=WHOLE_GROUPS.keys())
@some
@given(data=st.data())
def test_parts_of_whole_groups_add_up(publish, data):
    """Parts cut by bucket or by quasi-identifiers, without a row of the original, are judged as the whole is."""
    case = data.draw(cases(publish))
    release, table = published(case)
    policy = asked(case.policy, data.draw(st.sampled_from(ASKED)), release, table)
    shown = as_published(release, table)
    nobody = some_rows(shown, np.zeros(table.n_rows, dtype=bool), lambda names: counted(shown, names))
    places = part_numbers(release, table.expand(policy.quasi))
    parts = [
        part_of(release, {name: numbers == part for name, numbers in places.items()})
        for part in range(N_PARTS)
    ]
    parts = [compact_release(part) if data.draw(st.booleans()) else part for part in parts]
    found = together(promise_findings(part, nobody, policy, LEVELS) for part in parts)
    # Parts are judged after the claims of the whole are.
    everything = Licence(enforces=True, secret=True)
    whole = audit(release, table, policy, licence=everything, levels=LEVELS)
    assert_alike(promises_in(found), promises_in(whole.findings))


def test_a_part_has_the_values_of_the_whole():
    """Asthma is published in one part only, and lungs, which stands for it too, in both: distances are of one reference."""
    rows = [("f", "flu", 10)] * 19 + [
        ("m", "flu", 20),
        ("f", "flu", 20),
        ("m", "ulcer", 20),
        ("f", "asthma", 20),
    ]
    frame = pl.DataFrame(rows, schema=["sex", "ill", "pay"], orient="row")
    policy = Policy(
        attributes={
            "sex": {"role": "quasi", "kind": "categorical"},
            "ill": {
                "role": "sensitive",
                "kind": "categorical",
                "hierarchy": {"tree": {"lungs": ["flu", "asthma"], "gut": ["ulcer", "colic"]}},
            },
            "pay": {"role": "sensitive", "kind": "numeric", "hierarchy": {"widths": [10, 20]}},
        },
        guarantee={"k": 4},
        publish={"method": "alpha-beta-k"},
    )
    table, restore = hold(frame, policy)
    release = make(Order(None, policy, seed=1), table, restore)
    asked = policy.replaced(guarantee={"t": 0.2, "ground": "equal", "k": 2})
    [published] = release.frames.values()
    assert {"asthma", "lungs"} <= {*published["ill"]}
    is_alone = (published["sex"] == "f").to_numpy()
    parts = [part_of(release, {"main": which}) for which in (is_alone, ~is_alone)]
    assert {"lungs"} < {*parts[1].frames["main"]["ill"]}
    assert "asthma" not in parts[1].frames["main"]["ill"]
    found = together(promise_findings(part, table, asked, LEVELS) for part in parts)
    whole = audit(release, table, asked, licence=Licence(enforces=True, secret=True), levels=LEVELS)
    assert_alike(promises_in(found), promises_in(whole.findings))


def counted(table, names):
    """Counts of some columns that have only these columns; secret ones have rows of their own."""
    whole = table.whole(names)
    return compact_table(whole, names)


@st.composite
def sliced(draw):
    """People in buckets that do not mix values of p, with what is known in two columns or more."""
    words = {"p": "uvw", "q": "xyz", "s": "abcd"}
    n = draw(st.integers(1, 14))
    cells = {
        name: draw(st.lists(st.sampled_from(letters), min_size=n, max_size=n))
        for name, letters in words.items()
    }
    cells["n"] = draw(st.lists(st.sampled_from([1, 2, 5, None]), min_size=n, max_size=n))
    buckets = [3 * "uvw".index(p) + draw(st.integers(0, 2)) for p in cells["p"]]
    columns = draw(
        st.sampled_from(
            [
                [("p",), ("q", "s", "n")],
                [("p", "s"), ("q", "n")],
                [("p", "n"), ("q",), ("s",)],
                [("p", "s", "n"), ("q",)],
            ]
        )
    )
    schema = {"p": pl.String, "q": pl.String, "s": pl.String, "n": pl.Int64}
    return pl.DataFrame(cells, schema=schema), columns, buckets


SLICED = Policy(
    attributes={
        "p": {"role": "quasi", "kind": "categorical"},
        "q": {"role": "quasi", "kind": "categorical"},
        "s": {
            "role": "sensitive",
            "kind": "categorical",
            "hierarchy": {"tree": {"A": ["a", "b"], "C": ["c", "d"]}},
        },
        "n": {"role": "sensitive", "kind": "numeric", "hierarchy": {"widths": [2]}},
    }
)


@pytest.mark.parametrize("fewest_pairs", [0, 1_000_000])
@settings(some, max_examples=15)
@given(data=st.data())
def test_parts_of_slices_add_up_with_the_people_they_may_hold(fewest_pairs, data):
    """Slices and people cut alike by a known value that no bucket mixes are judged as the whole is."""
    frame, columns, buckets = data.draw(sliced())
    release, table = sealed(frame, SLICED, columns=columns, buckets=buckets)
    guarantee = data.draw(st.sampled_from([*ASKED, {"l": 2, "joint": [["s", "n"]]}]))
    policy = asked(SLICED, guarantee, release, table)
    homes = {file.table: file for view in release.views for file in view.files}
    holder = next(name for name, file in homes.items() if "p" in file.attributes)
    home = dict(release.frames[holder].select("bucket", "p").iter_rows())
    parts = []
    for value in sorted(set(frame["p"])):
        rows = {
            name: np.array([home[bucket] == value for bucket in each["bucket"]])
            for name, each in release.frames.items()
        }
        people = some_rows(table, (frame["p"] == value).to_numpy(), lambda names: counted(table, names))
        part = part_of(release, rows)
        parts.append(
            (compact_release(part), compact_table(people)) if data.draw(st.booleans()) else (part, people)
        )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(blocks, "FEWEST_PAIRS", fewest_pairs)
        found = together(promise_findings(part, people, policy, LEVELS) for part, people in parts)
        whole = audit(release, table, policy, licence=licence_of(policy), levels=LEVELS).findings
    assert_alike(promises_in(found), promises_in(whole))


def finding(**said):
    """A finding about sizes."""
    return Finding(**{**FINDING.describe(), **said})


def test_the_worst_of_the_parts_is_the_worst_of_all():
    """Small sizes and large distances are bad; of equally bad groups the smaller one is named."""
    sizes = [
        [finding(measured=3, worst_group_size=3, groups=2)],
        [finding(measured=2, worst_group_size=2, groups=5)],
    ]
    assert together(sizes) == (finding(measured=2, worst_group_size=2, groups=7),)
    about = {"promise": "t-closeness", "required": 0.3}
    far = finding(
        **about, measured=0.5, kept=False, worst_group_size=9, groups=2, groups_short=1, rows_short=9
    )
    as_far = finding(
        **about, measured=0.5, kept=False, worst_group_size=4, groups=3, groups_short=2, rows_short=8
    )
    near = finding(**about, measured=0.1, worst_group_size=1, groups=1)
    [found] = together([[far], [as_far], [near]])
    assert (found.measured, found.worst_group_size, found.kept) == (0.5, 4, False)
    assert (found.groups, found.groups_short, found.rows_short) == (6, 3, 17)


def test_what_cannot_be_judged_in_one_part_cannot_be_judged():
    """A part of which nothing can be told says so of the whole, whatever the others say and wherever it stands."""
    fine = finding(measured=3, worst_group_size=3, groups=2)
    for parts in ([[FINDING], [finding(kept=False)], [fine]], [[fine], [finding(kept=False)]]):
        assert together(parts) == (finding(kept=False),)


def test_a_part_that_shows_nothing_is_silent_beside_others():
    """That nothing is shown is said only if no part shows anything."""
    fine, nothing = finding(measured=3, worst_group_size=3, groups=2), finding(view="")
    assert together([[nothing], [fine], [FINDING]]) == (fine,)
    assert together([[nothing], [nothing]]) == (nothing,)


def test_the_worst_column_of_all_parts_speaks_for_a_view():
    """Which column is the worst is decided when all parts are added up, not part by part."""
    one = [
        finding(measured=2, worst_group_size=2, groups=1),
        finding(measured=5, worst_group_size=5, groups=1),
    ]
    other = [
        finding(measured=9, worst_group_size=9, groups=1),
        finding(measured=3, worst_group_size=3, groups=4),
    ]
    assert together([one, other]) == (finding(measured=2, worst_group_size=2, groups=2),)
