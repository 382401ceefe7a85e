"""Publishing: an upload becomes a job, a job becomes a release that is not listed yet."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from manyveils.errors import InputError
from manyveils.server import jobs
from manyveils.server.api.access import KeeperOf, Someone, refusals
from manyveils.server.api.models import IdInPath
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


@router.post("/jobs", status_code=202, responses=refusals(400, 401, 403, 413, 422), openapi_extra=FORM)
async def submit(request: Request, person: Someone) -> Job:
    """Upload data and a policy to be published in the background; for owners."""
    # The form is read here and not by the framework, which would take in what anybody sends.
    require(person, "owner")
    async with request.form(max_files=2, max_fields=4) as form:
        worker: Worker = request.app.state.worker
        return await run_in_threadpool(_submit, worker, person, form)


def _submit(worker: Worker, person: Someone, form: FormData) -> Job:
    texts = {"title": form.get("title"), "format": form.get("format", "csv")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise InputError.at("title", "must be given as a text.")
    uploads = {field: upload_of(form, field) for field in ("policy", "data")}
    return worker.submit(person, **texts, **uploads)  # type: ignore[arg-type]


def upload_of(form: FormData, field: str) -> Upload:
    """The file in a field of a form."""
    upload = form.get(field)
    if not isinstance(upload, UploadFile):
        raise InputError.at(field, "must be given as a file.")
    return Upload(upload.filename or "", upload.file)


@router.get("/jobs", responses=refusals(401, 403))
def all_jobs(person: Someone, keeper: KeeperOf) -> list[Job]:
    """The last jobs, newest first; for owners."""
    return jobs.all_jobs(keeper, person)


@router.get("/jobs/{job}", responses=refusals(401, 403, 404, 422))
def one_job(job: IdInPath, person: Someone, keeper: KeeperOf) -> Job:
    """One job with its progress, and its audit once it is done; for owners."""
    return jobs.job(keeper, person, job)
