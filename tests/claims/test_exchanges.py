"""What is said to stay possible of persons of several releases is possible in worlds written out in plain Python."""

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils import compiling
from manyveils.promises.exchanges import STRICTEST, Exchanges, Owed, n_differing
from manyveils.promises.parting import parting
from manyveils.promises.stints import NO_PAST, NONE, Stints

VALUES = 3


@st.composite
def chains(draw):
    """Releases as groups of persons, each of whom is in one or in none, and everybody's value.

    Mostly whole groups go on, some into one, with a few persons who leave or come.
    """
    n_persons = draw(st.integers(2, 7))
    values = draw(st.lists(st.integers(0, VALUES - 1), min_size=n_persons, max_size=n_persons))
    groups = draw(st.lists(st.integers(-1, 2), min_size=n_persons, max_size=n_persons))
    releases = []
    for _ in range(draw(st.integers(1, 4))):
        pairs = sorted((p, g) for p, g in enumerate(groups) if g >= 0)
        if pairs:
            releases.append(pairs)
        into = draw(st.lists(st.integers(0, 2), min_size=3, max_size=3))
        others = draw(st.lists(st.integers(-1, 2), min_size=n_persons, max_size=n_persons))
        moves = draw(st.lists(st.booleans(), min_size=n_persons, max_size=n_persons))
        groups = [
            other if moves_now or group < 0 else into[group]
            for group, other, moves_now in zip(groups, others, moves, strict=True)
        ]
    return values, releases


def exchanges_in(values, releases, wanted):
    """The stints of all releases but the last, as what must stay possible beside them."""
    past, last, n_last = NO_PAST, (NONE, NONE), 0
    for pairs in releases[:-1]:
        own = tuple(np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
        n_groups = int(own[1].max()) + 1
        past = past.then(own, parting(last, n_last, own, n_groups, len(values)))
        last, n_last = own, n_groups
    owed = Owed(np.array(values), np.arange(VALUES), wanted)
    return Exchanges(past, last, n_last, len(values), (owed,))


def possible(values, releases):
    """The values that each person has in some world in which all groups have what they have."""
    groups = [
        frozenset(p for p, own in pairs if own == g) for pairs in releases for g in {g for _, g in pairs}
    ]
    told = [Counter(values[p] for p in group) for group in groups]
    found = [set() for _ in values]
    for world in product(range(VALUES), repeat=len(values)):
        if all(
            Counter(world[p] for p in group) == counts for group, counts in zip(groups, told, strict=True)
        ):
            for own, value in zip(found, world, strict=True):
                own.add(value)
    return found


@pytest.mark.parametrize("few", [True, False], ids=["plain", "compiled"])
@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(chain=chains())
# Two who left together with different values, and one who came back from them beside a newcomer.
@example(chain=([0, 1, 2, 0, 1], [[(0, 0), (1, 0), (2, 0)], [(2, 0)], [(2, 0), (0, 1), (4, 1)]]))
# Four of two groups exchange two values: of each group one left, and one stayed.
@example(chain=([0, 1, 1, 0], [[(0, 0), (1, 0), (2, 1), (3, 1)], [(1, 0), (3, 0)]]))
def test_what_is_said_to_be_possible_is(few, chain):
    """However strictly it is asked, nobody is said to have more possible values than she has in all worlds."""
    values, releases = chain
    if not releases:
        return
    exchanges = exchanges_in(values, releases, VALUES)
    own = tuple(np.array(column, dtype=np.int64) for column in zip(*releases[-1], strict=True))
    cells = exchanges.laid_out(exchanges.then(own, int(own[1].max()) + 1))
    truth = possible(values, releases)
    seen = {p for pairs in releases for p, _ in pairs}
    for strictness in range(STRICTEST + 1):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiling.EFFORT, "borne", 0 if few else compiling.BEARABLE)
            lacking = exchanges.lacking(cells, strictness)[0]
        for p in seen:
            assert VALUES - lacking[p] <= len(truth[p])


def test_those_who_left_alike_are_enough():
    """Somebody who left with two others of other values could have any of the three; who left alone only her own."""
    releases = [[(0, 0), (1, 0), (2, 0), (3, 0)], [(3, 0)]]
    exchanges = exchanges_in([0, 1, 2, 2], releases, 3)
    stints = exchanges.then((np.array([3]), np.array([0])), 1)
    assert exchanges.lacking(exchanges.laid_out(stints))[0].tolist() == [0, 0, 0, 2]
    alone = exchanges.then((np.array([1, 2, 3]), np.array([0, 0, 0])), 1)
    assert exchanges.lacking(exchanges.laid_out(alone))[0].tolist() == [2, 1, 1, 1]


def test_four_exchange_two_values():
    """One who left alone could have the value of one of hers who stayed, if of another group it is the other way round."""
    releases = [[(0, 0), (1, 0), (2, 1), (3, 1)], [(1, 0), (3, 0)]]
    exchanges = exchanges_in([0, 1, 1, 0], releases, 2)
    cells = exchanges.laid_out(exchanges.then((np.array([1, 3]), np.array([0, 0])), 1))
    assert not exchanges.lacking(cells)[0].any()
    # Strictly that does not count, since who stays may leave later.
    assert exchanges.lacking(cells, STRICTEST)[0].tolist() == [1, 1, 1, 1]


def test_whose_value_is_not_known_is_not_asked_about():
    """Persons of whom an earlier release knows nothing neither lack anything nor help anybody."""
    releases = [[(0, 0), (1, 0)], [(1, 0)]]
    exchanges = exchanges_in([-1, 1], releases, 2)
    cells = exchanges.laid_out(exchanges.then((np.array([1]), np.array([0])), 1))
    assert exchanges.lacking(cells)[0].tolist() == [0, 1]


def test_nobody_at_all():
    """Without persons nothing is lacking."""
    exchanges = Exchanges(NO_PAST, (NONE, NONE), 0, 0, ())
    assert not exchanges.lacking(exchanges.laid_out(Stints(NONE, NONE, NONE))).size


def test_room_grows_with_what_must_differ():
    """More must leave together the more values are wanted, and the more one of them prevails."""
    even, skewed = np.full(10, 10), np.array([91, *[1] * 9])
    assert n_differing(even, 2) < n_differing(even, 4)
    assert n_differing(even, 3) < n_differing(skewed, 3)
    assert n_differing(np.array([5]), 3) == 3


def test_persons_in_several_groups_are_not_followed(tmp_path):
    """Where somebody stood in several groups of one release, the next release is refused, with how many."""
    frame = pl.DataFrame(
        {"p": ["a", "a", "b", "c", "d"], "q": ["x", "y", "x", "x", "y"], "s": ["u", "u", "u", "v", "v"]}
    )
    policy = mv.Policy(
        data={"person": "p"},
        attributes={
            "p": {"role": "identifier"},
            "q": {"role": "quasi"},
            "s": {"role": "sensitive", "constant": True},
        },
        guarantee={"k": 2, "l": 2},
        publish={"method": "generalize"},
    )
    first = mv.publish(frame, policy, seed=1)
    first.save(tmp_path / "first")
    policy = policy.replaced(publish={"method": "anatomize", "suppression": 0.5})
    with pytest.raises(mv.InfeasibleError, match="1 persons stood in several groups"):
        mv.publish(frame, policy, seed=1, after=[tmp_path / "first"])
