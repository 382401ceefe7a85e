"""What was told of a key, what follows from it, and that researchers are told no more than an owner approves."""

from itertools import pairwise

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyveils.errors import InputError
from manyveils.keys import Grades, Key, Pseudonyms
from manyveils.server import accounts, catalogue, disclosure, grants, logins
from manyveils.server.disclosure import share_of
from manyveils.server.interpretation import read_rule, read_table, read_value
from manyveils.server.refusals import Forbidden, TooMany

PASSWORD = "a long enough password"
BOUNDS = (0.0, 10.0, 20.0, 40.0, 80.0, 160.0)
CATEGORIES = tuple(pairwise(BOUNDS))


def graded(step=1.0, categories=CATEGORIES):
    """A key of grades for numbers that lie `step` apart."""
    grades = Grades(categories, {})
    numbers = np.arange(categories[0][0], categories[-1][1] + step / 2, step)
    originals = {}
    for number in numbers:
        try:
            originals[repr(grades.grade(float(number)))] = f"{number:g}"
        except ValueError:
            continue
    return Key({}, {"income": Grades(categories, originals)})


def follows(categories, told):
    """The categories whose boundaries are determined by the grades that were told, by linear algebra."""
    names = sorted({bound for pair in categories for bound in pair})
    equations = np.zeros((len(told), len(names)))
    for line, grade in zip(equations, told, strict=True):
        whole, share = divmod(float(grade), 1)
        low, high = categories[int(whole) - 1]
        line[names.index(low)] += 1 - share
        line[names.index(high)] += share
    rank = np.linalg.matrix_rank(equations, tol=1e-9) if told else 0

    def is_known(bound):
        unit = np.zeros(len(names))
        unit[names.index(bound)] = 1
        return bool(told) and np.linalg.matrix_rank(np.vstack([equations, unit]), tol=1e-9) == rank

    return [is_known(low) and is_known(high) for low, high in categories]


APART = ((0.0, 10.0), (10.0, 20.0), (30.0, 40.0), (40.0, 60.0))


@pytest.mark.parametrize("categories", [CATEGORIES, APART])
@given(st.data())
def test_what_follows_from_grades(categories, data):
    """Exactly the originals follow that were told, or lie in a category whose boundaries solve the equations."""
    key = graded(2.5, categories)
    originals = key.grades["income"].originals
    told = data.draw(st.sets(st.sampled_from(sorted(originals)), max_size=6))
    is_open = follows(categories, sorted(told))
    expected = sum(grade in told or is_open[int(float(grade)) - 1] for grade in originals)
    share = share_of(key, "income", told)
    assert (share.told, share.derivable, share.originals) == (len(told), expected, len(originals))


def test_what_follows_from_pseudonyms():
    """Of pseudonyms what was told follows, and the last one when all others are."""
    key = Key({"job": Pseudonyms({f"C{n}": f"job {n}" for n in range(4)}, {})}, {})
    derivable = [share_of(key, "job", [f"C{n}" for n in range(told)]).derivable for told in range(5)]
    assert derivable == [0, 1, 2, 4, 4]


@pytest.fixture
def release(house, hand_made):
    """A release with a key of grades, of which a quarter may follow from what is told, and a grant."""
    number = house.release(hand_made, key=graded())
    disclosure.approve(house.keeper, house.owner, number, approved=25)
    house.grant(number)
    return number


def grades_of(house, key):
    return sorted(key.grades["income"].originals, key=float)


def test_six_charges_do_not_give_all(house, release):
    """Two grades of each category used to give every income; now what follows ends at what was approved."""
    told, refused = 0, 0
    published = grades_of(house, graded())
    for category in range(1, 6):
        for grade in [grade for grade in published if int(float(grade)) == category][1:3]:
            try:
                read_value(house.keeper, house.researcher, release, "income", grade)
                told += 1
            except Forbidden:
                refused += 1
    (share,) = disclosure.disclosure(house.keeper, house.owner, release).attributes
    assert share.derivable <= 0.25 * share.originals
    assert told + refused == 10
    assert refused >= 4


def test_an_owner_approves(house, release):
    """What was refused is answered once an owner has approved more; what adds nothing is never refused."""
    published = [grade for grade in grades_of(house, graded()) if int(float(grade)) == 5]
    read_value(house.keeper, house.researcher, release, "income", published[3])
    with pytest.raises(Forbidden):
        read_value(house.keeper, house.researcher, release, "income", published[7])
    read_value(house.keeper, house.researcher, release, "income", published[3])
    said = disclosure.approve(house.keeper, house.owner, release, approved=60)
    assert (said.approved, said.attributes[0].told) == (60, 1)
    read_value(house.keeper, house.researcher, release, "income", published[7])
    disclosure.approve(house.keeper, house.owner, release, approved=0)
    read_value(house.keeper, house.researcher, release, "income", published[20])
    assert "approve" in [entry.action for entry in house.log()]


def test_researchers_cannot_combine(house, release):
    """What two researchers were told counts together."""
    accounts.add_user(house.keeper, house.owner, "second", PASSWORD, "researcher")
    expires = house.keeper.now() + 3600
    grants.give_grant(house.keeper, house.owner, "second", release, daily_limit=9, expires=expires)
    second = accounts.log_in(house.keeper, "second", PASSWORD, "here")
    published = [grade for grade in grades_of(house, graded()) if int(float(grade)) == 5]
    read_value(house.keeper, house.researcher, release, "income", published[3])
    with pytest.raises(Forbidden):
        read_value(house.keeper, second, release, "income", published[7])


def test_two_ways_to_write_one_question(house, release):
    """Two comparisons with one grade give one original and cost one; a grade written in two ways is one."""
    grade = grades_of(house, graded())[3]
    answer = read_rule(house.keeper, house.researcher, release, f"income > {grade} and income >= {grade}")
    assert answer.cost == 1
    rows = [[grade], [f"{float(grade):.6f}"]]
    assert read_table(house.keeper, house.researcher, release, ["income"], rows).cost == 1
    assert disclosure.disclosure(house.keeper, house.owner, release).attributes[0].told == 1


@pytest.mark.parametrize("sign", [">", ">=", "<", "<=", "=", "!="])
def test_grades_that_were_never_published(house, release, sign):
    """A comparison with a grade that is not in the release is refused: by trying, its neighbours would be found."""
    with pytest.raises(InputError, match="not published"):
        read_rule(house.keeper, house.researcher, release, f"income {sign} 2.123456")
    with pytest.raises(InputError, match="not published"):
        read_rule(house.keeper, house.researcher, release, "income between 1.0 and 2.123456")
    assert grants.all_grants(house.keeper, house.researcher)[0].used_today == 0


def test_limits_in_all(house, hand_made, clock):
    """A grant ends when its limit in all is used, on whatever day, and a release when its budget is."""
    object.__setattr__(house.keeper, "now", clock)
    release = house.release(hand_made)
    expires = clock.time + 1e6
    limits = {"daily_limit": 3, "total_limit": 5, "expires": expires}
    grants.give_grant(house.keeper, house.owner, "researcher", release, **limits)

    def ask(n):
        try:
            return read_value(house.keeper, house.researcher, release, "insurance", f"CODE{n:03}").cost
        except TooMany as refusal:
            return refusal.problems[0].where

    assert [ask(n) for n in range(4)] == [1, 1, 1, "daily limit"]
    clock.time += 86400
    assert [ask(n) for n in range(4)] == [1, 1, "limit in all", "limit in all"]
    grants.give_grant(house.keeper, house.owner, "researcher", release, **limits | {"total_limit": 9})
    disclosure.approve(house.keeper, house.owner, release, budget=6)
    clock.time += 86400
    assert [ask(n) for n in range(2)] == [1, "budget"]
    grant = grants.all_grants(house.keeper, house.researcher)[0]
    assert (grant.used_today, grant.used_in_all) == (1, 6)


def test_the_page_of_an_owner(door, hand_made):
    """An owner sees on a page how much of a key follows from what was told, approves more there, and can delete."""
    house = door.house
    release = house.release(hand_made, key=graded())
    house.grant(release)
    read_value(house.keeper, house.researcher, release, "income", grades_of(house, graded())[3])
    session = logins.open_session(house.keeper, "owner", PASSWORD, "here")
    with httpx.Client(base_url=door.url, cookies={logins.PLAIN: session.cookie}) as browser:
        page = browser.get(f"/releases/{release}/disclosure").text
        assert '<td class="number">161</td>' in page
        form = {"csrf": session.csrf, "approved": "7", "budget": "9"}
        assert browser.post(f"/releases/{release}/disclosure", data=form).status_code == 303
        said = disclosure.disclosure(house.keeper, house.owner, release)
        assert (said.approved, said.budget) == (7, 9)
        for sure, left in (("no", 1), ("yes", 0)):
            browser.post(f"/releases/{release}/delete", data={"csrf": session.csrf, "sure": sure})
            assert len(catalogue.items(house.keeper)) == left
