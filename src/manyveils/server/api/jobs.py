"""Publishing: an upload becomes a job, a job becomes a release that is not listed yet."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from manyveils.errors import InputError
from manyveils.server import jobs
from manyveils.server.api.access import KeeperOf, Someone, refusals
from manyveils.server.api.models import IdInPath, JobSaid
from manyveils.server.jobs import MOST_TITLE, Job, Worker
from manyveils.server.people import require
from manyveils.server.uploads import Upload

router = APIRouter(tags=["jobs"])
FIELDS: dict[str, Any] = {
    "title": {"type": "string", "minLength": 1, "maxLength": MOST_TITLE},
    "format": {"type": "string", "enum": ["csv", "parquet"], "default": "csv"},
    "policy": {"type": "string", "format": "binary", "description": "The policy, .toml or .json."},
    "data": {"type": "string", "format": "binary", "description": "The data, .csv, .parquet, .arrow, …"},
}
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {"type": "object", "properties": FIELDS, "required": ["title", "policy", "data"]}
            }
        },
    }
}


@router.post(
    "/jobs",
    status_code=202,
    response_model=JobSaid,
    responses=refusals(400, 401, 403, 413, 422),
    openapi_extra=FORM,
)
async def submit(request: Request, person: Someone) -> Job:
    """Upload data and a policy to be published in the background; for owners."""
    # The form is read here and not by the framework, which would take in what strangers send.
    require(person, "owner")
    async with request.form(max_files=2, max_fields=4) as form:
        worker: Worker = request.app.state.worker
        return await run_in_threadpool(_submit, worker, person, form)


def _submit(worker: Worker, person: Someone, form: FormData) -> Job:
    title, form_of_tables = form.get("title"), form.get("format", "csv")
    if not isinstance(title, str) or not isinstance(form_of_tables, str):
        raise InputError.at("title", "must be given as a text.")
    return worker.submit(
        person,
        title=title,
        policy=upload_of(form, "policy"),
        data=upload_of(form, "data"),
        format=form_of_tables,
    )


def upload_of(form: FormData, field: str) -> Upload:
    """The file in a field of a form."""
    found = form.get(field)
    if not isinstance(found, UploadFile):
        raise InputError.at(field, "must be given as a file.")
    return Upload(found.filename or "", found.file)


@router.get("/jobs", response_model=list[JobSaid], responses=refusals(401, 403))
def all_jobs(person: Someone, keeper: KeeperOf) -> list[Job]:
    """The last jobs, newest first; for owners."""
    return jobs.all_jobs(keeper, person)


@router.get("/jobs/{job}", response_model=JobSaid, responses=refusals(401, 403, 404, 422))
def one_job(job: IdInPath, person: Someone, keeper: KeeperOf) -> Job:
    """One job with its progress, and its audit once it is done; for owners."""
    return jobs.job(keeper, person, job)
