"""The log: appended to by many at once, changed by nobody, and a change shows."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from manyveils.server import chain
from manyveils.server.chain import append, verify_log
from manyveils.server.refusals import Forbidden


def tamper(house, statement):
    """Change the database behind the server's back, triggers switched off."""
    with house.keeper.database.writing() as connection:
        if house.keeper.database.is_sqlite:
            for what in ("UPDATE", "DELETE"):
                connection.execute(text(f"DROP TRIGGER IF EXISTS log_keeps_{what}"))
        else:
            connection.execute(text("ALTER TABLE log DISABLE TRIGGER USER"))
        connection.execute(text(statement))


def write(house, n=5):
    """Append a few entries."""
    for i in range(n):
        with house.keeper.database.writing() as connection:
            append(house.keeper, connection, "tester", "try", str(i), {"number": i, "text": "ä\x00\ud800"})


def test_entries_are_read_back(either):
    """Entries come back as they were written, each with the hash of the one before."""
    write(either)
    entries = either.log()
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    assert entries[-1].details == {"number": 4, "text": "ä\x00\ud800"}
    assert all(b.previous == a.hash for a, b in pairwise(entries))
    verdict = verify_log(either.keeper)
    assert (verdict.whole, verdict.entries, verdict.head) == (True, len(entries), entries[-1].hash)
    assert chain.latest(either.keeper, either.auditor, most=2) == entries[:-3:-1]


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE log SET actor = 'somebody' WHERE number = 3", 3),
        ("UPDATE log SET details = '{}' WHERE number = 8", 8),
        ("UPDATE log SET time = '1999' WHERE number = 1", 1),
        ("DELETE FROM log WHERE number = 4", 4),
        ("DELETE FROM log WHERE number > 6", 7),
        ("UPDATE log SET number = 99 WHERE number = 5", 5),
        ("UPDATE log SET hash = previous WHERE number = 2", 2),
        ("UPDATE chain SET number = 7, hash = (SELECT hash FROM log WHERE number = 7)", 11),
        ("DELETE FROM chain", 11),
    ],
)
def test_changes_show(house, statement, broken):
    """Whatever is changed, removed or moved, the first number that does not fit is named."""
    write(house)
    assert len(house.log()) == 11
    tamper(house, statement)
    verdict = verify_log(house.keeper)
    assert not verdict.whole
    assert verdict.broken == broken
    assert verdict.reason


def test_a_chain_made_anew_shows(either):
    """Whoever rewrites the log with right hashes from some entry on lacks the server's seal."""
    write(either)
    rewritten = either.log()[6]
    fields = (rewritten.number, rewritten.time, "somebody", rewritten.action, rewritten.subject, "{}")
    digest = chain._hash(*fields, rewritten.previous)
    tamper(either, "DELETE FROM log WHERE number > 7")
    tamper(either, f"UPDATE log SET actor = 'somebody', details = '{{}}', hash = '{digest}' WHERE number = 7")
    tamper(either, f"UPDATE chain SET number = 7, hash = '{digest}'")
    verdict = verify_log(either.keeper)
    assert (verdict.whole, verdict.broken) == (False, 7)
    assert "seal" in verdict.reason


@pytest.mark.parametrize("statement", ["UPDATE log SET actor = 'x'", "DELETE FROM log"])
def test_the_database_refuses_changes(either, statement):
    """The database itself refuses to change or remove entries."""
    with pytest.raises(SQLAlchemyError), either.keeper.database.writing() as connection:
        connection.execute(text(statement))
    assert verify_log(either.keeper).whole


def test_many_at_once(either):
    """A hundred entries from sixteen threads form one chain."""
    before = len(either.log())
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: write(either, 1), range(100)))
    assert verify_log(either.keeper).entries == before + 100
    assert verify_log(either.keeper).whole


def test_what_did_not_happen_is_not_logged(either):
    """An entry whose transaction fails is not in the log, and leaves no gap."""
    before = len(either.log())

    def interrupted():
        with either.keeper.database.writing() as connection:
            append(either.keeper, connection, "tester", "try")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    write(either, 1)
    assert len(either.log()) == before + 1
    assert verify_log(either.keeper).whole


def test_researchers_do_not_read_it(house):
    """The log is for auditors and owners."""
    for read in (chain.entries, chain.latest, chain.checked_log):
        assert read(house.keeper, house.auditor)
        with pytest.raises(Forbidden):
            read(house.keeper, house.researcher)
