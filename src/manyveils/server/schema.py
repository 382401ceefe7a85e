"""The server's tables, and the triggers that keep the log as it is."""

from typing import Any

import sqlalchemy as sa

metadata = sa.MetaData()
ROLES = "role IN ('owner', 'researcher', 'auditor')"
STATES = "state IN ('queued', 'running', 'done', 'failed')"


def _table(name: str, *columns: Any, **options: Any) -> sa.Table:
    return sa.Table(name, metadata, *columns, **options)


def _seal() -> sa.Column[str]:
    """A keyed digest of the rest of the row, which only the server can make."""
    return sa.Column("seal", sa.String(64), nullable=False)


meta = sa.Table(
    "meta",
    metadata,
    sa.Column("name", sa.String(32), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
users = _table(
    "users",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String(64), unique=True, nullable=False),
    sa.Column("role", sa.String(16), sa.CheckConstraint(ROLES), nullable=False),
    sa.Column("password", sa.Text, nullable=False),
    sa.Column("active", sa.Boolean, nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    # An owner whom nobody has confirmed cannot log in.
    sa.Column("confirmed", sa.Boolean, nullable=False),
    sa.Column("made_by", sa.ForeignKey("users.id")),
    # What one-time codes are made from, encrypted, and the last one that was used.
    sa.Column("second", sa.LargeBinary),
    sa.Column("second_used", sa.BigInteger, nullable=False),
    # Who this is for a provider of sign-in.
    sa.Column("external", sa.String(400), unique=True),
    _seal(),
)
tokens = _table(
    "tokens",
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("digest", sa.String(64), unique=True, nullable=False),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("label", sa.Text, nullable=False),
    sa.Column("scopes", sa.Text, nullable=False),
    # The releases it is for, in JSON; all of them if there is none.
    sa.Column("only", sa.Text),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("revoked", sa.Boolean, nullable=False),
    _seal(),
)
sessions = _table(
    "sessions",
    sa.Column("digest", sa.String(64), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    sa.Column("seen", sa.Double, nullable=False),
    _seal(),
)
attempts = _table(
    "attempts",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("account", sa.String(64), nullable=False),
    sa.Column("address", sa.String(64), nullable=False),
    sa.Column("time", sa.Double, nullable=False),
    sa.Index("attempts_by_account", "account", "time"),
    sa.Index("attempts_by_address", "address", "time"),
)
# Where an account has logged in from, so that others behind the address do not delay it.
arrivals = _table(
    "arrivals",
    sa.Column("place", sa.String(64), primary_key=True),
    sa.Column("time", sa.Double, nullable=False),
)
releases = _table(
    "releases",
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("manifest", sa.Text, nullable=False),
    sa.Column("audit", sa.Text),
    sa.Column("has_key", sa.Boolean, nullable=False),
    sa.Column("listed", sa.Boolean, nullable=False),
    sa.Column("owner_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("created", sa.Double, nullable=False),
    # How much all researchers together may be told, and the percentage of the key that may become derivable.
    sa.Column("budget", sa.Integer, sa.CheckConstraint("budget > 0"), nullable=False),
    sa.Column("approved", sa.Integer, sa.CheckConstraint("approved BETWEEN 0 AND 100"), nullable=False),
    _seal(),
)
# Apart from the releases, so that a catalogue can be read without them.
keys = _table(
    "keys",
    sa.Column("release_id", sa.ForeignKey("releases.id"), primary_key=True),
    sa.Column("key", sa.LargeBinary, nullable=False),
    _seal(),
)
grants = _table(
    "grants",
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("release_id", sa.ForeignKey("releases.id"), nullable=False),
    sa.Column("daily_limit", sa.Integer, sa.CheckConstraint("daily_limit > 0"), nullable=False),
    sa.Column("total_limit", sa.Integer, sa.CheckConstraint("total_limit > 0"), nullable=False),
    sa.Column("expires", sa.Double, nullable=False),
    _seal(),
    sa.UniqueConstraint("user_id", "release_id"),
)
# What a grant has used. The row is made with the grant, so that one that is gone is no new beginning.
answers = _table(
    "answers",
    sa.Column("grant_id", sa.ForeignKey("grants.id"), primary_key=True),
    sa.Column("day", sa.String(10), nullable=False),
    sa.Column("used", sa.Integer, sa.CheckConstraint("used >= 0"), nullable=False),
    sa.Column("used_in_all", sa.Integer, sa.CheckConstraint("used_in_all >= 0"), nullable=False),
    _seal(),
)
# What researchers were told of a release: how much, and the published values whose meanings they have, in JSON.
disclosures = _table(
    "disclosures",
    sa.Column("release_id", sa.ForeignKey("releases.id"), primary_key=True),
    sa.Column("used", sa.Integer, sa.CheckConstraint("used >= 0"), nullable=False),
    sa.Column("told", sa.Text, nullable=False),
    _seal(),
)
jobs = _table(
    "jobs",
    sa.Column("id", sa.String(16), primary_key=True),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("format", sa.String(8), nullable=False),
    sa.Column("instance", sa.String(32), nullable=False),
    sa.Column("asked_by", sa.ForeignKey("users.id"), nullable=False),
    sa.Column("state", sa.String(8), sa.CheckConstraint(STATES), nullable=False),
    sa.Column("stage", sa.Text, nullable=False),
    sa.Column("share", sa.Double, nullable=False),
    sa.Column("error", sa.Text),
    # The release it made; it may be deleted since.
    sa.Column("release_id", sa.String(16)),
    sa.Column("created", sa.Double, nullable=False),
    sa.Column("ended", sa.Double),
    # When its server last said that it lives.
    sa.Column("beat", sa.Double, nullable=False),
    sa.Column("cancelled", sa.Boolean, nullable=False),
)
# Servers that are running, and when they last said so.
servers = _table(
    "servers",
    sa.Column("instance", sa.String(32), primary_key=True),
    sa.Column("beat", sa.Double, nullable=False),
)
log = _table(
    "log",
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("time", sa.String(32), nullable=False),
    sa.Column("actor", sa.String(64), nullable=False),
    sa.Column("action", sa.String(32), nullable=False),
    sa.Column("subject", sa.String(64), nullable=False),
    sa.Column("details", sa.Text, nullable=False),
    sa.Column("previous", sa.String(64), nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    # A hidden row number would be another way to replace a row.
    sqlite_with_rowid=False,
)
# One row: where the log ends. Whoever appends holds it, so entries come one after the other.
chain = _table(
    "chain",
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.BigInteger, nullable=False),
    sa.Column("hash", sa.String(64), nullable=False),
    # The sum over all rows that carry seals.
    sa.Column("sum", sa.String(64), nullable=False),
    sa.Column("seal", sa.String(64), nullable=False),
)
# The database itself refuses every change of what is in the log: rows can be added, never altered or removed.
REFUSE_IN_SQLITE = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log {when}
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""
FUNCTION_IN_POSTGRESQL = """
CREATE OR REPLACE FUNCTION log_is_append_only() RETURNS trigger AS
$$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$ LANGUAGE plpgsql
"""
REFUSE_IN_POSTGRESQL = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log
FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only()
"""
# REPLACE deletes without the triggers of DELETE; so a number that is there is refused before.
IS_THERE = "WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number)"


def _guard_log() -> None:
    """Create triggers with the log that refuse every change."""
    for what, when in (("UPDATE", ""), ("DELETE", ""), ("INSERT", IS_THERE)):
        _after_log("sqlite", REFUSE_IN_SQLITE.format(what=what, when=when))
    _after_log("postgresql", FUNCTION_IN_POSTGRESQL)
    for what in ("UPDATE", "DELETE", "TRUNCATE"):
        _after_log("postgresql", REFUSE_IN_POSTGRESQL.format(what=what))


def _after_log(dialect: str, statement: str) -> None:
    definition: Any = sa.DDL(statement)  # type: ignore[no-untyped-call]
    sa.event.listen(log, "after_create", definition.execute_if(dialect=dialect))


_guard_log()

# Rows that decide who may do what: each carries a seal, and all together are in the sum.
SUMMED = (users, tokens, releases, keys, grants, answers, disclosures)
