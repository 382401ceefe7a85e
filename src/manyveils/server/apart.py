"""Reading policies and publishing in a process apart, with limits of memory and time.

What is uploaded may be made to fill the memory or to end its reader; then only that process ends.
It is forked from a clean one that has loaded the code, so that it begins at once, and speaks JSON.
"""

import json
import os
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from secrets import token_bytes
from time import monotonic
from typing import TYPE_CHECKING, Any

from manyveils import errors
from manyveils.errors import ManyveilsError, Problem, fault
from manyveils.keys import Key
from manyveils.server.settings import KEY_VARIABLE, Settings

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerContext

BETWEEN = 0.3
# A policy is a page of text; reading one that needs more than this is an attack or a mistake.
POLICY_MEMORY, POLICY_SECONDS = 1_000_000_000, 20.0
POLITENESS = 10
# PR_SET_PDEATHSIG of Linux.
DIE_WITH_PARENT = 1


@dataclass(frozen=True, repr=False)
class Made:
    """A release in its folder with its audit, and the key that is kept elsewhere."""

    folder: Path
    audit: dict[str, Any]
    key: Key | None


def read_apart(policy: Path) -> None:
    """Read an uploaded policy, and refuse it if it cannot be."""
    with _begun(_read, (str(policy),), POLICY_MEMORY) as (process, channel):
        _result(process, channel, POLICY_MEMORY, POLICY_SECONDS, lambda *_: None)


def publish_apart(
    policy: Path,
    data: Path,
    out: Path,
    *,
    format: str,  # noqa: A002
    settings: Settings,
    progress: Callable[[str, float], None],
) -> Made:
    """Publish data under a policy; what `progress` raises, which is asked a few times a second, ends it."""
    arguments = (str(policy), str(data), str(out), format)
    with _begun(_publish, arguments, settings.job_memory) as (process, channel):
        told = _result(process, channel, settings.job_memory, settings.job_seconds, progress)
    key = None if told["key"] is None else Key.parse(told["key"])
    return Made(out, told["audit"], key)


@cache
def _context() -> "ForkServerContext":
    import multiprocessing

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["manyveils.publishing", "manyveils.server.uploads", __name__])
    return context


def prepare() -> None:
    """Start the clean process from which the others are forked."""
    from multiprocessing import forkserver, util

    util.get_temp_dir()
    _context()
    forkserver.ensure_running()


@contextmanager
def _begun(
    task: Callable[..., Any], arguments: tuple[str, ...], memory: int
) -> Iterator[tuple[Any, Connection]]:
    """A process at work and the channel from it; it does not outlive this."""
    channel, end = _context().Pipe(duplex=False)
    process = _context().Process(target=_work, args=(task, arguments, memory, end), daemon=True)
    process.start()
    end.close()
    try:
        yield process, channel
    finally:
        process.kill()
        process.join()
        channel.close()


def _result(
    process: Any, channel: Connection, memory: int, seconds: float, progress: Callable[[str, float], None]
) -> Any:
    """What a process makes; its refusal, or why there is nothing, as an error."""
    end, last = monotonic() + seconds, ("", 0.0)
    while True:
        try:
            said = json.loads(channel.recv_bytes()) if channel.poll(BETWEEN) else {}
        except EOFError:
            raise _lost(process, memory) from None
        if "done" in said:
            return said["done"]
        if "refused" in said:
            raise _refusal(said)
        if "progress" in said:
            last = (str(said["progress"][0]), float(said["progress"][1]))
        progress(*last)
        if monotonic() > end:
            raise ManyveilsError.at(
                "job", f"took more than {seconds:.0f} seconds.", "Send less, or ask for less."
            )


def _lost(process: Any, memory: int) -> ManyveilsError:
    process.join(timeout=5)
    how = f"ended with status {process.exitcode}"
    remedy = (
        f"It may have needed more than {memory // 1_000_000:,} MB of memory: send less, or set --job-memory."
    )
    return ManyveilsError.at("job", f"its process {how}.", remedy)


def _refusal(said: dict[str, Any]) -> ManyveilsError:
    kind = getattr(errors, str(said["refused"]), ManyveilsError)
    return kind([Problem(str(where), str(what), str(remedy)) for where, what, remedy in said["problems"]])


def _work(task: Callable[..., Any], arguments: tuple[str, ...], memory: int, channel: Connection) -> None:
    """Do a task inside its limits, and say what came of it; in the process apart."""
    _die_with_the_server()
    resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(POLITENESS)
    os.environ.pop(KEY_VARIABLE, None)

    def say(**words: Any) -> None:
        channel.send_bytes(json.dumps(words, default=str).encode())

    try:
        say(done=task(*arguments, lambda stage, share: say(progress=[stage, share])))
    except MemoryError:
        what = f"needs more than {memory // 1_000_000:,} MB of memory."
        say(refused="InputError", problems=[["job", what, "Send less, or write it more simply."]])
    except ManyveilsError as error:
        say(refused=type(error).__name__, problems=[problem.words for problem in error.problems])
    # Panics of the library that reads tables are no Exception.
    except BaseException as error:
        say(refused="ManyveilsError", problems=[["", f"This is a fault of manyveils: {fault(error)}", ""]])


def _die_with_the_server() -> None:
    """End when the process from which this one was forked ends, which is when the server does."""
    import ctypes
    import signal
    import sys

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


def _read(policy: str, _progress: Callable[[str, float], None]) -> None:
    from manyveils.server.uploads import uploaded_policy

    uploaded_policy(Path(policy))


def _publish(
    policy: str,
    data: str,
    out: str,
    format: str,  # noqa: A002
    progress: Callable[[str, float], None],
) -> dict[str, Any]:
    from manyveils.plain import plain
    from manyveils.publishing import publish_to
    from manyveils.server.uploads import uploaded_policy

    # The key is kept in the database; nobody can read the copy that is written beside the release.
    lost = token_bytes(32)
    read = uploaded_policy(Path(policy))
    published = publish_to(
        read, Path(out), data=Path(data), format=format, secret=lost, progress=_seldom(progress)
    )
    key = published.release.key
    return {"audit": plain(published.audit.describe()), "key": None if key is None else key.describe()}


def _seldom(progress: Callable[[str, float], None]) -> Callable[[str, float], None]:
    """Say how far it is a few times a second at most."""
    last = [0.0]

    def report(stage: str, share: float) -> None:
        if monotonic() - last[0] >= BETWEEN:
            last[0] = monotonic()
            progress(stage, share)

    return report
