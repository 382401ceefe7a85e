"""The pages: small, rendered on the server, and usable without scripts.

First those for everyone, then those for owners; the log is for auditors too.
"""

import csv
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import FileResponse, Response

from manyveils.errors import InputError
from manyveils.server import (
    accounts,
    catalogue,
    chain,
    disclosure,
    grants,
    interpretation,
    jobs,
    logins,
    second,
    tokens,
    verifying,
)
from manyveils.server.accounts import Proof
from manyveils.server.api.access import Address, KeeperOf
from manyveils.server.api.routes import FileNumber, GrantNumber, Skip, sent, submit_form
from manyveils.server.pages.routing import (
    Fields,
    Form,
    PageRoute,
    PersonHere,
    SessionHere,
    go,
    refuse_other_sites,
    show,
    text,
    whole_number,
    yes_or_no,
)
from manyveils.server.refusals import Refusal, Role, no_such

# Pages are not part of the API's description.
router = APIRouter(route_class=PageRoute, include_in_schema=False)
ROLES: tuple[Role, ...] = ("researcher", "auditor", "owner")
MOST_TEXT = 100_000
LINES = 100
STATIC = Path(__file__).with_name("static")
KINDS = {"style.css": "text/css", "progress.js": "text/javascript", "veil.svg": "image/svg+xml"}
Before = Annotated[int | None, Query(ge=1, le=2**53)]


@router.get("/login")
def login_form(request: Request, session: SessionHere) -> Response:
    """Ask for name and password."""
    return go("/") if session else show(request, "login.html", problems=())


@router.post("/login", dependencies=[Depends(refuse_other_sites)])
def log_in(request: Request, keeper: KeeperOf, address: Address, form: Fields) -> Response:
    """Begin a session, or say that name or password is wrong."""
    name, password = form.get("name", "")[:100], form.get("password", "")[:2000]
    try:
        session = logins.open_session(keeper, name, password, address, form.get("code", "")[:10])
    except Refusal as error:
        return show(request, "login.html", status=error.status, problems=error.problems)
    response = go("/")
    logins.set_cookie(response, keeper, session, request.url.scheme)
    return response


@router.post("/logout")
def log_out(request: Request, keeper: KeeperOf, session: SessionHere) -> Response:
    """End the session."""
    if session is not None:
        logins.close_session(keeper, session)
    response = go("/login")
    logins.clear_cookie(response, keeper, request.url.scheme)
    return response


@router.get("/account")
def account(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """The visitor's own account."""
    return show(request, "account.html", enrolment=None, tokens=tokens.all_tokens(keeper, person))


@router.post("/account/second")
def begin_second(
    request: Request, keeper: KeeperOf, person: PersonHere, address: Address, form: Fields
) -> Response:
    """Begin a second factor, and show once what an authenticator needs."""
    accounts.prove(keeper, person, Proof(form.get("confirm", ""), address))
    enrolment = second.begin_second(keeper, person)
    return show(request, "account.html", enrolment=enrolment, tokens=tokens.all_tokens(keeper, person))


@router.post("/account/second/confirm")
def confirm_second(keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Let the second factor count from now on."""
    second.confirm_second(keeper, person, form.get("code", ""))
    return go("/account")


@router.post("/tokens/{number}/revoke")
def revoke(number: str, keeper: KeeperOf, person: PersonHere) -> Response:
    """End a token before its time."""
    tokens.revoke_token(keeper, person, number[:100])
    return go("/account")


@router.post("/account")
def new_password(keeper: KeeperOf, person: PersonHere, address: Address, form: Fields) -> Response:
    """Change the visitor's own password; every other login of theirs ends."""
    if form.get("new") != form.get("again"):
        raise InputError.at("new password", "was typed in two ways.", "Type it again.")
    accounts.change_password(
        keeper, person, form.get("old", ""), form.get("new", ""), address, code=form.get("code", "")
    )
    return go("/login")


@router.get("/")
def all_releases(request: Request, keeper: KeeperOf, session: SessionHere, skip: Skip = 0) -> Response:
    """A page of the catalogue."""
    releases = catalogue.items(keeper, session.person if session else None, skip=skip, most=LINES)
    return show(request, "catalogue.html", releases=releases, skip=skip, most=LINES)


@router.get("/releases/{release}")
def release(release: str, request: Request, keeper: KeeperOf, session: SessionHere) -> Response:
    """One release: what it promises, its views and its files."""
    item = catalogue.item(keeper, session.person if session else None, release[:100])
    return show(request, "release.html", release=item)


@router.get("/releases/{release}/files/{number}")
def file(release: str, number: FileNumber, keeper: KeeperOf, session: SessionHere) -> Response:
    """A file of a release."""
    return sent(keeper, session.person if session else None, release[:100], number)


@router.get("/releases/{release}/interpret")
def question(release: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Ask what published values mean."""
    item = catalogue.item(keeper, person, release[:100])
    return show(request, "interpret.html", release=item, asked={}, answer=None, table=None)


@router.post("/releases/{release}/interpret")
def answer(release: str, request: Request, keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Answer with a value, a rule or a small table, and say what it counted for."""
    kind, release = form.get("kind", ""), release[:64]
    read: Any
    table = None
    if kind == "value":
        asked = text(form, "attribute"), form.get("published", "")
        read = interpretation.read_value(keeper, person, release, *asked)
    elif kind == "rule":
        read = interpretation.read_rule(keeper, person, release, text(form, "rule", 10_000))
    else:
        names, rows = _pasted(text(form, "table", MOST_TEXT))
        read = interpretation.read_table(keeper, person, release, names, rows)
        table = names, read.read
    item = catalogue.item(keeper, person, release)
    return show(request, "interpret.html", release=item, asked=form, answer=read, table=table)


@router.get("/static/{name}")
def static(name: str) -> Response:
    """A style sheet, a script for progress or a picture."""
    if name not in KINDS:
        raise no_such("file")
    return FileResponse(STATIC / name, media_type=KINDS[name], headers={"Cache-Control": "max-age=3600"})


@router.get("/jobs")
def all_jobs(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """The jobs, and the form for a new one."""
    return show(request, "jobs.html", jobs=jobs.all_jobs(keeper, person))


@router.post("/jobs")
def submit(request: Request, person: PersonHere, form: Form) -> Response:
    """Take in data and policy, and publish them in the background."""
    return go(f"/jobs/{submit_form(request.app.state.worker, person, form).id}")


@router.get("/jobs/{number}")
def one_job(number: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """One job: how far it is, or the audit of what it made."""
    job = jobs.job(keeper, person, number[:100])
    release = catalogue.item(keeper, person, job.release) if job.release else None
    audit = job.audit or {}
    told = {"beyond": audit.get("not_promised", []), "accepted": audit.get("accepted", [])}
    findings = audit.get("findings", [])
    return show(request, "job.html", job=job, release=release, findings=findings, **told)


@router.post("/jobs/{number}/cancel")
def cancel(number: str, keeper: KeeperOf, person: PersonHere) -> Response:
    """End a job before it is done."""
    jobs.cancel(keeper, person, number[:100])
    return go(f"/jobs/{number[:100]}")


@router.post("/releases/{release}/listed")
def set_listed(release: str, keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """List a release, or take it off the list."""
    catalogue.set_listed(keeper, person, release[:100], listed=yes_or_no(form, "listed"))
    return go(f"/releases/{release[:100]}")


@router.get("/releases/{release}/disclosure")
def told(release: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """What researchers were told of a release, and how much of its key follows from that."""
    said = disclosure.disclosure(keeper, person, release[:100])
    item = catalogue.item(keeper, person, release[:100])
    return show(request, "disclosure.html", release=item, told=said)


@router.post("/releases/{release}/disclosure")
def approve(release: str, keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Let researchers be told more, or less."""
    limits = {name: whole_number(form, name) for name in ("budget", "approved")}
    disclosure.approve(keeper, person, release[:100], **limits)
    return go(f"/releases/{release[:100]}/disclosure")


@router.post("/releases/{release}/delete")
def delete(release: str, keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Delete a release with its key, its grants and its files."""
    if not yes_or_no(form, "sure"):
        return go(f"/releases/{release[:100]}")
    catalogue.delete_release(keeper, person, release[:100])
    return go("/")


@router.get("/people")
def people(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Accounts and grants."""
    return show(
        request,
        "people.html",
        accounts=accounts.accounts(keeper, person),
        grants=grants.all_grants(keeper, person),
        releases=catalogue.items(keeper, person),
        roles=ROLES,
        today=grants.today(keeper),
    )


@router.post("/people")
def add_person(keeper: KeeperOf, person: PersonHere, address: Address, form: Fields) -> Response:
    """Make an account."""
    role: Any = form.get("role", "")
    proof, external = Proof(form.get("confirm", ""), address), form.get("external", "")[:400] or None
    name, password = form.get("name", ""), form.get("password", "")
    accounts.add_user(keeper, person, name, password, role, proof=proof, external=external)
    return go("/people")


@router.post("/people/{name}/confirmed")
def confirm(name: str, keeper: KeeperOf, person: PersonHere, address: Address, form: Fields) -> Response:
    """Let a new owner in."""
    accounts.confirm_owner(keeper, person, name[:100], proof=Proof(form.get("confirm", ""), address))
    return go("/people")


@router.post("/people/{name}/active")
def set_active(name: str, keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Close an account, or open it again."""
    accounts.change_user(keeper, person, name[:100], active=yes_or_no(form, "active"))
    return go("/people")


@router.post("/grants")
def give(keeper: KeeperOf, person: PersonHere, form: Fields) -> Response:
    """Let a researcher ask about a release, so many answers a day, until a day."""
    researcher, release = text(form, "researcher", 100), text(form, "release", 100)
    limit, expires = whole_number(form, "daily_limit"), _end_of(text(form, "expires", 10))
    grants.give_grant(keeper, person, researcher, release, daily_limit=limit, expires=expires)
    return go("/people")


@router.post("/grants/{number}/end")
def end(number: GrantNumber, keeper: KeeperOf, person: PersonHere) -> Response:
    """End a grant."""
    grants.end_grant(keeper, person, number)
    return go("/people")


@router.get("/log")
def log(request: Request, keeper: KeeperOf, person: PersonHere, before: Before = None) -> Response:
    """The last entries, newest first, and those before them."""
    entries = chain.latest(keeper, person, before=before, most=LINES)
    return show(request, "log.html", entries=entries, verdict=None)


@router.post("/log/verify")
def verify(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Walk the chain and say whether it is whole."""
    verdict = verifying.checked_log(keeper, person)
    return show(request, "log.html", entries=chain.latest(keeper, person, most=LINES), verdict=verdict)


def _pasted(pasted: str) -> tuple[list[str], list[list[str]]]:
    """A table that was pasted: a line of names, then lines of cells, separated by commas, semicolons or tabs."""
    header = pasted.lstrip().split("\n", 1)[0]
    reader = csv.reader(io.StringIO(pasted.strip(), newline=""), delimiter=max(",;\t", key=header.count))
    try:
        lines = [line for line in reader if line]
    except csv.Error:
        raise InputError.at("table", "cannot be read.", "Check its quotes and line ends.") from None
    if len(lines) < 2:
        raise InputError.at("table", "needs a line of names and at least one of cells.")
    return lines[0], lines[1:]


def _end_of(day: str) -> float:
    """The last second of a day, in UTC."""
    try:
        start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        raise InputError.at("expires", "must be a day.", "Write it as 2030-12-31.") from None
    return start + 24 * 3600.0 - 1
