"""`manyveils serve`: the trusted server, its first owner, and a check of its log."""

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import Door, open_door
from manyveils.cli.options import AsJson, option
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.server.demo import Demo
    from manyveils.server.keeper import Keeper
    from manyveils.server.settings import Settings

FOLDER = Path("manyveils-server")
Folder = Annotated[Path | None, option(f"Where the server keeps things; {FOLDER} by default.")]
Database = Annotated[str | None, option("postgresql+psycopg://…; a SQLite file in the folder by default.")]
KeyFile = Annotated[Path | None, option("The file with the server key (mode 0600).")]

app = typer.Typer(
    invoke_without_command=True,
    epilog="Example: manyveils serve --demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def command(
    context: typer.Context,
    folder: Folder = None,
    database: Database = None,
    key_file: KeyFile = None,
    host: Annotated[str, option("Where to listen; this machine alone by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free one.")] = 8000,
    upload_limit: Annotated[int, option("Megabytes of data an owner may upload.", min=1)] = 200,
    behind_proxy: Annotated[
        bool, option("A web server with TLS passes requests on; believe its headers.", "--behind-proxy")
    ] = False,
    demo: Annotated[bool, option("Fill an empty server with something to try.", "--demo")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep the keys of releases, and read results with them for researchers who may know."""
    if context.invoked_subcommand is not None:
        return
    with open_door(as_json=as_json) as door, ExitStack() as stack:
        if demo and folder is None:
            temporary = stack.enter_context(TemporaryDirectory(prefix="manyveils-server-"))
            folder = Path(temporary) / "server"
        _refuse_absence()
        from manyveils.server.settings import Settings

        settings = Settings(
            folder or FOLDER,
            database,
            key_file=key_file,
            host=host,
            port=port,
            upload_limit=upload_limit * 1_000_000,
            behind_proxy=behind_proxy,
        )
        _serve(settings, door, demo=demo)


@app.command("add-owner", epilog="Example: manyveils serve add-owner maria")
def add_owner(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The new owner's name.")],
    password_stdin: Annotated[bool, option("Read the password from stdin.", "--password-stdin")] = False,
    folder: Folder = None,
    database: Database = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Make an account that may publish, grant and administer; the first one comes from here."""
    with open_door(as_json=as_json) as door:
        from manyveils.server import accounts

        keeper = _keeper(context, folder, database, key_file)
        accounts.add_owner(keeper, name, _password(from_stdin=password_stdin))
        words = [*filter(None, [keeper.told]), f"{name} is an owner now."]
        door.show({"owner": name, "told": keeper.told}, lambda: typer.echo("\n".join(words)))


@app.command("verify-log", epilog="Example: manyveils serve verify-log --folder manyveils-server")
def verify_log(
    context: typer.Context,
    folder: Folder = None,
    database: Database = None,
    key_file: KeyFile = None,
    as_json: AsJson = False,
) -> None:
    """Walk the log from its start; exit status 1 if an entry was changed, removed or added from outside."""
    with open_door(as_json=as_json) as door:
        from dataclasses import asdict

        from manyveils.server.verifying import verify_log as verified

        verdict = verified(_keeper(context, folder, database, key_file, existing=True))
        whole = f"The log is whole: {verdict.entries} entries, the last with the hash {verdict.head}."
        where = "" if verdict.broken is None else f" at entry {verdict.broken}"
        broken = f"The log is BROKEN{where}: {verdict.reason}."
        door.show(asdict(verdict), lambda: typer.echo(whole if verdict.whole else broken))
        if not verdict.whole:
            raise typer.Exit(1)


def _refuse_absence() -> None:
    try:
        import fastapi  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError:
        remedy = "Run: pip install 'manyveils[server]'"
        raise InputError.at("serve", "needs packages that are not installed.", remedy) from None


def _keeper(
    context: typer.Context,
    folder: Path | None,
    database: str | None,
    key_file: Path | None,
    *,
    existing: bool = False,
) -> "Keeper":
    """The keeper a sub-command works on; options may stand before or after its name."""
    before = context.parent.params if context.parent else {}
    _refuse_absence()
    from manyveils.server.keeper import open_keeper
    from manyveils.server.settings import Settings

    settings = Settings(
        folder or before.get("folder") or FOLDER,
        database or before.get("database"),
        key_file=key_file or before.get("key_file"),
    )
    return open_keeper(settings, existing=existing)


def _password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise InputError.at("password", "is asked for on a terminal.", "Or give --password-stdin.")
    return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))


def _serve(settings: "Settings", door: Door, *, demo: bool) -> None:
    from manyveils.server.app import close_app, create_app
    from manyveils.server.demo import prepare
    from manyveils.server.listening import listen, serve

    with listen(settings) as (sockets, url):
        served = create_app(settings)
        try:
            filled = prepare(served.state.worker) if demo else None
        except BaseException:
            close_app(served)
            raise
        serve(served, sockets, lambda: _announce(served.state.keeper, filled, url, door))


def _announce(keeper: "Keeper", demo: "Demo | None", url: str, door: Door) -> None:
    from manyveils.server.accounts import has_owner
    from manyveils.server.settings import is_loopback

    warning = None if is_loopback(keeper.settings.host) else PLAIN
    document = {
        "url": url,
        "folder": str(keeper.settings.folder),
        "told": keeper.told,
        "warning": warning,
        "demo": {"release": demo.release, "passwords": dict(demo.passwords)} if demo else None,
    }
    sentences = (
        keeper.told,
        warning,
        None if has_owner(keeper) else NO_OWNER,
        _how(demo, url) if demo else None,
        f"Serving {url}; Ctrl-C ends it.",
    )
    door.show(document, lambda: typer.echo("\n".join(filter(None, sentences))))
    sys.stdout.flush()


PLAIN = (
    "WARNING: other machines can reach this server, and it speaks plain HTTP. Put TLS in front of it; "
    "browsers keep its cookies over TLS only, so nobody can log in with one otherwise."
)
NO_OWNER = "There is no owner yet. Make one: manyveils serve add-owner NAME"


def _how(demo: "Demo", url: str) -> str:
    accounts = "\n".join(f"  {name:<10}  {password}" for name, password in demo.passwords.items())
    return (
        f"Accounts and their passwords, told this once:\n{accounts}\n"
        f"Log in at {url}, or from Python:\n"
        f'  client = mv.Client("{url}", name="researcher", password=…)\n'
        f'  client.interpret("{demo.release}", attribute, value)'
    )
