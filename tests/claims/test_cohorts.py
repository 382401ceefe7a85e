"""Releases of the same people, one after another: nothing becomes certain, who stood together stays so, few are held back."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manyveils as mv
from manyveils import ledgers
from manyveils.datasets import insured, insured_policy
from manyveils.methods.nearness import Place, far_off
from manyveils.promises.company import Company
from manyveils.promises.entries import dense
from manyveils.promises.parting import parting
from manyveils.promises.sightings import alike_lists
from manyveils.publishing import publish_to
from tests.kit.chain_adversary import certain, read

METHODS = [
    {"method": "anatomize"},
    {"method": "slice"},
    {"method": "generalize", "recoding": "mondrian"},
    {"method": "separate"},
]


def chain(tmp_path, frames, policy):
    """Publish quarter after quarter, each after all before it; who stands where in each."""
    done, places = [], []
    for number, frame in enumerate(frames):
        published = publish_to(policy, tmp_path / f"q{number}", data=frame, seed=number, after=done)
        done.append(published.folder)
        places.append((published, pl.read_parquet(published.private / "placements.parquet")))
    return done, places


def seen_by_adversary(places, frames, policy, about):
    """What the plain adversary reads, who knows in which group everybody is."""
    seen = []
    for (published, place), frame in zip(places, frames, strict=True):
        people = {
            row["person"]: {name: str(row[name]) for name in policy.quasi}
            for row in frame.iter_rows(named=True)
        }
        (view,) = (view.name for view in published.release.views if any(about in own for own in view.columns))
        where = dict(zip(frame["person"].to_list(), place[view].to_list(), strict=True))
        seen.append(read(published.folder, people, about, where))
    return seen


@pytest.mark.parametrize("publish", METHODS, ids=lambda publish: publish["method"])
def test_nothing_becomes_certain(tmp_path, publish):
    """Over four quarters neither the attack nor a plain adversary is certain of anything that does not change."""
    policy = insured_policy(publish={**publish, "suppression": 0.02})
    frames = [insured(600, quarter) for quarter in range(1, 5)]
    done, places = chain(tmp_path, frames, policy)
    for about in policy.constant:
        found = certain(seen_by_adversary(places, frames, policy, about))
        assert (found.by_intersecting, found.by_subtracting, found.by_all) == ({}, {}, {})
    found = mv.attack(done[-1], frames[-1], policy, only=["sequential"], after=done[:-1])["sequential"]
    assert (found.certain, found.promised, found.details["certain_gone"]) == (0, 0, 0)
    assert all(published.release.manifest.suppressed <= 12 for published, _ in places)
    assert mv.audit(done[-1], frames[-1], policy, after=done[:-1]).kept


def test_who_stood_together_stays_together(tmp_path):
    """Nobody new comes into a bucket of those who stay; only whole buckets join each other."""
    policy = insured_policy(publish={"method": "anatomize", "suppression": 0.02})
    frames = [insured(1000, quarter) for quarter in (1, 2)]
    _, places = chain(tmp_path, frames, policy)
    groups = [
        dict(zip(frame["person"].to_list(), place["main"].to_list(), strict=True))
        for (_, place), frame in zip(places, frames, strict=True)
    ]
    stay = [person for person, group in groups[1].items() if group >= 0 and groups[0].get(person, -1) >= 0]
    now = {}
    for person in stay:
        now.setdefault(groups[0][person], set()).add(groups[1][person])
    assert all(len(own) == 1 for own in now.values())
    of_old = {next(iter(own)) for own in now.values()}
    new = [group for person, group in groups[1].items() if person not in groups[0] and group >= 0]
    assert new
    assert not of_old & set(new)


def test_a_release_depends_on_its_seed_alone(tmp_path):
    """The same data, chain and seed make the same files."""
    policy = insured_policy(publish={"method": "anatomize", "suppression": 0.02})
    first = publish_to(policy, tmp_path / "first", data=insured(400, 1), seed=1)
    twice = [
        publish_to(
            policy,
            tmp_path / name,
            data=insured(400, 2).sample(fraction=1, shuffle=True, seed=n),
            seed=5,
            after=[first.folder],
        )
        for n, name in enumerate(("a", "b"))
    ]
    tables = [sorted(path.read_bytes() for path in published.folder.glob("*.csv")) for published in twice]
    assert tables[0] == tables[1]


@pytest.mark.parametrize("publish", METHODS, ids=lambda publish: publish["method"])
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_people_end_in_a_release_or_in_one_of_our_errors(tmp_path_factory, publish, data):
    """Small, odd tables whose people come and go: either a release that the audit confirms and nothing is certain in, or why not."""
    folder = tmp_path_factory.mktemp("chain")
    text = st.sampled_from(["", " ", "é", "0", "*", "a,b", None])
    n = data.draw(st.integers(3, 30))
    people = [
        (f"p{i}", data.draw(text), data.draw(st.sampled_from("uvwx")), data.draw(text)) for i in range(n)
    ]
    policy = {
        "data": {"person": "p"},
        "attributes": {
            "p": {"role": "identifier"},
            "q": {"role": "quasi", "kind": "categorical"},
            "s": {"role": "sensitive", "kind": "categorical", "constant": True},
            "c": {"role": "sensitive", "kind": "categorical"},
        },
        "guarantee": {"k": 2, "l": 2},
        "publish": {**publish, "suppression": 0.5, "leaving": data.draw(st.sampled_from([0, 0.2]))},
    }
    done = []
    for number in range(3):
        here = data.draw(st.lists(st.sampled_from(people), min_size=1, unique=True))
        frame = pl.DataFrame(
            here, {"p": pl.String, "q": pl.String, "s": pl.String, "c": pl.String}, orient="row"
        )
        try:
            published = publish_to(
                mv.Policy(**policy), Path(folder) / str(number), data=frame, seed=1, after=done
            )
        except (mv.InfeasibleError, mv.DataError, mv.PolicyError):
            continue
        assert published.audit.kept
        if done:
            found = mv.attack(published.folder, frame, mv.Policy(**policy), only=["sequential"], after=done)
            assert found["sequential"].by_attribute.get("s", {}).get("certain", 0) == 0
        done.append(published.folder)


def test_who_stands_far_off_moved():
    """Whoever is much farther from the middle of her group than most is far off; where all are spread, nobody is."""
    ranks = np.array([*np.linspace(0.1, 0.2, 20), 0.9, *np.linspace(0, 1, 20), 0.5])
    groups = np.array([0] * 21 + [1] * 20 + [-1])
    assert np.flatnonzero(far_off(Place(np.arange(42), ranks), groups, 2)).tolist() == [20]


@given(st.lists(st.sets(st.integers(0, 5), min_size=1), min_size=1, max_size=12))
def test_persons_in_the_same_groups_are_alike(groups):
    """Two persons have one number exactly where they are in the same groups, and the first one stands for it."""
    begins = np.append(0, np.cumsum([len(own) for own in groups]))
    listed = np.array([group for own in groups for group in sorted(own)])
    numbers, firsts = alike_lists(begins, listed, np.arange(len(groups)))
    assert [[a == b for b in groups] for a in groups] == (numbers[:, None] == numbers).tolist()
    assert firsts.tolist() == [groups.index(groups[first]) for first in firsts.tolist()]
    assert numbers[firsts].tolist() == list(range(firsts.size))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1), st.sampled_from([5, 10**9]))
def test_combinations_are_numbered_in_their_order(rows, span):
    """Combinations have the numbers of their places among the different ones, however far apart codes may be."""
    columns = tuple(np.array(column) for column in zip(*rows, strict=True))
    numbers, n = dense(columns, (4, span), len(rows))
    different = sorted(set(rows))
    assert n == len(different)
    assert numbers.tolist() == [different.index(row) for row in rows]


def test_company_goes_as_a_whole():
    """Whoever is company goes with all others who are wanted beside her, the fewest first, or not at all."""
    company = Company(None, 6)  # type: ignore[arg-type]
    wanted = [np.array([0]), np.array([1, 2]), np.array([3, 4, 5])]
    nobody = np.zeros(6, dtype=bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Company, "of", lambda *_: wanted)
        for room, going in ((0, []), (1, [0]), (3, [0, 1, 2]), (5, [0, 1, 2]), (6, [0, 1, 2, 3, 4, 5])):
            told, is_enough = company.within(room, None, None, nobody, nobody)  # type: ignore[arg-type]
            assert np.flatnonzero(told).tolist() == going
            assert is_enough == (room == 6)


def test_full_domain_chains_last(tmp_path):
    """Ten quarters are published one after another, nobody is parted by finer levels, and few are held back."""
    policy = insured_policy(publish={"method": "generalize", "suppression": 0.02})
    done, held_back, heights = [], [], []
    for quarter in range(1, 11):
        frame = insured(2000, quarter)
        published = publish_to(policy, tmp_path / str(quarter), data=frame, seed=quarter, after=done)
        done.append(published.folder)
        held_back.append(published.release.manifest.suppressed / frame.height)
        heights.append(list(published.release.notes["levels"].values()))
    assert sum(held_back) / 10 <= 0.02
    assert all(
        before <= after
        for one, other in pairwise(heights[1:])
        for before, after in zip(one, other, strict=True)
    )


def test_the_last_release_is_told_as_in_the_whole_chain(tmp_path):
    """Who came, went and came back with a release is what the chain says of it."""
    policy, done, moments = insured_policy(publish={"method": "anatomize", "suppression": 0.02}), [], []
    for quarter in range(1, 6):
        frame = insured(1000, quarter)
        published = publish_to(policy, tmp_path / str(quarter), data=frame, seed=1, after=done)
        done.append(published.folder)
        moments.append(published.moment)
    assert tuple(moments) == ledgers.show(done).moments
    assert any(moment.returned for moment in moments)


def test_groups_are_followed_by_where_most_went():
    """A group goes on where most of it went, or where its first person did; others left it, and came."""
    last = np.array([0, 1, 2, 3, 4, 5]), np.array([0, 0, 0, 1, 1, 2])
    own = np.array([0, 1, 2, 3, 6]), np.array([0, 0, 1, 1, 0])
    parted = parting(last, 3, own, 2, 7)
    assert parted.successors.tolist() == [0, 1, -1]
    assert [column.tolist() for column in parted.left] == [[2, 4], [0, 1]]
    assert parted.is_new.tolist() == [False, False, True, False, True]
    assert parted.is_split.tolist() == [True, True]


def test_a_combination_is_not_followed(tmp_path):
    """What several releases tell of two constant attributes together is not worked out, and refused."""
    policy = insured_policy(
        guarantee={"k": 5, "l": 2, "joint": [["tissue", "condition"]]}, publish={"method": "anatomize"}
    )
    first = publish_to(policy, tmp_path / "first", data=insured(300, 1), seed=1)
    with pytest.raises(mv.PolicyError, match="tissue and condition are constant"):
        publish_to(policy, tmp_path / "second", data=insured(300, 2), seed=1, after=[first.folder])


def test_what_was_not_constant_is_not_followed(tmp_path):
    """An attribute that becomes constant between two releases is refused: nobody knows what people had before."""
    policy = insured_policy(publish={"method": "anatomize", "suppression": 0.02})
    changing = {name: own.model_copy(update={"constant": False}) for name, own in policy.attributes.items()}
    before = insured_policy(
        attributes={name: own.model_dump(exclude_unset=True) for name, own in changing.items()},
        publish={"method": "anatomize", "suppression": 0.02},
    )
    first = publish_to(before, tmp_path / "first", data=insured(300, 1), seed=1)
    with pytest.raises(mv.DataError, match="was not when first was published"):
        publish_to(policy, tmp_path / "second", data=insured(300, 2), seed=1, after=[first.folder])


def test_nobody_without_a_name_is_published_again(tmp_path):
    """Whose identity is missing is held back, and the audit has nothing to say of her."""
    policy = insured_policy(publish={"method": "separate", "suppression": 0.02})
    frames = [
        frame.with_columns(person=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise("person"))
        for frame in (insured(400, 1), insured(400, 2))
    ]
    first = publish_to(policy, tmp_path / "first", data=frames[0], seed=1)
    second = publish_to(policy, tmp_path / "second", data=frames[1], seed=1, after=[first.folder])
    assert second.audit.kept
    assert second.release.manifest.suppressed >= 1
