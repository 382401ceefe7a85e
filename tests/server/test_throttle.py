"""Logging in slowly: guesses wait longer and longer, per account and per address, however many come at once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from manyveils.server import accounts, throttle
from manyveils.server.refusals import TooMany, Unauthenticated

PASSWORD = "a long enough password"


def guess(house, name="researcher", address="here", password="wrong"):
    """One try; gives its refusal, or None."""
    try:
        accounts.log_in(house.keeper, name, password, address)
    except (Unauthenticated, TooMany) as refusal:
        return refusal
    return None


@pytest.fixture
def frozen(either, clock):
    """A server whose clock stands still."""
    object.__setattr__(either.keeper, "now", clock)
    return either


def test_five_guesses_are_free(frozen):
    """Five wrong guesses are refused as wrong, the sixth as too early, even with the right password."""
    said = [type(guess(frozen)) for _ in range(6)]
    assert said == [Unauthenticated] * 5 + [TooMany]
    assert isinstance(guess(frozen, password=PASSWORD, address="there"), TooMany)
    assert guess(frozen, "owner", password=PASSWORD) is None


def test_waiting_doubles(frozen, clock):
    """Each guess after the fifth waits twice as long as the one before, and the refusal says how long."""
    for _ in range(5):
        guess(frozen)
    waits = []
    for _ in range(5):
        refusal = guess(frozen)
        waits.append(refusal.wait)
        clock.time += refusal.wait - 0.5
        assert isinstance(guess(frozen), TooMany)
        clock.time += 0.5
        assert isinstance(guess(frozen), Unauthenticated)
    assert waits == [1, 2, 4, 8, 16]


def test_unknown_accounts_are_throttled_too(frozen):
    """Guesses at an account that does not exist are refused alike, so that refusals tell nothing."""
    for name in ("researcher", "nobody"):
        assert [type(guess(frozen, name, name)) for _ in range(6)] == [Unauthenticated] * 5 + [TooMany]


def test_addresses_are_throttled(frozen):
    """Twenty guesses from one address at as many accounts are enough; other addresses are not affected."""
    said = [type(guess(frozen, f"name{n}")) for n in range(21)]
    assert said == [Unauthenticated] * 20 + [TooMany]
    assert isinstance(guess(frozen, "name0", "there"), Unauthenticated)


def test_success_forgives(frozen, clock):
    """Logging in forgets the account's wrong tries; a quarter of an hour forgets all."""
    for _ in range(4):
        guess(frozen)
    assert guess(frozen, password=PASSWORD) is None
    assert [type(guess(frozen)) for _ in range(6)] == [Unauthenticated] * 5 + [TooMany]
    clock.time += throttle.WINDOW + 1
    assert isinstance(guess(frozen), Unauthenticated)


def test_many_at_once(frozen):
    """Of thirty guesses at once five are looked at, and of the others' refusals five are logged."""
    with ThreadPoolExecutor(16) as pool:
        said = list(pool.map(lambda _: type(guess(frozen)), range(30)))
    assert said.count(Unauthenticated) == 5
    assert said.count(TooMany) == 25
    written = [entry for entry in frozen.log() if entry.action == "log in refused"]
    assert [entry.details.get("refused") for entry in written].count(429) == 5
    assert {entry.subject for entry in written} == {"researcher"}
    assert [entry.action for entry in frozen.log()].count("further refusals omitted") == 1
