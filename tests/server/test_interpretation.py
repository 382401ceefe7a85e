"""Interpretation: read with the key for whom a grant lets, counted, and logged without the meaning."""

import json

import pytest
from sqlalchemy import text

from manyveils.errors import InputError
from manyveils.keys import Key
from manyveils.server import catalogue, grants
from manyveils.server.interpretation import read_rule, read_table, read_value
from manyveils.server.refusals import Conflict, Forbidden, Missing, TooMany

MARK = "Qz9secret"


@pytest.fixture
def release(either, hand_made):
    """A listed release that the researcher has a grant of ten for."""
    number = either.release(hand_made)
    either.grant(number, limit=10)
    return number


def used(house):
    return grants.all_grants(house.keeper, house.researcher)[0].used_today


def test_values(either, release):
    """Codes, groups and grades are read with the key; a group counts its members, and whatever is no secret one."""

    def ask(attribute, published):
        answer = read_value(either.keeper, either.researcher, release, attribute, published)
        return answer.read, answer.meanings[0].kind

    assert ask("insurance", "CODE007") == (f"{MARK} insurance 7", "value")
    assert ask("insurance", "GROUP1") == (f"{MARK} group: one of {MARK} a, {MARK} b", "group")
    assert ask("income", "1.5") == (f"{MARK} 25", "number")
    assert ask("insurance", "no code") == ("no code", "public")
    assert ask("age", "30") == ("30", "public")
    assert used(either) == 6


def test_rules_count_their_meanings(either, release):
    """A rule counts its different meanings, and one at least."""
    rule = "insurance in ('CODE001', 'CODE002', 'CODE001') -> income >= 1.5"
    answer = read_rule(either.keeper, either.researcher, release, rule)
    assert answer.read == (
        f"insurance in ('{MARK} insurance 1', '{MARK} insurance 2', '{MARK} insurance 1') -> income >= {MARK} 25"
    )
    assert used(either) == answer.cost == 3


def test_tables_count_their_meanings(either, release):
    """A table counts the originals that it gives away, and an empty cell gives none."""
    rows = [["CODE001", "1.5"], ["CODE002", "1.5"], ["CODE001", ""]]
    answer = read_table(either.keeper, either.researcher, release, ["insurance", "income"], rows)
    assert answer.read[0] == [f"{MARK} insurance 1", f"{MARK} 25"]
    assert used(either) == answer.cost == 3


def test_the_limit(either, release):
    """Ten meanings are given, the eleventh is not; what would go beyond is refused whole."""
    table = [[f"CODE{n:03}"] for n in range(9)]
    read_table(either.keeper, either.researcher, release, ["insurance"], table)
    with pytest.raises(TooMany):
        read_table(either.keeper, either.researcher, release, ["insurance"], table[:2])
    assert used(either) == 9
    read_value(either.keeper, either.researcher, release, "insurance", "CODE050")
    with pytest.raises(TooMany):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE050")
    assert used(either) == 10
    assert [entry.details.get("refused") for entry in either.log()][-3:] == [429, None, 429]


def test_a_new_day(either, release, clock):
    """Limits begin anew at midnight UTC; a changed grant does not begin anew before."""
    object.__setattr__(either.keeper, "now", clock)
    clock.time = clock.time // 86400 * 86400 + 86399
    either.grant(release, limit=2, seconds=2 * 86400)
    for code in ("CODE001", "CODE002"):
        read_value(either.keeper, either.researcher, release, "insurance", code)
    either.grant(release, limit=2, seconds=3 * 86400)
    with pytest.raises(TooMany):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE003")
    clock.time += 1
    assert read_value(either.keeper, either.researcher, release, "insurance", "CODE003")


def test_without_a_grant(either, hand_made):
    """Without a grant, with an expired or an ended one, and as an auditor nothing is read, and it is logged."""
    release = either.release(hand_made)
    refused = 0

    def ask(person):
        nonlocal refused
        with pytest.raises(Forbidden) as refusal:
            read_value(either.keeper, person, release, "insurance", "CODE001")
        refused += 1
        entry = either.log()[-1]
        assert (entry.actor, entry.action, entry.subject) == (person.name, "interpret refused", release)
        return str(refusal.value)

    said = {ask(either.researcher), ask(either.auditor)}
    grant = either.grant(release, seconds=0.2)
    moment = either.keeper.now()
    object.__setattr__(either.keeper, "now", lambda: moment + 1)
    said.add(ask(either.researcher))
    grant = either.grant(release)
    assert read_value(either.keeper, either.researcher, release, "insurance", "CODE001")
    grants.end_grant(either.keeper, either.owner, grant.id)
    said.add(ask(either.researcher))
    assert len(said) == 1
    assert refused == 4


def test_grants_are_per_release(either, hand_made, release):
    """A grant for one release does not open another."""
    other = either.release(hand_made)
    with pytest.raises(Forbidden):
        read_value(either.keeper, either.researcher, other, "insurance", "CODE001")


def test_releases_that_are_not_listed(either, release):
    """A release taken off the list is not there for researchers, whatever their grant; for owners it is."""
    catalogue.set_listed(either.keeper, either.owner, release, listed=False)
    with pytest.raises(Missing):
        read_value(either.keeper, either.researcher, release, "insurance", "CODE001")
    assert read_value(either.keeper, either.owner, release, "insurance", "CODE001")


def test_owners_have_no_limit_and_are_logged(either, release):
    """Owners may ask without a grant; it is logged."""
    for n in range(20):
        read_value(either.keeper, either.owner, release, "insurance", f"CODE{n:03}")
    assert [entry.actor for entry in either.log() if entry.action == "interpret"] == ["owner"] * 20


def test_the_log_holds_questions_not_meanings(either, release):
    """The log holds who asked what and how much was given, with a keyed digest; no meaning is in it."""
    read_value(either.keeper, either.researcher, release, "insurance", "CODE003")
    read_rule(either.keeper, either.researcher, release, "income >= 1.5")
    one, other = either.log()[-2:]
    assert one.details["asked"] == {"attribute": "insurance", "published": "CODE003"}
    assert one.details["meanings"] == 1
    assert len(one.details["digest"]) == 64
    assert other.details["asked"] == {"rule": "income >= 1.5"}
    assert MARK not in str(either.log())
    again = json.dumps(f"{MARK} insurance 3")
    assert one.details["digest"] == either.keeper.secret.seal("answer", release, again)


@pytest.mark.parametrize(
    "ask",
    [
        lambda *on: read_value(*on, "income", "not a grade"),
        lambda *on: read_value(*on, "income", "1.7"),
        lambda *on: read_value(*on, "diagnosis", "CODE001"),
        lambda *on: read_rule(*on, "insurance = "),
        lambda *on: read_rule(*on, "diagnosis = 'CODE001'"),
        lambda *on: read_rule(*on, "a -> b -> c"),
        lambda *on: read_rule(*on, "zzz is missing"),
        lambda *on: read_rule(*on, "age > 30 -> zzz is not missing"),
        lambda *on: read_table(*on, ["insurance"], [["CODE001"]] * 1001),
        lambda *on: read_table(*on, ["insurance"], [["CODE001", "CODE002"]]),
        lambda *on: read_table(*on, ["insurance"], [["x" * 201]]),
    ],
)
def test_wrong_questions(either, release, ask):
    """What cannot be answered is refused, costs nothing and gives nothing away."""
    with pytest.raises(InputError) as refusal:
        ask(either.keeper, either.researcher, release)
    assert used(either) == 0
    assert MARK not in str(refusal.value)


def test_conditions_without_values(either, release):
    """A condition without values about an attribute of the release is read, also beside a quoted arrow."""
    read = read_rule(
        either.keeper, either.researcher, release, "insurance != 'a -> b' -> age is missing"
    ).read
    assert read.endswith("-> age is missing")


def refusals_of(house):
    return [entry for entry in house.log() if entry.action == "interpret refused"]


def test_wrong_questions_are_logged(either, release, hand_made):
    """Questions that are wrong, or about what is not listed or not there, are in the log with their status."""
    hidden = either.release(hand_made, listed=False)
    asked = [(release, "diagnosis"), (hidden, "insurance"), ("0" * 16, "insurance")]
    for number, attribute in asked:
        with pytest.raises((InputError, Missing)):
            read_value(either.keeper, either.researcher, number, attribute, "CODE001")
    said = [(entry.subject, entry.details["refused"]) for entry in refusals_of(either)]
    assert said == [(release, 422), (hidden, 404), ("0" * 16, 404)]


def test_nobody_floods_the_log(either, hand_made, clock):
    """Twenty refusals of one person are written in a quarter of an hour, then one that says so; others' still are."""
    object.__setattr__(either.keeper, "now", clock)
    release = either.release(hand_made)
    rows = [["x" * 200]] * 1000

    def ask(person, **more):
        try:
            return read_table(either.keeper, person, release, ["insurance"], rows)
        except (Forbidden, TooMany) as refusal:
            return type(refusal), refusal.wait

    before = len(either.log())
    assert [ask(either.researcher) for _ in range(24)] == [(Forbidden, None)] * 20 + [(TooMany, 900)] * 4
    written = either.log()[before:]
    assert [entry.action for entry in written] == ["interpret refused"] * 20 + ["further refusals omitted"]
    assert sum(len(json.dumps(entry.details)) for entry in written) < 20_000
    assert ask(either.auditor) == (Forbidden, None)
    clock.time += 901
    assert ask(either.researcher) == (Forbidden, None)
    assert [entry.actor for entry in refusals_of(either)][-2:] == ["auditor", "researcher"]


def test_long_questions_are_logged_short(either, release):
    """Of a long question the log has its length, a keyed digest, and every value that was read, each once."""
    rows = [["CODE001"], ["CODE002"]] * 400
    read_table(either.keeper, either.researcher, release, ["insurance"], rows)
    asked = either.log()[-1].details["asked"]
    assert asked["published"] == {"insurance": ["CODE001", "CODE002"]}
    whole = json.dumps({"names": ["insurance"], "rows": rows})
    assert asked["length"] == len(whole)
    assert asked["digest"] == either.keeper.secret.seal("question", release, whole)


@pytest.mark.parametrize(
    ("names", "rows"),
    [
        (["insurance"], [["x" * 201]]),
        (["x" * 301], [["x"]]),
        (["insurance"] * 1001, [["x"]]),
        (["insurance"], [["x"] * 2000]),
        (["insurance"] * 20, [["x"]] * 51),
    ],
)
def test_what_is_too_large_is_not_looked_at(house, hand_made, names, rows):
    """A question that is too large is refused before anything else, and not even logged."""
    release = house.release(hand_made)
    before = len(house.log())
    with pytest.raises(InputError):
        read_table(house.keeper, house.researcher, release, names, rows)
    assert len(house.log()) == before


def test_a_release_without_a_key(either, hand_made):
    """A release without a key has nothing to be read."""
    release = either.release(hand_made)
    with either.keeper.database.writing() as connection:
        connection.execute(text("DELETE FROM keys"))
    with pytest.raises(Conflict):
        read_value(either.keeper, either.owner, release, "insurance", "CODE001")


def test_keys_are_encrypted_at_rest(either, hand_made):
    """The database holds no meaning in the clear, and one release's key does not open as another's."""
    one, other = either.release(hand_made), either.release(hand_made)
    with either.keeper.database.reading() as connection:
        blobs = [bytes(blob) for blob in connection.execute(text("SELECT key FROM keys")).scalars()]
    assert all(MARK.encode() not in blob for blob in blobs)
    assert len(set(blobs)) == 2
    with either.keeper.database.writing() as connection:
        connection.execute(
            text(
                "UPDATE keys SET key = (SELECT key FROM keys WHERE release_id = :one) WHERE release_id = :other"
            ),
            {"one": one, "other": other},
        )
    assert isinstance(catalogue.key_of(either.keeper, one), Key)
    catalogue._keys.clear()
    assert catalogue.key_of(either.keeper, other) is None
    with pytest.raises(InputError):
        either.keeper.secret.unlock(blobs[0], "another release")
    if either.keeper.database.is_sqlite:
        files = list(either.keeper.settings.folder.glob("server.sqlite*"))
        assert files
        assert all(MARK.encode() not in path.read_bytes() for path in files)
