"""How long things stay: jobs that are over, and releases that nobody lists; the log stays for ever."""

import shutil

from sqlalchemy import delete, select

from manyveils.server.catalogue import home_of, remove_release
from manyveils.server.keeper import Keeper
from manyveils.server.schema import jobs, releases, sessions
from manyveils.server.sealed import sound_rows

DAY = 24 * 3600.0
SERVER = "(server)"


def retire(keeper: Keeper) -> None:
    """Remove jobs and sessions whose time is over and, if they are not to stay, releases that are not listed."""
    now, settings = keeper.now(), keeper.settings
    old_jobs = jobs.c.ended < now - DAY * settings.job_days
    if keeper.database.rows(select(jobs.c.id).where(old_jobs).limit(1)):
        with keeper.database.writing() as connection:
            connection.execute(delete(jobs).where(old_jobs))
            connection.execute(delete(sessions).where(sessions.c.expires < now))
    if settings.unlisted_days is None:
        return
    old = select(releases).where(~releases.c.listed, releases.c.created < now - DAY * settings.unlisted_days)
    if keeper.database.rows(old.with_only_columns(releases.c.id)):
        with keeper.database.writing() as connection:
            rows = sound_rows(keeper, connection, releases, old)
            for row in rows:
                remove_release(keeper, connection, SERVER, row)
        for row in rows:
            shutil.rmtree(home_of(keeper, row.id), ignore_errors=True)
