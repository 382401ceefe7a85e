"""`manyveils serve`: the trusted server."""

import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from manyveils.cli.door import Door, open_door
from manyveils.cli.options import AsJson, option
from manyveils.cli.server import (
    FOLDER,
    Database,
    DatabaseFile,
    Folder,
    KeyFile,
    add_commands,
    database_from,
    read_secret_file,
    refuse_absence,
)
from manyveils.errors import InputError

if TYPE_CHECKING:
    from manyveils.server.demo import Demo
    from manyveils.server.keeper import Keeper
    from manyveils.server.settings import Provider, Settings

MEGABYTE = 1_000_000
app = typer.Typer(
    invoke_without_command=True,
    epilog="Example: manyveils serve --demo",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
add_commands(app)


@app.callback()
def command(
    context: typer.Context,
    folder: Folder = None,
    database: Database = None,
    database_file: DatabaseFile = None,
    key_file: KeyFile = None,
    host: Annotated[str, option("Where to listen; this machine alone by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free one.")] = 8000,
    name: Annotated[
        list[str] | None, option("A name of this server; with one, other hosts are refused.")
    ] = None,
    upload_limit: Annotated[int, option("Megabytes of data an owner may upload.", min=1)] = 200,
    job_memory: Annotated[int, option("Megabytes of memory a job may take.", min=300)] = 8000,
    job_hours: Annotated[float, option("Hours a job may take.", min=0)] = 4,
    queue: Annotated[int, option("Jobs that may wait.", min=1)] = 20,
    unlisted_days: Annotated[
        int | None, option("Days after which unlisted releases are deleted.", min=1)
    ] = None,
    export: Annotated[
        str | None, option("Where else to tell where the log ends: syslog:///dev/log or https://….")
    ] = None,
    metrics_for: Annotated[
        list[str] | None, option("A network that may read /metrics, as 10.0.0.0/8.")
    ] = None,
    log_requests: Annotated[
        bool, option("Write a line of JSON per request to stderr.", "--log-requests")
    ] = False,
    oidc_issuer: Annotated[str | None, option("The provider of sign-in (OpenID Connect).")] = None,
    oidc_client: Annotated[str, option("As whom this server asks the provider.")] = "manyveils",
    oidc_secret_file: Annotated[Path | None, option("The file with the secret for the provider.")] = None,
    oidc_claim: Annotated[str, option("What the provider says that names an account.")] = "sub",
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
        refuse_absence()
        from manyveils.server.settings import Settings

        settings = Settings(
            folder or FOLDER,
            database_from(database, database_file),
            key_file=key_file,
            host=host,
            port=port,
            names=frozenset(given.lower() for given in name or ()),
            upload_limit=upload_limit * MEGABYTE,
            job_memory=job_memory * MEGABYTE,
            job_seconds=job_hours * 3600,
            queue=queue,
            unlisted_days=unlisted_days,
            export=export,
            metrics_for=_networks(metrics_for or []),
            provider=_provider(oidc_issuer, oidc_client, oidc_secret_file, oidc_claim),
            behind_proxy=behind_proxy,
        )
        _serve(settings, door, demo=demo, log_requests=log_requests)


def _provider(issuer: str | None, client: str, secret: Path | None, claim: str) -> "Provider | None":
    if issuer is None:
        return None
    if secret is None:
        raise InputError.at("--oidc-secret-file", "is missing.", "Give the file that holds the secret.")
    from manyveils.server.settings import Provider

    return Provider(issuer, client, read_secret_file(secret), claim)


def _networks(given: list[str]) -> tuple[str, ...]:
    from ipaddress import ip_network

    for network in given:
        try:
            ip_network(network)
        except ValueError:
            raise InputError.at("--metrics-for", "must be a network.", "Write it as 10.0.0.0/8.") from None
    return tuple(given)


def _serve(settings: "Settings", door: Door, *, demo: bool, log_requests: bool) -> None:
    from manyveils.server.app import close_app, create_app
    from manyveils.server.demo import prepare
    from manyveils.server.listening import listen, serve
    from manyveils.server.observing import write_json_logs

    write_json_logs(requests=log_requests)
    with listen(settings) as (sockets, url):
        served = create_app(settings)
        try:
            filled = prepare(served.state.worker) if demo else None
        except BaseException:
            close_app(served)
            raise
        state = served.state
        serve(served, sockets, lambda: _announce(state.keeper, filled, url, door, state.warning))


def _announce(
    keeper: "Keeper", demo: "Demo | None", url: str, door: Door, warning: str | None = None
) -> None:
    from manyveils.server.accounts import has_owner
    from manyveils.server.settings import is_loopback

    warnings = (None if is_loopback(keeper.settings.host) else PLAIN, warning)
    warning = " ".join(filter(None, warnings)) or None
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
