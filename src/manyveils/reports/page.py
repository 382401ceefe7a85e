"""A report as one HTML file: everything inside, no script, nothing fetched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from manyveils.plain import plain, readable
from manyveils.reports.figures import figures, named_columns
from manyveils.reports.words import GLOSSARY, MEASURES, OWNERS

Plain = Mapping[str, Any]
Step = str | int
Steps = Step | tuple[Step, ...]


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


@dataclass(frozen=True, repr=False)
class Numbers:
    """The results of all commands as plain values, shown by their place."""

    document: Plain

    def find(self, *path: Step) -> Any:
        """The value at a place; None where there is none."""
        value: Any = self.document
        for step in path:
            keys = range(len(value)) if isinstance(value, list) else value
            if not isinstance(keys, Mapping | range) or step not in keys:
                return None
            value = value[step]
        return value

    def shown(self, *path: Steps) -> Markup:
        """A number as people read it, with its exact value and its place beside it."""
        return self._marked(path, readable)

    def percent(self, *path: Steps) -> Markup:
        """A share in percent."""
        return self._marked(path, lambda value: f"{100 * value:.3g} %")

    def _marked(self, path: Sequence[Steps], words: Callable[[Any], str]) -> Markup:
        steps = tuple(step for part in path for step in (part if isinstance(part, tuple) else (part,)))
        value = self.find(*steps)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return Markup(escape(readable(value)))
        place = escape(pointer(steps), quote=True)
        return Markup(f'<data value="{value!r}" data-from="{place}">{escape(words(value))}</data>')


def pointer(path: Sequence[Step]) -> str:
    """A place as a JSON pointer (RFC 6901).

    >>> pointer(("audit", "findings", 0, "a/b"))
    '/audit/findings/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def verdict_of(document: Plain) -> Plain:
    """Sort the findings of an audit and the outcomes of attacks; a public document has neither.

    Findings by their index in the audit: `asked` for by the policy, the release's `own` (true of every release), and
    `others`; `broken` are promised and not kept, `joined` not promised and not kept against someone who knows other
    sensitive values. Attacks by name: those `applying`; of them those `beyond` a promised bound, and the `uncapped`,
    where no promise caps what they learn; `successes` has, for each meaning of success, the attacks that mean it.
    """
    findings = document.get("audit", {}).get("findings", [])
    outcomes = document.get("attack", {}).get("attacks", {})

    def indices(is_chosen: Callable[[Plain], bool]) -> list[int]:
        return [index for index, finding in enumerate(findings) if is_chosen(finding)]

    def standing(words: str) -> list[str]:
        return [name for name, outcome in outcomes.items() if outcome["standing"] == words]

    applying = [name for name, outcome in outcomes.items() if outcome["applies"]]
    successes: dict[str, list[str]] = {}
    for name in applying:
        successes.setdefault(outcomes[name]["measures"], []).append(name)
    return {
        "asked": indices(lambda finding: finding["promised"] and finding["reading"] != "release"),
        "own": indices(lambda finding: finding["promised"] and finding["reading"] == "release"),
        "others": indices(lambda finding: not finding["promised"]),
        "broken": indices(lambda finding: finding["promised"] and not finding["kept"]),
        "joined": indices(_is_joined),
        "applying": applying,
        "beyond": standing("broken"),
        "uncapped": standing("not promised"),
        "successes": successes,
    }


def _is_joined(finding: Plain) -> bool:
    return finding["reading"] == "conditional" and not finding["promised"] and not finding["kept"]


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("manyveils.reports"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
