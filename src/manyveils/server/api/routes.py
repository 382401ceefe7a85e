"""The JSON API under /api/v1: translates requests into calls of the server's functions, and nothing else."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import FileResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from manyveils.errors import InputError
from manyveils.keys import Meaning
from manyveils.server import (
    accounts,
    catalogue,
    chain,
    disclosure,
    grants,
    interpretation,
    jobs,
    second,
    tokens,
    verifying,
)
from manyveils.server.accounts import Proof
from manyveils.server.api import models
from manyveils.server.api.access import Address, Anyone, KeeperOf, Someone, refusals
from manyveils.server.api.models import IdInPath
from manyveils.server.keeper import Keeper
from manyveils.server.refusals import Person, require
from manyveils.server.uploads import Upload
from manyveils.server.worker import Worker

of_accounts = APIRouter(tags=["accounts"])
of_releases = APIRouter(tags=["releases"])
of_grants = APIRouter(tags=["grants"])
of_meanings = APIRouter(prefix="/releases/{release}/interpret", tags=["interpretation"])
of_jobs = APIRouter(tags=["jobs"])
of_log = APIRouter(prefix="/log", tags=["log"])

NameInPath = Annotated[str, Path(pattern=accounts.NAME)]
FileNumber = Annotated[int, Path(ge=0, le=100_000)]
FileName = Annotated[str, Query(max_length=300, description="A file's name in the manifest.")]
GrantNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]
After = Annotated[int, Query(ge=0, le=2**53)]
Skip = Annotated[int, Query(ge=0, le=2**31 - 1)]
Most = Annotated[int, Query(ge=1, le=1000)]
CONTENT = {"content": {"application/octet-stream": {}}, "description": "The file."}
SENT: dict[str, Any] = {
    "response_class": FileResponse,
    "responses": {200: CONTENT, **refusals(401, 404, 409, 422)},
}
INTERPRETED = refusals(400, 401, 403, 404, 409, 413, 422, 429)
FIELDS: dict[str, Any] = {
    "title": {"type": "string", "minLength": 1, "maxLength": jobs.MOST_TITLE},
    "format": {"type": "string", "enum": ["csv", "parquet"], "default": "csv"},
    "policy": {"type": "string", "format": "binary", "description": "The policy, .toml or .json."},
    "data": {"type": "string", "format": "binary", "description": "The data, .csv, .parquet, .arrow, …"},
}
SCHEMA = {"type": "object", "properties": FIELDS, "required": ["title", "policy", "data"]}
FORM = {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": SCHEMA}}}}


@of_accounts.post("/token", status_code=201, responses=refusals(400, 401, 413, 422, 429))
def get_token(login: models.Login, keeper: KeeperOf, address: Address, response: Response) -> tokens.Token:
    """Log in with name, password and one-time code for a bearer token."""
    response.headers["Cache-Control"] = "no-store"
    wish = tokens.Wish(login.hours, login.scopes, login.releases, login.label)
    return tokens.issue_token(keeper, login.name, login.password, address, wish, code=login.code)


@of_accounts.delete("/token", status_code=204, responses=refusals(401, 403))
def revoke_own(person: Someone, keeper: KeeperOf) -> None:
    """Revoke the token that this request carries."""
    if person.token is not None:
        tokens.revoke_token(keeper, person, person.token.id)


@of_accounts.get("/tokens", responses=refusals(401))
def all_tokens(person: Someone, keeper: KeeperOf) -> list[tokens.Issued]:
    """The good tokens of one's own; for owners who administer, those of everybody."""
    return tokens.all_tokens(keeper, person)


@of_accounts.delete("/tokens/{token}", status_code=204, responses=refusals(401, 403, 404, 422))
def revoke_token(token: IdInPath, person: Someone, keeper: KeeperOf) -> None:
    """Revoke a token by its number: one's own; for owners who administer, anybody's."""
    tokens.revoke_token(keeper, person, token)


@of_accounts.get("/me", response_model=models.PersonSaid, responses=refusals(401))
def who(person: Someone) -> Person:
    """Who is asking."""
    return person


@of_accounts.post("/me/password", status_code=204, responses=refusals(400, 401, 403, 413, 422, 429))
def change_password(
    change: models.PasswordChange, person: Someone, keeper: KeeperOf, address: Address
) -> None:
    """Change one's own password; all tokens and sessions end."""
    accounts.change_password(keeper, person, change.old, change.new, address, code=change.code)


@of_accounts.post("/me/second", status_code=201, responses=refusals(400, 401, 403, 409, 413, 422, 429))
def begin_second(
    proof: models.Confirmed, person: Someone, keeper: KeeperOf, address: Address
) -> second.Enrolment:
    """Begin a second factor; needs a session and the own password, and counts once a code has confirmed it."""
    accounts.prove(keeper, person, Proof(proof.confirm, address))
    return second.begin_second(keeper, person)


@of_accounts.put("/me/second", status_code=204, responses=refusals(400, 401, 403, 404, 413, 422))
def confirm_second(code: models.Code, person: Someone, keeper: KeeperOf) -> None:
    """Confirm the second factor with its first code."""
    second.confirm_second(keeper, person, code.code)


@of_accounts.get("/users", responses=refusals(401, 403))
def users(person: Someone, keeper: KeeperOf) -> list[accounts.Account]:
    """Every account; for owners."""
    return accounts.accounts(keeper, person)


@of_accounts.post("/users", status_code=201, responses=refusals(400, 401, 403, 409, 413, 422, 429))
def add_user(user: models.NewUser, person: Someone, keeper: KeeperOf, address: Address) -> accounts.Account:
    """Make an account; for owners. To make an owner needs the own password, and another owner confirms it."""
    proof = Proof(user.confirm or "", address)
    more: dict[str, Any] = {"proof": proof, "external": user.external}
    return accounts.add_user(keeper, person, user.name, user.password or "", user.role, **more)


@of_accounts.post("/users/{name}/confirmed", responses=refusals(400, 401, 403, 404, 409, 413, 422, 429))
def confirm_owner(
    name: NameInPath, proof: models.Confirmed, person: Someone, keeper: KeeperOf, address: Address
) -> accounts.Account:
    """Let a new owner in; for another owner than the one who made the account."""
    return accounts.confirm_owner(keeper, person, name, proof=Proof(proof.confirm, address))


@of_accounts.patch("/users/{name}", responses=refusals(400, 401, 403, 404, 409, 413, 422, 429))
def change_user(
    name: NameInPath, change: models.UserChange, person: Someone, keeper: KeeperOf, address: Address
) -> accounts.Account:
    """Switch an account on or off, give it another password or take its second factor; for owners."""
    return accounts.change_user(
        keeper,
        person,
        name,
        active=change.active,
        password=change.password,
        second_factor=change.second_factor,
        proof=Proof(change.confirm or "", address),
    )


@of_releases.get("/releases", responses=refusals(401, 422))
def releases(keeper: KeeperOf, person: Anyone, skip: Skip = 0, most: Most = 100) -> list[catalogue.Item]:
    """A page of the listed releases, newest first; for owners their own others too."""
    return catalogue.items(keeper, person, skip=skip, most=most)


@of_releases.get("/releases/{release}", responses=refusals(401, 404, 422))
def release(release: IdInPath, keeper: KeeperOf, person: Anyone) -> catalogue.Item:
    """One release with its manifest."""
    return catalogue.item(keeper, person, release)


@of_releases.patch("/releases/{release}", responses=refusals(400, 401, 403, 404, 413, 422))
def set_listed(
    release: IdInPath, change: models.ListedChange, keeper: KeeperOf, person: Someone
) -> catalogue.Item:
    """List a release or take it off the list; for owners."""
    return catalogue.set_listed(keeper, person, release, listed=change.listed)


@of_releases.delete("/releases/{release}", status_code=204, responses=refusals(401, 403, 404, 422))
def delete_release(release: IdInPath, keeper: KeeperOf, person: Someone) -> None:
    """Delete a release with its key, its grants and its files; what it was stays in the log. For its owner."""
    catalogue.delete_release(keeper, person, release)


@of_releases.get("/releases/{release}/disclosure", responses=refusals(401, 403, 404, 409, 422))
def get_disclosure(release: IdInPath, keeper: KeeperOf, person: Someone) -> disclosure.Disclosure:
    """What researchers were told of a release, and how much of its key follows from that; for its owner."""
    return disclosure.disclosure(keeper, person, release)


@of_releases.patch("/releases/{release}/disclosure", responses=refusals(400, 401, 403, 404, 409, 413, 422))
def approve(
    release: IdInPath, change: models.Approval, keeper: KeeperOf, person: Someone
) -> disclosure.Disclosure:
    """Let researchers be told more, or less, of a release; for its owner."""
    return disclosure.approve(keeper, person, release, budget=change.budget, approved=change.approved)


@of_releases.get("/releases/{release}/files", responses=refusals(401, 404, 422))
def files(release: IdInPath, keeper: KeeperOf, person: Anyone) -> list[models.FileSaid]:
    """The files of a release with the numbers they are fetched by."""
    names = catalogue.item(keeper, person, release).files
    return [models.FileSaid(number=number, name=name) for number, name in enumerate(names)]


@of_releases.head("/releases/{release}/files/{number}", include_in_schema=False)
@of_releases.get("/releases/{release}/files/{number}", **SENT)
def file(release: IdInPath, number: FileNumber, keeper: KeeperOf, person: Anyone) -> FileResponse:
    """A file of a release by its number."""
    return sent(keeper, person, release, number)


@of_releases.head("/releases/{release}/file", include_in_schema=False)
@of_releases.get("/releases/{release}/file", **SENT)
def file_by_name(release: IdInPath, name: FileName, keeper: KeeperOf, person: Anyone) -> FileResponse:
    """A file of a release by its name in the manifest."""
    return sent(keeper, person, release, name)


def sent(keeper: Keeper, person: Person | None, release: str, which: int | str) -> FileResponse:
    """A file of a release, by its number or its name in the manifest, to be saved."""
    path = catalogue.file_of(keeper, person, release, which)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)


@of_grants.get("/grants", responses=refusals(401, 403))
def all_grants(person: Someone, keeper: KeeperOf) -> list[grants.Grant]:
    """The grants of their releases for owners, their own for researchers."""
    return grants.all_grants(keeper, person)


@of_grants.put("/grants", responses=refusals(400, 401, 403, 404, 413, 422))
def give_grant(grant: models.NewGrant, person: Someone, keeper: KeeperOf) -> grants.Grant:
    """Grant a researcher a release, or change the grant; for owners."""
    limits = {"daily_limit": grant.daily_limit, "total_limit": grant.total_limit}
    expires = grant.expires.timestamp()
    return grants.give_grant(keeper, person, grant.researcher, grant.release, expires=expires, **limits)  # type: ignore[arg-type]


@of_grants.delete("/grants/{number}", responses=refusals(401, 403, 404, 422))
def end_grant(number: GrantNumber, person: Someone, keeper: KeeperOf) -> grants.Grant:
    """Let a grant expire now; for owners."""
    return grants.end_grant(keeper, person, number)


@of_meanings.post("/value", responses=INTERPRETED)
def value(release: IdInPath, asked: models.ValueAsked, person: Someone, keeper: KeeperOf) -> Meaning:
    """What a published value means; for owners, and for researchers with a grant."""
    return interpretation.read_value(keeper, person, release, asked.attribute, asked.published).meanings[0]


@of_meanings.post("/rule", responses=INTERPRETED)
def rule(release: IdInPath, asked: models.RuleAsked, person: Someone, keeper: KeeperOf) -> models.RuleSaid:
    """A rule with meanings in place of codes and grades; each different meaning counts."""
    answer = interpretation.read_rule(keeper, person, release, asked.rule)
    return models.RuleSaid(rule=answer.read, meanings=answer.cost)


@of_meanings.post("/table", responses=INTERPRETED)
def table(release: IdInPath, asked: models.TableAsked, person: Someone, keeper: KeeperOf) -> models.TableSaid:
    """A table of at most 1,000 cells, cell by cell; each different meaning counts."""
    answer = interpretation.read_table(keeper, person, release, asked.names, asked.rows)
    return models.TableSaid(names=asked.names, rows=answer.read, meanings=answer.cost)


@of_jobs.post("/jobs", status_code=202, responses=refusals(400, 401, 403, 413, 422), openapi_extra=FORM)
async def submit(request: Request, person: Someone) -> jobs.Job:
    """Upload data and a policy to be published in the background; for owners."""
    # The form is read here and not by the framework, which would take in what anybody sends.
    require(person, "owner", scope="publish")
    async with request.form(max_files=2, max_fields=4) as form:
        return await run_in_threadpool(submit_form, request.app.state.worker, person, form)


def submit_form(worker: Worker, person: Person, form: FormData) -> jobs.Job:
    """Queue what a form has uploaded."""
    if "after" in form:
        what = "the server does not publish after earlier releases."
        raise InputError.at("after", what, "Use manyveils publish --after, where their private folders are.")
    texts = {"title": form.get("title"), "format": form.get("format", "csv")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise InputError.at("title", "must be given as a text.")
    uploads = {field: _upload(form, field) for field in ("policy", "data")}
    return worker.submit(person, **texts, **uploads)  # type: ignore[arg-type]


def _upload(form: FormData, field: str) -> Upload:
    upload = form.get(field)
    if not isinstance(upload, UploadFile) or not upload.filename:
        raise InputError.at(field, "must be given as a file.", "Choose one.")
    return Upload(upload.filename, upload.file)


@of_jobs.get("/jobs", responses=refusals(401, 403))
def all_jobs(person: Someone, keeper: KeeperOf) -> list[jobs.Job]:
    """The last jobs, newest first; for owners."""
    return jobs.all_jobs(keeper, person)


@of_jobs.get("/jobs/{job}", responses=refusals(401, 403, 404, 422))
def one_job(job: IdInPath, person: Someone, keeper: KeeperOf) -> jobs.Job:
    """One job with its progress, and its audit once it is done; for owners."""
    return jobs.job(keeper, person, job)


@of_jobs.delete("/jobs/{job}", responses=refusals(401, 403, 404, 409, 422))
def cancel(job: IdInPath, person: Someone, keeper: KeeperOf) -> jobs.Job:
    """End a job before it is done; for the owner who asked for it."""
    return jobs.cancel(keeper, person, job)


@of_log.get("", responses=refusals(401, 403, 422))
def entries(person: Someone, keeper: KeeperOf, after: After = 0, most: Most = 100) -> list[chain.Entry]:
    """Entries with numbers above one, oldest first."""
    return chain.entries(keeper, person, after=after, most=most)


@of_log.get("/verify", responses=refusals(401, 403))
def verify(person: Someone, keeper: KeeperOf) -> verifying.Verdict:
    """Walk the log and name the first number that does not fit."""
    return verifying.checked_log(keeper, person)


router = APIRouter(prefix="/api/v1")
# Routes are tried in turn: those that are asked most come first.
for topic in (of_meanings, of_accounts, of_releases, of_grants, of_jobs, of_log):
    router.include_router(topic)
