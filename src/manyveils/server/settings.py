"""How a server is set up: where it keeps things, where it listens, and its limits."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

KEY_VARIABLE = "MANYVEILS_SERVER_KEY"
SQLITE = "server.sqlite"
MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Provider:
    """Where people sign in elsewhere, as whom this server asks there, and the claim that says who they are."""

    issuer: str
    client: str
    secret: str = field(repr=False)
    claim: str = "sub"


@dataclass(frozen=True)
class Settings:
    """Where a server keeps things, where it listens, and what it allows."""

    folder: Path
    # The address of a database may hold a password.
    database: str | None = field(default=None, repr=False)
    host: str = "127.0.0.1"
    port: int = 8000
    key_file: Path | None = None
    upload_limit: int = 200 * MEGABYTE
    body_limit: int = MEGABYTE
    # What a job may take before it is ended, and how many may wait.
    job_memory: int = 8_000 * MEGABYTE
    job_seconds: float = 4 * 3600.0
    queue: int = 20
    # Days that jobs stay once they are over; and releases that are not listed, if they are not to stay for ever.
    job_days: int = 90
    unlisted_days: int | None = None
    token_hours: int = 24
    session_hours: int = 12
    idle_minutes: int = 60
    # The names that this server goes by; with none, every name.
    names: frozenset[str] = frozenset()
    # The networks that may read the numbers for Prometheus, beside this machine.
    metrics_for: tuple[str, ...] = ()
    provider: Provider | None = None
    # Where else it is told where the log ends: syslog:… or https://….
    export: str | None = None
    # Whether a web server with TLS passes requests on, and says who sent them.
    behind_proxy: bool = False

    @property
    def temporary(self) -> Path:
        """Where uploads are while they come in: beside other data, not where everybody's files are."""
        return self.folder / "incoming"

    @property
    def sqlite(self) -> Path:
        """The database, unless another is given."""
        return (self.folder / SQLITE).resolve()

    @property
    def releases(self) -> Path:
        """Where the folders of complete releases are."""
        return self.folder / "releases"

    @property
    def work(self) -> Path:
        """Where uploads and unfinished releases are."""
        return self.folder / "work"


def is_loopback(host: str) -> bool:
    """Whether a host name means this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
