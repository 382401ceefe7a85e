"""The worker: does jobs one after the other, each in a process apart, and settles those of servers that are dead."""

import logging
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from secrets import token_hex
from threading import BoundedSemaphore, Event, Thread

from sqlalchemy import ColumnElement, delete, func, insert, select, update

from manyveils.errors import InputError, ManyveilsError, Problem, fault
from manyveils.server import instances
from manyveils.server.apart import publish_apart, read_apart
from manyveils.server.catalogue import enter, home_of, move_in, sweep
from manyveils.server.chain import append
from manyveils.server.jobs import UNFINISHED, Job, job, job_problems
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Forbidden, Missing, Person, Refusal, Unavailable, require
from manyveils.server.retention import retire
from manyveils.server.schema import jobs, releases, servers
from manyveils.server.uploads import DATA, MOST_POLICY, POLICY, Upload, store

logger = logging.getLogger("manyveils.server")
BEAT = 10.0
AGAIN = 1.0
STOPPED = "The server stopped before the job was done. Upload again."
CANCELLED = "The job was cancelled."
# Policies that are read at once.
READERS = 2


class Ended(Exception):
    """A job ends before it is done, for this reason."""


class Worker:
    """Does jobs one after the other; at its start, and now and then, it settles those that a dead server left."""

    def __init__(self, keeper: Keeper) -> None:
        self.keeper = keeper
        self._stopping = Event()
        self._reading = BoundedSemaphore(READERS)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="publish")
        with instances.alone(keeper.settings):
            self.instance = instances.arrive(keeper.settings)
        self._settle_dead()
        sweep(keeper)
        with keeper.database.writing() as connection:
            connection.execute(insert(servers).values(instance=self.instance.name, beat=keeper.now()))
        self._heart = Thread(target=self._live, name="heartbeat", daemon=True)
        self._heart.start()

    def submit(
        self,
        actor: Person,
        *,
        title: str,
        policy: Upload,
        data: Upload,
        format: str = "csv",  # noqa: A002
    ) -> Job:
        """Store an upload and queue its publication; for owners. A wrong policy is refused immediately."""
        require(actor, "owner", scope="publish")
        if actor.token is not None and actor.token.only is not None:
            raise Forbidden.at("token", "is for some releases, and this would be another.", noted=False)
        InputError.refuse(job_problems(title, format))
        number = token_hex(8)
        folder = self.instance.work / number
        folder.mkdir(mode=0o700)
        try:
            rules = store(policy, folder, "policy", POLICY, MOST_POLICY)
            with self._reading:
                read_apart(rules)
            path = store(data, folder, "data", DATA, self.keeper.settings.upload_limit)
            self._queue(actor, number, title, format)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise _without(folder, error) from None
        self._pool.submit(self._run, number, actor, rules, path, folder)
        return job(self.keeper, actor, number)

    def stop(self) -> None:
        """End the job that is running; jobs that wait have failed."""
        self._stopping.set()
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._heart.join()
        try:
            self._settle(jobs.c.instance == self.instance.name)
            with self.keeper.database.writing() as connection:
                connection.execute(delete(servers).where(servers.c.instance == self.instance.name))
        except Refusal:
            # Whoever starts next sees by the heartbeat that they are dead.
            logger.error("the database is away: jobs are settled at the next start")
        self.instance.leave()

    def _queue(self, actor: Person, number: str, title: str, form: str) -> None:
        now = self.keeper.now()
        origin = {"instance": self.instance.name, "asked_by": actor.id, "created": now, "beat": now}
        start = {"state": "queued", "stage": "", "share": 0.0, "cancelled": False}
        with self.keeper.database.writing() as connection:
            waiting = select(func.count()).select_from(jobs).where(jobs.c.state.in_(UNFINISHED))
            if connection.execute(waiting).scalar_one() >= self.keeper.settings.queue:
                raise Unavailable.at("jobs", "there are too many that wait.", "Try again later.", wait=60)
            connection.execute(insert(jobs).values(id=number, title=title, format=form, **origin, **start))
            append(self.keeper, connection, actor, "queue job", number, {"title": title})

    def _run(self, number: str, actor: Person, policy: Path, data: Path, folder: Path) -> None:
        """Do one job; whatever happens, it is over afterwards, and the database says so as soon as it is there."""
        try:
            self._publish(number, actor, policy, data, folder)
            return
        except BaseException as error:
            reason = _reason(folder, error)
        shutil.rmtree(folder, ignore_errors=True)
        while not self._ends(number, reason) and not self._stopping.wait(AGAIN):
            continue

    def _ends(self, number: str, reason: str) -> bool:
        try:
            self._settle(jobs.c.id == number, reason)
        except Exception as error:
            logger.error("a job cannot be settled yet: %s", fault(error))
            return False
        return True

    def _publish(self, number: str, actor: Person, policy: Path, data: Path, folder: Path) -> None:
        database = self.keeper.database
        asked = database.row(select(jobs.c.title, jobs.c.format).where(jobs.c.id == number))
        self._note(number, "", 0.0)
        out, progress = folder / "release", self._progress(number)
        settings = self.keeper.settings
        made = publish_apart(policy, data, out, format=asked.format, settings=settings, progress=progress)
        arrival = move_in(self.keeper, made.folder, number, title=asked.title, key=made.key)
        # The original data stay no longer than they are needed, and are gone when the job is said to be over.
        shutil.rmtree(folder, ignore_errors=True)
        with database.writing() as connection:
            values = {"state": "done", "stage": "", "share": 1.0}
            mine = (jobs.c.id == number) & (jobs.c.state == "running")
            ending = {"release_id": number, "ended": self.keeper.now()}
            if connection.execute(update(jobs).where(mine).values(**values, **ending)).rowcount != 1:
                raise Ended(STOPPED)
            enter(self.keeper, connection, arrival, actor, made.audit)

    def _progress(self, number: str) -> Callable[[str, float], None]:
        """Note progress when there is some, and end the job if the server stops or somebody cancels it."""
        last = [("", 0.0)]

        def report(stage: str, share: float) -> None:
            if self._stopping.is_set():
                raise Ended(STOPPED)
            query = select(jobs.c.state, jobs.c.cancelled).where(jobs.c.id == number)
            try:
                row = self.keeper.database.row(query)
                if last[0] != (stage, share):
                    self._note(number, stage, share)
                    last[0] = (stage, share)
            except Unavailable:
                # The job goes on; the database may be back before it is done.
                return
            if row.cancelled or row.state not in UNFINISHED:
                raise Ended(CANCELLED if row.cancelled else STOPPED)

        return report

    def _note(self, number: str, stage: str, share: float) -> None:
        values = {"state": "running", "stage": stage, "share": share, "beat": self.keeper.now()}
        unfinished = (jobs.c.id == number) & jobs.c.state.in_(UNFINISHED)
        with self.keeper.database.writing() as connection:
            connection.execute(update(jobs).where(unfinished).values(**values))

    def _live(self) -> None:
        """Say now and then that this server lives, and settle what the dead ones left."""
        while not self._stopping.wait(BEAT):
            try:
                self._beat()
                self._settle_dead()
                retire(self.keeper)
            except Exception as error:
                logger.error("the heartbeat fails: %s", fault(error))

    def _beat(self) -> None:
        mine = (jobs.c.instance == self.instance.name) & jobs.c.state.in_(UNFINISHED)
        me = servers.c.instance == self.instance.name
        with self.keeper.database.writing() as connection:
            connection.execute(update(servers).where(me).values(beat=self.keeper.now()))
            connection.execute(update(jobs).where(mine).values(beat=self.keeper.now()))

    def _settle_dead(self) -> None:
        """Settle the jobs of servers that died in this folder, and of those elsewhere that are silent."""
        settings = self.keeper.settings
        with instances.alone(settings):
            dead = instances.dead_instances(settings)
            if dead:
                self._settle(jobs.c.instance.in_(dead))
                with self.keeper.database.writing() as connection:
                    connection.execute(delete(servers).where(servers.c.instance.in_(dead)))
                instances.bury(settings, dead)
        silent = jobs.c.state.in_(UNFINISHED) & (jobs.c.beat < self.keeper.now() - instances.SILENT)
        others = silent & (jobs.c.instance != self.instance.name)
        if self.keeper.database.rows(select(jobs.c.id).where(others)):
            self._settle(others)

    def _settle(self, which: ColumnElement[bool], reason: str = STOPPED) -> None:
        """Mark unfinished jobs as failed, and remove releases of theirs that the catalogue does not name."""
        keeper, unfinished = self.keeper, which & jobs.c.state.in_(UNFINISHED)
        unnamed = select(jobs.c.id).where(which, jobs.c.id.not_in(select(releases.c.id)))
        for (number,) in keeper.database.rows(unnamed):
            _remove(keeper, number)
        with keeper.database.writing() as connection:
            numbers = connection.execute(select(jobs.c.id).where(unfinished)).scalars().all()
            failed = {"state": "failed", "error": reason, "ended": keeper.now()}
            connection.execute(update(jobs).where(jobs.c.id.in_(numbers)).values(failed))
            for number in numbers:
                append(keeper, connection, "(server)", "job failed", number)


def _remove(keeper: Keeper, number: str) -> None:
    try:
        shutil.rmtree(home_of(keeper, number), ignore_errors=True)
    except Missing:
        logger.error("a job in the database has a number that this server did not give it")


def _reason(folder: Path, error: BaseException) -> str:
    """Why a job failed, as far as its owner may know, in characters that every database takes."""
    if isinstance(error, ManyveilsError):
        text = str(_without(folder, error))
    else:
        text = str(error) if isinstance(error, Ended) else f"This is a fault of manyveils: {fault(error)}"
    return text.encode("utf-8", "replace").decode().replace("\x00", "?")


def _without(folder: Path, error: BaseException) -> BaseException:
    """The same error without the server's own paths."""
    if not isinstance(error, ManyveilsError) or isinstance(error, Refusal):
        return error
    parts = [[part.replace(f"{folder}/", "") for part in problem.words] for problem in error.problems]
    return type(error)(Problem(where, what, remedy) for where, what, remedy in parts)
