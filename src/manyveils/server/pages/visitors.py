"""Pages for everyone: login, the catalogue, a release, what its values mean, and the files that pages need."""

import csv
import io
from pathlib import Path
from typing import Any

from fastapi import Request
from starlette.responses import FileResponse, Response

from manyveils.errors import InputError
from manyveils.server import catalogue, interpretation
from manyveils.server.accounts import change_password
from manyveils.server.api.access import Address, KeeperOf
from manyveils.server.api.catalogue import Number
from manyveils.server.pages.routing import (
    PersonHere,
    SessionHere,
    call,
    fields,
    go,
    pages,
    refuse_other_sites,
    show,
    text,
)
from manyveils.server.refusals import Refusal, no_such
from manyveils.server.sessions import clear_cookie, close_session, open_session, set_cookie

router = pages()
MOST_TEXT = 100_000
STATIC = Path(__file__).with_name("static")
KINDS = {"style.css": "text/css", "progress.js": "text/javascript", "veil.svg": "image/svg+xml"}


@router.get("/login")
async def login_form(request: Request, session: SessionHere) -> Response:
    """Ask for name and password."""
    return go("/") if session else show(request, "login.html", problems=())


@router.post("/login")
async def log_in(request: Request, keeper: KeeperOf, address: Address) -> Response:
    """Begin a session, or say that name or password is wrong."""
    refuse_other_sites(request)
    form = await fields(request)
    try:
        session = await call(
            open_session, keeper, form.get("name", "")[:100], form.get("password", "")[:2000], address
        )
    except Refusal as error:
        return show(request, "login.html", status=error.status, problems=error.problems)
    response = go("/")
    set_cookie(response, keeper, session, request.url.scheme)
    return response


@router.post("/logout")
async def log_out(request: Request, keeper: KeeperOf, session: SessionHere) -> Response:
    """End the session."""
    if session is not None:
        await call(close_session, keeper, session)
    response = go("/login")
    clear_cookie(response, keeper, request.url.scheme)
    return response


@router.get("/account")
async def account(request: Request, person: PersonHere) -> Response:
    """The visitor's own account."""
    return show(request, "account.html", changed=False)


@router.post("/account")
async def new_password(request: Request, keeper: KeeperOf, person: PersonHere, address: Address) -> Response:
    """Change the visitor's own password; every other login of theirs ends."""
    form = await fields(request)
    if form.get("new") != form.get("again"):
        raise InputError.at("new password", "was typed in two ways.", "Type it again.")
    await call(change_password, keeper, person, form.get("old", ""), form.get("new", ""), address)
    return go("/login")


@router.get("/")
async def all_releases(request: Request, keeper: KeeperOf, session: SessionHere) -> Response:
    """The catalogue."""
    releases = await call(catalogue.items, keeper, session.person if session else None)
    return show(request, "catalogue.html", releases=releases)


@router.get("/releases/{release}")
async def release(release: str, request: Request, keeper: KeeperOf, session: SessionHere) -> Response:
    """One release: what it promises, its views and its files."""
    item = await call(catalogue.item, keeper, session.person if session else None, release[:100])
    return show(request, "release.html", release=item)


@router.get("/releases/{release}/files/{number}")
async def file(
    release: str, number: Number, request: Request, keeper: KeeperOf, session: SessionHere
) -> Response:
    """A file of a release."""
    person = session.person if session else None
    path = await call(catalogue.file_of, keeper, person, release[:100], number)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


@router.get("/releases/{release}/interpret")
async def question(release: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Ask what published values mean."""
    item = await call(catalogue.item, keeper, person, release[:100])
    return show(request, "interpret.html", release=item, asked={}, answer=None, table=None)


@router.post("/releases/{release}/interpret")
async def answer(release: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Answer with a value, a rule or a small table, and say what it counted for."""
    form, release = await fields(request), release[:64]
    kind = form.get("kind", "")
    read: Any
    table = None
    if kind == "value":
        asked = text(form, "attribute"), form.get("published", "")
        read = await call(interpretation.read_value, keeper, person, release, *asked)
    elif kind == "rule":
        read = await call(interpretation.read_rule, keeper, person, release, text(form, "rule", 10_000))
    else:
        names, rows = _pasted(text(form, "table", MOST_TEXT))
        read = await call(interpretation.read_table, keeper, person, release, names, rows)
        table = names, read.read
    item = await call(catalogue.item, keeper, person, release)
    return show(request, "interpret.html", release=item, asked=form, answer=read, table=table)


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """A style sheet, a script for progress or a picture."""
    if name not in KINDS:
        raise no_such("file")
    return FileResponse(STATIC / name, media_type=KINDS[name], headers={"Cache-Control": "max-age=3600"})


def _pasted(pasted: str) -> tuple[list[str], list[list[str]]]:
    """A table that was pasted: a line of names, then lines of cells, separated by commas, semicolons or tabs."""
    header = pasted.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=header.count)
    try:
        lines = [
            line for line in csv.reader(io.StringIO(pasted.strip(), newline=""), delimiter=delimiter) if line
        ]
    except csv.Error:
        raise InputError.at("table", "cannot be read.", "Check its quotes and line ends.") from None
    if len(lines) < 2:
        raise InputError.at("table", "needs a line of names and at least one of cells.")
    return lines[0], lines[1:]
