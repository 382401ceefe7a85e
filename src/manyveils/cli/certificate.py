"""The certificate that `manyveils report --certificate` writes."""

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manyveils.reports import Report


def certified(page: "Report", release: Path) -> str:
    """A certificate of the release in a folder, of today."""
    from manyveils import __version__
    from manyveils.release.ledger import digest_of
    from manyveils.reports.certificate import certificate

    day, name = date.today().isoformat(), release.resolve().name
    return certificate(page.document, name=name, digest=digest_of(release), day=day, version=__version__)
