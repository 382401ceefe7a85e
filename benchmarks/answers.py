"""How many answers a second one server gives over HTTP on a PostgreSQL of its own, and what one costs.

python -m benchmarks.answers
"""

import asyncio
import os
import tempfile
import time
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from secrets import token_bytes
from typing import Any

ANSWERS, AT_ONCE = 600, (1, 8, 32)


def measure() -> None:
    """Print answers a second, and seconds of a core per answer, for some numbers of askers at once."""
    from tests.kit.postgresql import own_postgresql

    os.environ["MANYVEILS_SERVER_KEY"] = b64encode(token_bytes(32)).decode()
    with tempfile.TemporaryDirectory() as temporary, own_postgresql() as database:
        token, release, asked = _prepared(Path(temporary), database)
        with _served(Path(temporary), database) as (url, process):
            address, headers = f"{url}/api/v1/releases/{release}/interpret/value", _bearer(token)
            for at_once in (4, *AT_ONCE):
                before, began = _cpu(process), time.perf_counter()
                asyncio.run(_ask(address, headers, asked, at_once))
                seconds, cpu = time.perf_counter() - began, _cpu(process) - before
                load = os.getloadavg()[0]
                print(
                    f"{at_once:3} at once: {ANSWERS / seconds:5.0f}/s, "
                    f"{1000 * cpu / ANSWERS:.1f} ms of the server's core each, load {load:.1f}"
                )


def _prepared(folder: Path, database: str) -> tuple[str, str, dict[str, str]]:
    """A server with a graded release; gives a researcher's token, the release, and what to ask of it."""
    from manyveils.server import catalogue, demo, disclosure, grants, tokens
    from manyveils.server.app import close_app, create_app
    from manyveils.server.settings import Settings

    app = create_app(Settings(folder / "server", database))
    filled = demo.prepare(app.state.worker)
    keeper, passwords = app.state.keeper, dict(filled.passwords)
    owner = _person(keeper, "owner", passwords)
    more: dict[str, Any] = {"daily_limit": grants.MOST, "expires": keeper.now() + 3600}
    grants.give_grant(keeper, owner, "researcher", filled.release, **more)
    token = tokens.issue_token(keeper, "researcher", passwords["researcher"], "here").token
    key = catalogue.key_of(keeper, filled.release)
    assert key is not None
    disclosure.approve(keeper, owner, filled.release, approved=100)
    attribute, codes = next((name, codes.values) for name, codes in key.pseudonyms.items() if codes.values)
    close_app(app)
    return token, filled.release, {"attribute": attribute, "published": next(iter(codes))}


def _person(keeper: Any, name: str, passwords: dict[str, str]) -> Any:
    from manyveils.server.accounts import log_in

    return log_in(keeper, name, passwords[name], "here")


@contextmanager
def _served(folder: Path, database: str) -> Iterator[tuple[str, int]]:
    fresh = get_context("spawn")
    ours, theirs = fresh.Pipe()
    process = fresh.Process(target=_serve, args=(folder, database, theirs))
    process.start()
    try:
        yield ours.recv(), process.pid or 0
    finally:
        process.terminate()
        process.join(20)
        process.kill()


def _serve(folder: Path, database: str, told: Any) -> None:
    from manyveils.server.app import create_app
    from manyveils.server.listening import listen, serve
    from manyveils.server.settings import Settings

    settings = Settings(folder / "server", database, port=0)
    with listen(settings) as (sockets, url):
        serve(create_app(settings), sockets, lambda: told.send(url))


async def _ask(address: str, headers: dict[str, str], asked: dict[str, str], at_once: int) -> None:
    import httpx

    todo = iter(range(ANSWERS))
    limits = httpx.Limits(max_connections=at_once)
    async with httpx.AsyncClient(timeout=60, limits=limits, headers=headers) as client:

        async def asker() -> None:
            for _ in todo:
                response = await client.post(address, json=asked)
                response.raise_for_status()

        await asyncio.gather(*(asker() for _ in range(at_once)))


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _cpu(process: int) -> float:
    """Seconds of a core that a process has taken."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    measure()
