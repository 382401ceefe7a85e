"""Releases, their manifests and their files; listed ones for everyone."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import FileResponse

from manyveils.server import catalogue
from manyveils.server.api.access import Anyone, KeeperOf, Someone, refusals
from manyveils.server.api.models import FileSaid, IdInPath, ListedChange
from manyveils.server.catalogue import Item
from manyveils.server.keeper import Keeper
from manyveils.server.people import Person

router = APIRouter(tags=["releases"])
Number = Annotated[int, Path(ge=0, le=100_000)]
FileName = Annotated[str, Query(max_length=300, description="A file's name in the manifest.")]
CONTENT = {"content": {"application/octet-stream": {}}, "description": "The file."}
SENT: dict[str, Any] = {
    "response_class": FileResponse,
    "responses": {200: CONTENT, **refusals(401, 404, 409, 422)},
}


@router.get("/releases", responses=refusals(401))
def releases(keeper: KeeperOf, person: Anyone) -> list[Item]:
    """The listed releases; for owners the others too."""
    return catalogue.items(keeper, person)


@router.get("/releases/{release}", responses=refusals(401, 404, 422))
def release(release: IdInPath, keeper: KeeperOf, person: Anyone) -> Item:
    """One release with its manifest."""
    return catalogue.item(keeper, person, release)


@router.patch("/releases/{release}", responses=refusals(400, 401, 403, 404, 413, 422))
def set_listed(release: IdInPath, change: ListedChange, keeper: KeeperOf, person: Someone) -> Item:
    """List a release or take it off the list; for owners."""
    return catalogue.set_listed(keeper, person, release, listed=change.listed)


@router.get("/releases/{release}/files", responses=refusals(401, 404, 422))
def files(release: IdInPath, keeper: KeeperOf, person: Anyone) -> list[FileSaid]:
    """The files of a release with the numbers they are fetched by."""
    names = catalogue.item(keeper, person, release).files
    return [FileSaid(number=number, name=name) for number, name in enumerate(names)]


@router.head("/releases/{release}/files/{number}", include_in_schema=False)
@router.get("/releases/{release}/files/{number}", **SENT)
def file(release: IdInPath, number: Number, keeper: KeeperOf, person: Anyone) -> FileResponse:
    """A file of a release by its number."""
    return _sent(keeper, person, release, number)


@router.head("/releases/{release}/file", include_in_schema=False)
@router.get("/releases/{release}/file", **SENT)
def file_by_name(release: IdInPath, name: FileName, keeper: KeeperOf, person: Anyone) -> FileResponse:
    """A file of a release by its name in the manifest."""
    return _sent(keeper, person, release, name)


def _sent(keeper: Keeper, person: Person | None, release: str, which: int | str) -> FileResponse:
    path = catalogue.file_of(keeper, person, release, which)
    return FileResponse(path, media_type="application/octet-stream", filename=path.name)
