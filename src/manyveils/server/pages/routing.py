"""How pages are made: templates, and forms that only this server's pages can send."""

from functools import cache
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.routing import APIRoute
from starlette.datastructures import FormData
from starlette.responses import HTMLResponse, RedirectResponse, Response

from manyveils.errors import InputError
from manyveils.server.api.access import session_of
from manyveils.server.logins import Session
from manyveils.server.refusals import Forbidden, Person, Unauthenticated

TEMPLATES = Path(__file__).with_name("templates")


class PageRoute(APIRoute):
    """A page, which can also be asked for its headers alone."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        if self.methods and "GET" in self.methods:
            self.methods.add("HEAD")


# The visitor's session; a form must carry its token.
SessionHere = Annotated[Session | None, Depends(session_of)]


async def person_here(session: SessionHere) -> Person:
    """The visitor, who must have logged in."""
    if session is None:
        raise Unauthenticated.at("login", "is needed.", "Log in.")
    return session.person


PersonHere = Annotated[Person, Depends(person_here)]


@cache
def _templates() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )


def show(request: Request, template: str, *, status: int = 200, **context: Any) -> Response:
    """A page from its template."""
    session: Session | None = getattr(request.state, "session", None)
    visitor = {"person": session.person, "csrf": session.csrf} if session else {"person": None, "csrf": ""}
    page = _templates().get_template(template)
    elsewhere = hasattr(request.app.state, "provider")
    return HTMLResponse(page.render(here=request.url.path, elsewhere=elsewhere, **visitor, **context), status)


def go(path: str) -> Response:
    """Send the browser on after a form was taken."""
    return RedirectResponse(path, 303)


async def form_of(request: Request) -> FormData:
    """The form that a request brings, read once."""
    return await request.form(max_files=4, max_fields=50)


Form = Annotated[FormData, Depends(form_of)]


async def fields_of(form: Form) -> dict[str, str]:
    """The texts of a form; none may hold the character that no database takes."""
    texts = {name: value for name, value in form.items() if isinstance(value, str)}
    if any("\x00" in value for value in texts.values()):
        raise InputError.at("form", "holds a character that cannot be kept (NUL).", "Type it again.")
    return texts


Fields = Annotated[dict[str, str], Depends(fields_of)]


def text(form: dict[str, str], name: str, most: int = 1000) -> str:
    """One text of a form, which must be there."""
    value = form.get(name, "")
    if not value.strip():
        raise InputError.at(name, "is missing.", "Fill it in.")
    if len(value) > most:
        raise InputError.at(name, f"has more than {most:,} characters.")
    return value


def whole_number(form: dict[str, str], name: str) -> int:
    """A whole number of a form."""
    value = form.get(name, "").strip()
    if not value.isascii() or not value.isdigit() or len(value) > 9:
        raise InputError.at(name, "must be a whole number.")
    return int(value)


def yes_or_no(form: dict[str, str], name: str) -> bool:
    """A choice in a form; what is neither is refused, because a guess could be the wrong one."""
    value = form.get(name, "")
    if value not in ("yes", "no"):
        raise InputError.at(name, "must be yes or no.")
    return value == "yes"


async def refuse_other_sites(request: Request) -> None:
    """Refuse a form that another site's page sent; before a login there is no token to ask for."""
    # Browsers that are told to send no referrer call the origin null, and say the same in another header.
    origin = request.headers.get("origin", "null")
    is_other = origin != "null" and urlsplit(origin).netloc != request.headers.get("host", "")
    if is_other or request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Forbidden.at("request", "comes from another site.", "Log in on this server's own page.")
