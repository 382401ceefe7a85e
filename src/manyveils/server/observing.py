"""What whoever runs the server sees of it: whether it lives, whether it can serve, numbers, and a line per request.

Numbers and lines have routes, statuses and durations, never a cell, a name that was typed, or a body.
"""

import logging
import re
import time
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from secrets import token_hex
from traceback import extract_tb
from typing import Any, TextIO

import structlog
from fastapi import APIRouter, Request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from sqlalchemy import Select, func, select
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from manyveils.server.chain import read_head
from manyveils.server.headers import is_api
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Unavailable, no_such
from manyveils.server.schema import jobs
from manyveils.server.settings import Settings, is_loopback

REQUESTS = "manyveils.server.requests"
HEADER = "x-request-id"
GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
BUCKETS = (0.005, 0.02, 0.1, 0.5, 2.0, 10.0, 60.0)
requests_logger = logging.getLogger(REQUESTS)
router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Numbers:
    """What is counted, for Prometheus."""

    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram
    jobs: Gauge
    entries: Gauge


def numbers() -> Numbers:
    """Counters that begin at zero."""
    registry = CollectorRegistry()
    route = ["method", "route"]
    return Numbers(
        registry,
        Counter("manyveils_requests", "Requests answered.", [*route, "status"], registry=registry),
        Histogram("manyveils_request_seconds", "Time to answer.", route, buckets=BUCKETS, registry=registry),
        Gauge("manyveils_jobs", "Jobs by state.", ["state"], registry=registry),
        Gauge("manyveils_log_entries", "Entries of the log.", registry=registry),
    )


class Observer:
    """Gives every request a number, and counts and logs it when it is answered."""

    def __init__(self, app: ASGIApp, settings: Settings, counted: Numbers) -> None:
        self.app, self.settings, self.numbers = app, settings, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        number, status, began = self._number(scope), [0], time.perf_counter()

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
                MutableHeaders(raw=message["headers"]).setdefault(HEADER, number)
            await send(message)

        with structlog.contextvars.bound_contextvars(request=number):
            try:
                await self.app(scope, receive, answer)
            finally:
                self._note(scope, status[0], time.perf_counter() - began)

    def _number(self, scope: Scope) -> str:
        """The number that the proxy gave, or a new one."""
        given = Headers(scope=scope).get(HEADER, "")
        return given if self.settings.behind_proxy and GIVEN.fullmatch(given) else token_hex(8)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in METHODS else "other"
        # Of routes under a prefix, the framework tells what stands after it.
        prefix = API if is_api(scope["path"]) else ""
        route = f"{prefix}{scope['route'].path}" if "route" in scope else "other"
        self.numbers.requests.labels(method, route, str(status)).inc()
        self.numbers.seconds.labels(method, route).observe(seconds)
        person = scope.get("state", {}).get("person")
        who = {} if person is None else {"account": person.name}
        token = {} if person is None or person.token is None else {"token": person.token.id}
        told = {"method": method, "route": route, "status": status, "ms": round(1000 * seconds, 1)}
        requests_logger.info("request", extra=told | who | token)


API = "/api/v1"
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


@router.get("/healthz")
def healthz() -> dict[str, str]:
    """That the process lives."""
    return {"status": "alive"}


@router.get("/readyz")
def readyz(request: Request) -> Response:
    """Whether requests can be served: the database answers, the folder can be written, and the log is as it was left."""
    keeper: Keeper = request.app.state.keeper
    faults = {
        "database": "" if _head_of(keeper) is not None else "is away",
        "folder": "" if _is_writable(keeper.settings.work) else "cannot be written",
    }
    wrong = {name: why for name, why in faults.items() if why}
    told: dict[str, Any] = {"status": "not ready", "faults": wrong} if wrong else {"status": "ready"}
    return JSONResponse(told, 503 if wrong else 200)


@router.get("/metrics")
def metrics(request: Request) -> Response:
    """Numbers for Prometheus; for this machine and the networks that were named."""
    keeper: Keeper = request.app.state.keeper
    counted: Numbers = request.app.state.numbers
    if not _may_measure(keeper.settings, request.client.host if request.client else ""):
        raise no_such("page")
    head = _head_of(keeper)
    if head is not None:
        counted.entries.set(head)
        query: Select[Any] = select(jobs.c.state, func.count().label("number")).group_by(jobs.c.state)
        for row in keeper.database.rows(query):
            counted.jobs.labels(row.state).set(row.number)
    return Response(generate_latest(counted.registry), media_type=CONTENT_TYPE_LATEST)


def _head_of(keeper: Keeper) -> int | None:
    """The number of the log's last entry; None if the database does not answer."""
    try:
        with keeper.database.reading() as connection:
            head = read_head(connection)
    except Unavailable:
        return None
    return 0 if head is None else head.number


def _is_writable(folder: Path) -> bool:
    path = folder / f"{token_hex(8)}.probe"
    try:
        path.touch(mode=0o600)
        path.unlink()
    except OSError:
        return False
    return True


def _may_measure(settings: Settings, host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return is_loopback(host) or any(address in ip_network(network) for network in settings.metrics_for)


def write_json_logs(*, requests: bool, stream: TextIO | None = None) -> None:
    """Write what is logged to stderr, or elsewhere, as JSON, a line each; of errors where they happened, not what they say."""
    handler = logging.StreamHandler(stream)
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.ExtraAdder(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last = [structlog.stdlib.ProcessorFormatter.remove_processors_meta, _place_of_error]
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared, processors=[*last, structlog.processors.JSONRenderer()]
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    # What cannot be written is not told with all that led there.
    logging.raiseExceptions = False
    logging.getLogger(REQUESTS).setLevel(logging.INFO if requests else logging.WARNING)


def _place_of_error(_logger: object, _method: str, event: Any) -> Any:
    """Say of an error its kind and place; its message may quote secrets."""
    told = event.pop("exc_info", None)
    error = told[1] if isinstance(told, tuple) else told
    if isinstance(error, BaseException):
        frames = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(error.__traceback__)]
        event["error"] = f"{type(error).__name__} at {' > '.join(frames[-4:])}"
    return event
