"""Pages for owners: publishing, people, and who may ask how much; and the log, for auditors too."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import Query, Request
from starlette.datastructures import UploadFile
from starlette.responses import Response

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, chain, grants, jobs
from manyveils.server.api.access import KeeperOf
from manyveils.server.api.grants import Number
from manyveils.server.pages.routing import (
    PersonHere,
    call,
    fields,
    go,
    pages,
    show,
    text,
    whole_number,
    yes_or_no,
)
from manyveils.server.people import Role, require
from manyveils.server.uploads import Upload

router = pages()
ROLES: tuple[Role, ...] = ("researcher", "auditor", "owner")
LINES = 100
Before = Annotated[int | None, Query(ge=1, le=2**53)]


@router.get("/jobs")
async def all_jobs(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """The jobs, and the form for a new one."""
    return show(request, "jobs.html", jobs=await call(jobs.all_jobs, keeper, person))


@router.post("/jobs")
async def submit(request: Request, person: PersonHere) -> Response:
    """Take in data and policy, and publish them in the background."""
    require(person, "owner")
    form = await request.form(max_files=4, max_fields=50)
    uploads = {}
    for name in ("policy", "data"):
        upload = form.get(name)
        if not isinstance(upload, UploadFile) or not upload.filename:
            raise InputError.at(name, "is missing.", "Choose a file.")
        uploads[name] = Upload(upload.filename, upload.file)
    texts = {"title": str(form.get("title", "")), "format": str(form.get("format", "csv"))}
    job = await call(request.app.state.worker.submit, person, **texts, **uploads)
    return go(f"/jobs/{job.id}")


@router.get("/jobs/{number}")
async def one_job(number: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """One job: how far it is, or the audit of what it made."""
    job = await call(jobs.job, keeper, person, number[:100])
    release = await call(catalogue.item, keeper, person, job.release) if job.release else None
    findings = (job.audit or {}).get("findings", [])
    return show(request, "job.html", job=job, release=release, findings=findings)


@router.post("/releases/{release}/listed")
async def set_listed(release: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """List a release, or take it off the list."""
    form = await fields(request)
    await call(catalogue.set_listed, keeper, person, release[:100], listed=yes_or_no(form, "listed"))
    return go(f"/releases/{release[:100]}")


@router.get("/people")
async def people(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Accounts and grants."""
    return show(
        request,
        "people.html",
        accounts=await call(accounts.accounts, keeper, person),
        grants=await call(grants.all_grants, keeper, person),
        releases=await call(catalogue.items, keeper, person),
        roles=ROLES,
        today=datetime.fromtimestamp(keeper.now(), UTC).date().isoformat(),
    )


@router.post("/people")
async def add_person(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Make an account."""
    form = await fields(request)
    role = next((role for role in ROLES if role == form.get("role")), None)
    if role is None:
        raise InputError.at("role", f"must be one of {', '.join(ROLES)}.")
    await call(accounts.add_user, keeper, person, form.get("name", ""), form.get("password", ""), role)
    return go("/people")


@router.post("/people/{name}/active")
async def set_active(name: str, request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Close an account, or open it again."""
    form = await fields(request)
    await call(accounts.change_user, keeper, person, name[:100], active=yes_or_no(form, "active"))
    return go("/people")


@router.post("/grants")
async def give(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Let a researcher ask about a release, so many answers a day, until a day."""
    form = await fields(request)
    await call(
        grants.give_grant,
        keeper,
        person,
        text(form, "researcher", 100),
        text(form, "release", 100),
        daily_limit=whole_number(form, "daily_limit"),
        expires=_end_of(text(form, "expires", 10)),
    )
    return go("/people")


@router.post("/grants/{number}/end")
async def end(number: Number, keeper: KeeperOf, person: PersonHere) -> Response:
    """End a grant."""
    await call(grants.end_grant, keeper, person, number)
    return go("/people")


@router.get("/log")
async def log(request: Request, keeper: KeeperOf, person: PersonHere, before: Before = None) -> Response:
    """The last entries, newest first, and those before them."""
    entries = await call(chain.latest, keeper, person, before=before, most=LINES)
    return show(request, "log.html", entries=entries, verdict=None)


@router.post("/log/verify")
async def verify(request: Request, keeper: KeeperOf, person: PersonHere) -> Response:
    """Walk the chain and say whether it is whole."""
    verdict = await call(chain.checked_log, keeper, person)
    entries = await call(chain.latest, keeper, person, most=LINES)
    return show(request, "log.html", entries=entries, verdict=verdict)


def _end_of(day: str) -> float:
    """The last second of a day, in UTC."""
    try:
        start = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except (ValueError, OverflowError):
        raise InputError.at("expires", "must be a day.", "Write it as 2030-12-31.") from None
    return start + 24 * 3600.0 - 1
