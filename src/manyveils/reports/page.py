"""A report as one HTML file: everything inside, no script, nothing fetched."""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from manyveils.plain import plain
from manyveils.reports.figures import figures, named_columns
from manyveils.reports.numbers import Numbers
from manyveils.reports.verdict import verdict_of
from manyveils.reports.words import GLOSSARY, MEASURES, OWNERS

Plain = Mapping[str, Any]


@dataclass(frozen=True, repr=False)
class Report:
    """What is known of a release, on one page; `document` holds the results it was drawn from."""

    document: Plain
    html: str

    def save(self, path: str | Path) -> Path:
        """Write the page; it is for the owner alone unless it is the public version."""
        target = Path(path)
        target.write_text(self.html, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        # In a frame of its own, so that its style stays inside.
        return f'<iframe srcdoc="{escape(self.html)}" title="Report" style="width:100%;height:40rem;border:0"></iframe>'

    def __repr__(self) -> str:
        kind = "public report" if self.document.get("public") else "report"
        return f"<Report: {kind} of a release by {self.document['manifest']['method']}>"


def render(document: Plain) -> Report:
    """Lay out the results of a document as a page."""
    document = plain(document)
    numbers, public = Numbers(document), bool(document.get("public"))
    page = _environment().get_template("report.html")
    html = page.render(
        document=document,
        at=numbers.shown,
        percent=numbers.percent,
        figures=figures(document),
        named_columns=named_columns,
        public=public,
        verdict=verdict_of(document),
        measures=MEASURES,
        glossary={term: meaning for term, meaning in GLOSSARY.items() if not (public and term in OWNERS)},
    )
    return Report(document, html)


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("manyveils.reports"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
