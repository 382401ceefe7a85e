"""The sub-commands of `manyveils serve`: its first owners, its log, copies, versions and keys."""

import inspect
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from manyveils.cli.door import Door, open_door
from manyveils.cli.options import AsJson, option
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.server.keeper import Keeper
    from manyveils.server.settings import Settings

FOLDER = Path("manyveils-server")
ADDRESS = "MANYVEILS_DATABASE"
Folder = Annotated[
    Path | None, option(f"Where the server keeps things; {FOLDER} by default.", envvar="MANYVEILS_FOLDER")
]
Database = Annotated[
    str | None,
    option(
        f"postgresql+psycopg://… without a password; or {ADDRESS}; a SQLite file in the folder by default."
    ),
]
DatabaseFile = Annotated[
    Path | None, option("A file with the address of the database.", envvar=f"{ADDRESS}_FILE")
]
KeyFile = Annotated[
    Path | None, option("The file with the server key (mode 0600).", envvar="MANYVEILS_SERVER_KEY_FILE")
]
NewName = Annotated[str, typer.Argument(help="The new owner's name.")]
# What says where a server is, and stands before or after the name of a sub-command.
PLACES: dict[str, Any] = {
    "folder": Folder,
    "database": Database,
    "database_file": DatabaseFile,
    "key_file": KeyFile,
}


@dataclass(frozen=True)
class Server:
    """The server that a sub-command works on."""

    settings: "Settings"

    def keeper(self, *, existing: bool = True) -> "Keeper":
        """It opened."""
        from manyveils.server.keeper import open_keeper

        return open_keeper(self.settings, existing=existing)


def add_commands(app: typer.Typer) -> None:
    """Put every sub-command under `serve`."""
    for name, (work, example) in COMMANDS.items():
        epilog = f"Example: manyveils serve {name} {example}".rstrip()
        app.command(name, epilog=epilog)(_on_a_server(work))


def _on_a_server(work: Callable[..., None]) -> Callable[..., None]:
    """A command that takes where a server is too, and is given the server and the way to talk."""

    @wraps(work)
    def command(context: typer.Context, *, as_json: bool, **given: Any) -> None:
        with open_door(as_json=as_json) as door:
            places = {name: given.pop(name) for name in PLACES}
            work(Server(_settings(context, places)), door, **given)

    own = list(inspect.signature(work).parameters.values())[2:]
    shared = {**PLACES, "as_json": AsJson}
    added = [
        _parameter(name, kind, default=False if name == "as_json" else None) for name, kind in shared.items()
    ]
    first = _parameter("context", typer.Context, default=inspect.Parameter.empty)
    named = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
    command.__signature__ = inspect.Signature([first, *named, *added])  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in [first, *named, *added]}
    return command


def _parameter(name: str, kind: Any, *, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def add_owner(
    server: Server,
    door: Door,
    name: NewName,
    password_stdin: Annotated[bool, option("Read the password from stdin.", "--password-stdin")] = False,
) -> None:
    """Make an account that may publish, grant and administer; the first one comes from here."""
    keeper = server.keeper(existing=False)
    from manyveils.server import accounts

    accounts.add_owner(keeper, name, _password(from_stdin=password_stdin))
    words = [*filter(None, [keeper.told]), f"{name} is an owner now."]
    door.show({"owner": name, "told": keeper.told}, lambda: typer.echo("\n".join(words)))


def confirm_owner(server: Server, door: Door, name: NewName) -> None:
    """Let an owner in whom another owner has made, where there is no second one to confirm it."""
    from manyveils.server import accounts

    accounts.confirm_from_command(server.keeper(), name)
    door.show({"owner": name}, lambda: typer.echo(f"{name} is an owner now."))


def verify_log(
    server: Server,
    door: Door,
    heads: Annotated[Path | None, option("A file with lines that were exported, to compare with.")] = None,
) -> None:
    """Walk the log from its start; exit status 1 if an entry or a row was changed, removed or added from outside."""
    from dataclasses import asdict, replace

    keeper = server.keeper()
    from manyveils.server.export import compare_lines
    from manyveils.server.verifying import verify_log as verified

    verdict = verified(keeper)
    if heads is not None and verdict.whole:
        reason = compare_lines(keeper, _text(heads).splitlines())
        verdict = replace(verdict, whole=not reason, reason=reason)
    whole = f"The log is whole: {verdict.entries} entries, the last with the hash {verdict.head}."
    where = "" if verdict.broken is None else f" at entry {verdict.broken}"
    broken = f"The log is BROKEN{where}: {verdict.reason}."
    document = asdict(verdict) | {"public_key": keeper.secret.public}
    door.show(document, lambda: typer.echo(whole if verdict.whole else broken))
    if not verdict.whole:
        raise typer.Exit(1)


def backup(
    server: Server,
    door: Door,
    target: Annotated[Path, typer.Argument(help="The file to write, which is not there yet.")],
) -> None:
    """Copy the database and the releases, of one moment, into one file; servers may run meanwhile."""
    from manyveils.server.backup import back_up

    entries = back_up(server.keeper(), target)
    words = f"Copied up to entry {entries} of the log. The server key is not in it: keep that elsewhere."
    door.show({"file": str(target), "entries": entries}, lambda: typer.echo(words))


def restore(
    server: Server,
    door: Door,
    source: Annotated[Path, typer.Argument(help="The file that backup wrote.")],
) -> None:
    """Make a server from a copy, in a folder and a database that hold none; the server key must be there."""
    from manyveils.server.backup import restore as restored
    from manyveils.server.verifying import verify_log as verified

    verdict = verified(restored(server.settings, source))
    whole = "The log is whole." if verdict.whole else f"The log is BROKEN: {verdict.reason}."
    words = f"Restored {verdict.entries} entries. {whole}"
    door.show({"entries": verdict.entries, "whole": verdict.whole}, lambda: typer.echo(words))


def migrate(server: Server, door: Door) -> None:
    """Bring the database of an older version to this one, whole or not at all; make a copy of it first."""
    from manyveils.server.keeper import SCHEMA
    from manyveils.server.migrating import migrate as migrated

    before = migrated(server.settings)
    words = f"From version {before} to {SCHEMA}." if before != SCHEMA else "There was nothing to do."
    door.show({"from": before, "to": SCHEMA}, lambda: typer.echo(words))


def rotate_key(
    server: Server,
    door: Door,
    new_key_file: Annotated[
        Path | None, option("Where to write the new key, if it is not kept in the folder.")
    ] = None,
) -> None:
    """Put another server key in the place of the one there is, while no server runs; all logins end."""
    from manyveils.server.upkeep import rotate_key as rotated

    path = rotated(server.keeper(), new_key_file)
    words = f"The server key is now {path}. Keep a copy of it apart from the database."
    door.show({"key_file": path}, lambda: typer.echo(words))


COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "add-owner": (add_owner, "maria"),
    "confirm-owner": (confirm_owner, "paula"),
    "verify-log": (verify_log, "--folder manyveils-server"),
    "backup": (backup, "2030-01-31.tar.gz"),
    "restore": (restore, "2030-01-31.tar.gz --folder new"),
    "migrate": (migrate, ""),
    "rotate-key": (rotate_key, ""),
}


def refuse_absence() -> None:
    """Refuse where the packages of the server are not installed."""
    try:
        import alembic  # noqa: F401
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
        import structlog  # noqa: F401
    except ImportError:
        remedy = "Run: pip install 'manyveils[server]'"
        raise InputError.at("serve", "needs packages that are not installed.", remedy) from None


def database_from(address: str | None, file: Path | None) -> str | None:
    """The address of the database: given without a password, or from a file or the environment."""
    if file is not None:
        return read_secret_file(file)
    if address is None:
        return os.environ.get(ADDRESS) or None
    if _has_password(address):
        remedy = f"Put the address into a file for --database-file, or into {ADDRESS}."
        raise InputError.at("--database", "shows its password to everybody on this machine.", remedy)
    return address


def read_secret_file(path: Path) -> str:
    """A secret from a file that nobody else may read."""
    try:
        if path.stat().st_mode & 0o077:
            raise InputError.at(str(path), "can be read by others.", f"Run: chmod 600 {path}")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise InputError.at(str(path), "cannot be read.") from None


def _has_password(address: str) -> bool:
    from urllib.parse import parse_qs, urlsplit

    try:
        parts = urlsplit(address)
        return bool(parts.password) or "password" in parse_qs(parts.query)
    except ValueError:
        return False


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError.at(str(path), f"cannot be read: {error.strerror}.") from None


def _settings(context: typer.Context, places: dict[str, Any]) -> "Settings":
    before: dict[str, Any] = context.parent.params if context.parent else {}
    refuse_absence()
    from manyveils.server.settings import Settings

    given = {name: places[name] or before.get(name) for name in PLACES}
    if places["database"]:
        given["database_file"] = None
    address = database_from(given["database"], given["database_file"])
    return Settings(given["folder"] or FOLDER, address, key_file=given["key_file"])


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError.at("password", "is asked for on a terminal.", "Or give --password-stdin.")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
