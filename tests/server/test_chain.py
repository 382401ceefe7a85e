"""The log: appended to by many at once, changed by nobody, and a change shows."""

import hashlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import astuple, dataclass
from itertools import pairwise

import pytest
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from manyveils.errors import InputError
from manyveils.server import chain, verifying
from manyveils.server.chain import append
from manyveils.server.keeper import Keeper, open_keeper
from manyveils.server.refusals import Forbidden
from manyveils.server.verifying import check_at_start, verify_log


def tamper(house, statement):
    """Change the database behind the server's back, triggers switched off."""
    with house.keeper.database.writing() as connection:
        if house.keeper.database.is_sqlite:
            for what in ("UPDATE", "DELETE", "INSERT"):
                connection.execute(text(f"DROP TRIGGER IF EXISTS log_keeps_{what}"))
        else:
            connection.execute(text("ALTER TABLE log DISABLE TRIGGER USER"))
        connection.execute(text(statement))


@dataclass
class House:
    """A server by its keeper alone."""

    keeper: Keeper


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
    """Whoever rewrites entries and hashes without the server's key is found out at the first one, now and later."""
    write(either)
    previous = chain.START
    for entry in either.log():
        fields = [*astuple(entry)[:5], json.dumps(entry.details), previous]
        fields[2] = "somebody" if entry.number == 7 else entry.actor
        digest = hashlib.sha256(json.dumps(fields).encode()).hexdigest()
        tamper(
            either,
            f"UPDATE log SET actor = '{fields[2]}', previous = '{previous}', hash = '{digest}' WHERE number = {entry.number}",
        )
        previous = digest
    tamper(either, f"UPDATE chain SET hash = '{previous}'")
    for _ in range(2):
        verdict = verify_log(either.keeper)
        assert (verdict.whole, verdict.broken) == (False, 1)
        write(either, 1)


CUT = "DELETE FROM log WHERE number > 7"
END = "UPDATE chain SET number = 7, hash = (SELECT hash FROM log WHERE number = 7)"


@pytest.mark.parametrize(
    ("statements", "broken"),
    [
        ([CUT, END], 8),
        ([CUT, "DELETE FROM chain"], 8),
        ([CUT], 8),
        (["DELETE FROM log", "DELETE FROM chain"], 1),
        (["UPDATE chain SET seal = hash"], 12),
        (["UPDATE chain SET number = 99"], 12),
        (
            [
                "INSERT INTO log SELECT 12, time, actor, action, subject, details, hash, hash FROM log WHERE number = 11"
            ],
            12,
        ),
    ],
)
def test_writing_on_does_not_hide_it(either, statements, broken):
    """After the end was cut off, moved, emptied or added to, the server writes on, and the log is broken for good."""
    write(either)
    assert len(either.log()) == 11
    for statement in statements:
        tamper(either, statement)
    for _ in range(3):
        write(either, 1)
        verdict = verify_log(either.keeper)
        assert (verdict.whole, verdict.broken) == (False, broken)
    said = [entry for entry in either.log() if entry.action == chain.BROKEN]
    assert len(said) == 1
    assert said[0].details["reason"]


def test_the_entry_that_says_so_cannot_be_cut_off(house):
    """Removing the entry that says that the log was broken breaks it once more."""
    write(house)
    for statement in (CUT, END):
        tamper(house, statement)
    write(house, 1)
    for statement in (CUT, END):
        tamper(house, statement)
    assert not verify_log(house.keeper).whole
    write(house, 1)
    assert not verify_log(house.keeper).whole


@pytest.mark.parametrize("restarted", [False, True])
def test_an_older_end_is_known(either, restarted):
    """Whoever cuts the end off and puts back an older one with its seal is found out, by what is kept outside."""
    write(either, 1)
    with either.keeper.database.reading() as connection:
        old = connection.execute(text("SELECT number, hash, sum, seal FROM chain")).one()
    write(either, 3)
    tamper(either, f"DELETE FROM log WHERE number > {old.number}")
    row = f"number = {old.number}, hash = '{old.hash}', sum = '{old.sum}', seal = '{old.seal}'"
    tamper(either, f"UPDATE chain SET {row}")
    keeper = open_keeper(either.keeper.settings) if restarted else either.keeper
    verdict = verify_log(keeper)
    assert (verdict.whole, verdict.broken) == (False, old.number + 1)
    if restarted:
        assert "WARNING" in check_at_start(keeper)
    write(House(keeper), 2)
    assert not verify_log(keeper).whole
    assert [entry.action for entry in either.log()].count(chain.BROKEN) == 1 + restarted


def test_a_log_that_was_cut_and_grew_again(either):
    """An end that was cut off is missed also when other entries have taken its place."""
    with either.keeper.database.reading() as connection:
        old = connection.execute(text("SELECT number, hash, sum, seal FROM chain")).one()
    write(either, 1)
    known = open_keeper(either.keeper.settings)
    tamper(either, f"DELETE FROM log WHERE number > {old.number}")
    tamper(either, f"UPDATE chain SET number = {old.number}, hash = '{old.hash}', seal = '{old.seal}'")
    either.keeper.heads.latest = None
    write(either, 3)
    assert not verify_log(known).whole
    known.close()


SAME = "'t', 'a', 'b', 'c', '{}', 'p', 'h'"
REPLACED = [
    f"INSERT OR REPLACE INTO log VALUES (2, {SAME})",
    f"REPLACE INTO log VALUES (2, {SAME})",
    f"INSERT OR IGNORE INTO log VALUES (2, {SAME})",
    f"INSERT INTO log VALUES (2, {SAME}) ON CONFLICT (number) DO UPDATE SET actor = 'x'",
    f"INSERT OR REPLACE INTO log (rowid, number, time, actor, action, subject, details, previous, hash) VALUES (2, 99, {SAME})",
    "UPDATE OR REPLACE log SET number = 2 WHERE number = 3",
    "TRUNCATE log",
]


@pytest.mark.parametrize("statement", ["UPDATE log SET actor = 'x'", "DELETE FROM log", *REPLACED])
def test_the_database_refuses_changes(either, statement):
    """The database itself refuses to change, replace or remove entries."""
    with pytest.raises(SQLAlchemyError), either.keeper.database.writing() as connection:
        connection.execute(text(statement))
    assert verify_log(either.keeper).whole


def test_another_program_cannot_replace_entries(house):
    """Whoever opens the SQLite file with another program meets the same refusals."""
    with closing(sqlite3.connect(house.keeper.settings.sqlite)) as connection:
        for statement in (REPLACED[0], REPLACED[1], "DELETE FROM log WHERE number = 2"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                connection.execute(statement)
    assert verify_log(house.keeper).whole


def test_pages_of_the_log_are_bounded(either, monkeypatch):
    """A page of the log ends before its details are too long for a response, and has one entry at least."""
    write(either)
    monkeypatch.setattr(chain, "LONGEST", 100)
    pages, after = [], 0
    while page := chain.entries(either.keeper, either.owner, after=after, most=1000):
        pages.append(page)
        after = page[-1].number
    assert [entry.number for page in pages for entry in page] == list(range(1, 12))
    assert len(pages) > 2
    assert verify_log(either.keeper).whole
    monkeypatch.setattr(chain, "LONGEST", 0)
    assert len(chain.latest(either.keeper, either.owner)) == 1


def test_a_database_without_its_beginning(house):
    """A database with accounts and without what binds it to its key is refused, not begun anew."""
    tamper(house, "DELETE FROM meta")
    with pytest.raises(InputError, match="Restore"):
        open_keeper(house.keeper.settings)


def test_many_at_once(either):
    """Fifty entries from sixteen threads form one chain."""
    before = len(either.log())
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: write(either, 1), range(50)))
    assert verify_log(either.keeper).entries == before + 50
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
    for read in (chain.entries, chain.latest, verifying.checked_log):
        assert read(house.keeper, house.auditor)
        with pytest.raises(Forbidden):
            read(house.keeper, house.researcher)
