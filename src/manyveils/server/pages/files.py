"""The few files that pages need: a style sheet, a script for progress, a picture."""

from pathlib import Path

from starlette.responses import FileResponse, Response

from manyveils.server.pages.routing import pages
from manyveils.server.refusals import no_such

router = pages()
FOLDER = Path(__file__).with_name("static")
KINDS = {"style.css": "text/css", "progress.js": "text/javascript", "veil.svg": "image/svg+xml"}


@router.get("/static/{name}")
async def static(name: str) -> Response:
    """One of the files."""
    if name not in KINDS:
        raise no_such("file")
    return FileResponse(FOLDER / name, media_type=KINDS[name], headers={"Cache-Control": "max-age=3600"})
