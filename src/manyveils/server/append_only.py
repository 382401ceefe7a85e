"""A table that the database itself lets nobody change: rows can be added, never altered or removed."""

from typing import Any

from sqlalchemy import DDL, Table, event

SQLITE = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""
# REPLACE deletes without the triggers of DELETE; so a number that is there is refused before.
SQLITE_INSERT = """
CREATE TRIGGER log_keeps_INSERT BEFORE INSERT ON log
WHEN EXISTS (SELECT 1 FROM log WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END
"""
FUNCTION = """
CREATE OR REPLACE FUNCTION log_is_append_only() RETURNS trigger AS
$$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$ LANGUAGE plpgsql
"""
POSTGRESQL = """
CREATE TRIGGER log_keeps_{what} BEFORE {what} ON log
FOR EACH STATEMENT EXECUTE FUNCTION log_is_append_only()
"""


def guard_log(log: Table) -> None:
    """Have triggers made with the table that refuse every change of what is in it."""
    for what in ("UPDATE", "DELETE"):
        _after_create(log, SQLITE.format(what=what), "sqlite")
    _after_create(log, SQLITE_INSERT, "sqlite")
    _after_create(log, FUNCTION, "postgresql")
    for what in ("UPDATE", "DELETE", "TRUNCATE"):
        _after_create(log, POSTGRESQL.format(what=what), "postgresql")


def _after_create(log: Table, statement: str, dialect: str) -> None:
    made: Any = DDL(statement)  # type: ignore[no-untyped-call]
    event.listen(log, "after_create", made.execute_if(dialect=dialect))
