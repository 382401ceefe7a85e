"""A client for programs: asks a trusted server, and raises its refusals as errors with its words."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

from manyveils import errors
from manyveils.errors import InputError, ManyveilsError, Problem
from manyveils.keys import Meaning
from manyveils.server import refusals
from manyveils.server.settings import is_loopback

if TYPE_CHECKING:
    import httpx

PAGE = 100
NO_ADDRESS = "must start with https:// and name a server."


class Client:
    """Ask a trusted server, with a token, or with a name, a password and perhaps a one-time code."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        name: str | None = None,
        password: str | None = None,
        code: str = "",
        scopes: Sequence[str] | None = None,
        timeout: float = 60.0,
    ) -> None:
        import httpx

        _refuse_plain(url)
        if token is not None and not (token.isascii() and token.isprintable()):
            raise InputError.at("token", "has characters that no token has.")
        try:
            self._http = httpx.Client(base_url=f"{url.rstrip('/')}/api/v1", timeout=timeout)
        except httpx.InvalidURL:
            raise InputError.at("url", NO_ADDRESS) from None
        if token is None and name is not None:
            login = {"name": name, "password": password or "", "code": code}
            wish = {} if scopes is None else {"scopes": list(scopes)}
            token = self._ask("POST", "/token", json=login | wish)["token"]
        if token is not None:
            self._http.headers["Authorization"] = f"Bearer {token}"

    def me(self) -> dict[str, Any]:
        """The account that this client uses."""
        return self._ask("GET", "/me")

    def releases(self) -> list[dict[str, Any]]:
        """The releases of the server's catalogue, with their manifests."""
        releases: list[dict[str, Any]] = []
        while page := self._ask("GET", "/releases", params={"skip": len(releases), "most": PAGE}):
            releases += page
            if len(page) < PAGE:
                break
        return releases

    def files(self, release: str) -> list[str]:
        """The names of a release's files."""
        return [file["name"] for file in self._ask("GET", f"{_path(release)}/files")]

    def download(self, release: str, folder: str | Path) -> Path:
        """Fetch a release into a new folder, from which `mv.Release.load` reads it."""
        from manyveils.release.folder import staged

        if os.path.lexists(folder):
            raise InputError.at(str(folder), "is there already.", "Choose another place.")
        with staged(Path(folder)) as staging:
            for number, name in enumerate(self.files(release)):
                path = staging / _plain(name)
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(self._send("GET", f"{_path(release)}/files/{number}").content)
        return Path(folder)

    def interpret(self, release: str, attribute: str, value: str) -> Meaning:
        """What a published value means."""
        asked = {"attribute": attribute, "published": str(value)}
        return Meaning(**self._ask("POST", f"{_path(release)}/interpret/value", json=asked))

    def interpret_rule(self, release: str, rule: str) -> str:
        """A rule with meanings in place of codes and grades."""
        return str(self._ask("POST", f"{_path(release)}/interpret/rule", json={"rule": rule})["rule"])

    def interpret_table(
        self, release: str, names: Sequence[str], rows: Sequence[Sequence[object]]
    ) -> list[list[str]]:
        """A small table of published values, cell by cell."""
        cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
        asked = {"names": list(names), "rows": cells}
        return list(self._ask("POST", f"{_path(release)}/interpret/table", json=asked)["rows"])

    def grants(self) -> list[dict[str, Any]]:
        """The grants of this researcher; all of them for an owner."""
        return self._ask("GET", "/grants")

    def publish(
        self,
        data: str | Path,
        policy: str | Path,
        *,
        title: str,
        format: str = "csv",  # noqa: A002
    ) -> dict[str, Any]:
        """Upload data and a policy to be published in the background; gives the job. For owners."""
        with _opened(policy=Path(policy), data=Path(data)) as files:
            return self._ask("POST", "/jobs", data={"title": title, "format": format}, files=files)

    def job(self, job: str) -> dict[str, Any]:
        """A job with its progress, and its audit once it is done."""
        return self._ask("GET", f"/jobs/{quote(job, safe='')}")

    def wait(self, job: str, *, timeout: float = 3600.0, every: float = 0.5) -> dict[str, Any]:
        """A job once it is over; one that failed is an error with its reason."""
        end = time.monotonic() + timeout
        while (state := self.job(job))["state"] in ("queued", "running"):
            if time.monotonic() > end:
                raise ManyveilsError.at("job", "is not over yet.", "Wait longer.")
            time.sleep(every)
        if state["state"] == "failed":
            raise ManyveilsError.at("job", str(state["error"]))
        return state

    def list(self, release: str, *, listed: bool = True) -> dict[str, Any]:
        """List a release in the catalogue, or take it off the list; for owners."""
        return self._ask("PATCH", _path(release), json={"listed": listed})

    def log_out(self) -> None:
        """Revoke the token that this client uses."""
        self._send("DELETE", "/token")

    def close(self) -> None:
        """Close the connection; the token stays good."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self._http.base_url.host}>"

    def _ask(self, method: str, path: str, **content: Any) -> Any:
        try:
            return self._send(method, path, **content).json()
        except ValueError:
            raise ManyveilsError.at("server", "does not answer as a manyveils server.") from None

    def _send(self, method: str, path: str, **content: Any) -> "httpx.Response":
        import httpx

        try:
            response = self._http.request(method, path, **content)
        except httpx.HTTPError as error:
            raise ManyveilsError.at("server", f"does not answer ({type(error).__name__}).") from None
        if not response.is_success:
            raise _error(response)
        return response


def _path(release: str) -> str:
    return f"/releases/{quote(release, safe='')}"


def _error(response: "httpx.Response") -> ManyveilsError:
    """The server's refusal as an error of the same class, with the same problems."""
    try:
        body = response.json()
        problems = [Problem(**problem) for problem in body["problems"]]
        name = str(body["error"])
    except (ValueError, KeyError, TypeError):
        problems, name = [Problem("server", f"answers with status {response.status_code}.")], ""
    kind = getattr(errors, name, None) or getattr(refusals, name, None)
    if not isinstance(kind, type) or not issubclass(kind, ManyveilsError):
        kind = ManyveilsError
    return kind(problems)


def _refuse_plain(url: str) -> None:
    """Passwords and meanings do not travel unencrypted, except inside one machine."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address:
        raise InputError.at("url", NO_ADDRESS)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise InputError.at("url", "would send secrets in the clear.", "Use https://.")


def _plain(name: str) -> str:
    """A file's name inside a release folder; a server that sends another is refused."""
    parts = name.split("/")
    if len(parts) > 2 or any(part in ("", ".", "..") or "\\" in part for part in parts):
        raise ManyveilsError.at("server", "names a file that points elsewhere.")
    return name


@contextmanager
def _opened(**paths: Path) -> Iterator[dict[str, Any]]:
    with ExitStack() as stack:
        try:
            yield {field: (path.name, stack.enter_context(path.open("rb"))) for field, path in paths.items()}
        except OSError as error:
            raise InputError.at(str(error.filename), f"cannot be read: {error.strerror}.") from None
