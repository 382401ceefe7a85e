"""A certificate of a release: one page to print and sign, drawn from the results that its report has."""

from collections.abc import Mapping
from typing import Any

from manyveils.reports.consequences import consequences_of
from manyveils.reports.page import PAGES, Numbers, verdict_of


def certificate(document: Mapping[str, Any], *, name: str, digest: str, day: str, version: str) -> str:
    """What is promised, whether it is kept, and what may be learnt all the same, on a page of HTML."""
    numbers = Numbers(document)
    return PAGES.get_template("certificate.html").render(
        document=document,
        at=numbers.shown,
        percent=numbers.percent,
        verdict=verdict_of(document),
        consequences=consequences_of(document),
        name=name,
        digest=digest,
        day=day,
        version=version,
    )
