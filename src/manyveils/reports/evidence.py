"""What reviewers ask of a release, each with the places of the results that answer it; nothing here is a verdict in law."""

from collections.abc import Iterator, Mapping
from typing import Any

from manyveils.plain import readable
from manyveils.reports.page import pointer

Plain = Mapping[str, Any]
# Opinion 05/2014 of the Article 29 Working Party on anonymisation techniques, section 2.2: what it asks, which promises
# and attacks speak of it, and which measures.
SIZES = ("k-anonymity", "key-k-anonymity", "k-m-anonymity", "prosecutor-risk", "marketer-risk", "not-exposed")
LINKS = ("k-map", "journalist-risk")
QUESTIONS: Mapping[str, dict[str, Any]] = {
    "singling out": {
        "asks": "Can some or all records of an individual be isolated?",
        "findings": lambda finding: finding["promise"] in SIZES,
        "attacks": ("linkage", "membership"),
        "measures": ("singled_out", "sample_uniques", "prosecutor_risk"),
    },
    "linkability": {
        "asks": "Can records of the same individual, or of a group of individuals, be linked, in one table or in two?",
        "findings": lambda finding: finding["promise"] in LINKS or finding["reading"] == "sightings",
        "attacks": ("intersection", "sequential", "known-pairs"),
        "measures": ("journalist_risk",),
    },
    "inference": {
        "asks": "Can the value of an attribute be deduced, with significant probability, from other attributes?",
        "findings": lambda finding: (
            finding["reading"] != "release" and finding["promise"] not in SIZES + LINKS
        ),
        "attacks": (
            *("homogeneity", "skewness", "similarity", "elimination", "background-join", "proximity"),
            *("divergence", "minimality", "de-finetti", "dependency", "alias-frequency"),
        ),
        "measures": (),
    },
}
UNANSWERED = "not answered"
# The findings about what may not stand in a table, and about what is not listed.
EXPOSED, LISTED = "not-exposed", "nothing-but-listed"


def evidence_of(document: Plain, categories: list[dict[str, Any]]) -> dict[str, Any]:
    """The three questions and the eighteen categories, each with pointers into the document, or not answered."""
    return {
        "questions": [_question(name, question, document) for name, question in QUESTIONS.items()],
        "categories": [category | _pointed(category, document) for category in categories],
    }


def _question(name: str, question: Plain, document: Plain) -> dict[str, Any]:
    answers = [*_findings(question, document), *_attacks(question, document), *_measures(question, document)]
    return {
        "question": name,
        "asks": question["asks"],
        "status": "answered" if answers else UNANSWERED,
        "answers": answers,
    }


def _findings(question: Plain, document: Plain) -> Iterator[dict[str, str]]:
    """Every finding that speaks of a question, with what it found."""
    for place, finding in enumerate(document["audit"]["findings"]):
        if (finding["promised"] or not finding["kept"]) and question["findings"](finding):
            about = " of ".join(filter(None, (finding["promise"], finding["attribute"])))
            verdict = "kept" if finding["kept"] else f"not kept; {_short(finding)}"
            promised = "promised" if finding["promised"] else "not promised"
            says = f"{about} ({finding['reading']}, {promised}): {verdict}"
            yield {"at": pointer(("audit", "findings", place)), "says": says}


def _short(finding: Plain) -> str:
    """By how much a finding falls short: in rows, or in faults of the release itself."""
    if finding["reading"] == "release":
        return f"{readable(finding['measured'])} faults"
    return f"{readable(finding['rows_short'])} rows fall short"


def _attacks(question: Plain, document: Plain) -> Iterator[dict[str, str]]:
    attacks = document.get("attack", {}).get("attacks", {})
    for name in question["attacks"]:
        if name in attacks and attacks[name]["applies"]:
            yield {"at": pointer(("attack", "attacks", name)), "says": f"{name}: {attacks[name]['verdict']}"}


def _measures(question: Plain, document: Plain) -> Iterator[dict[str, str]]:
    for name in question["measures"]:
        value = document.get("measure", {}).get(name)
        if isinstance(value, int | float):
            yield {"at": pointer(("measure", name)), "says": f"{name} = {value:.4g}"}


def _pointed(category: Plain, document: Plain) -> dict[str, Any]:
    """Where it stands what became of a category: in the columns of views, or in findings about what may not be there."""
    names = {column["name"]: column["status"] for column in category["columns"]}
    places = [*_columns(names, document), *_absences(names, document)]
    return {"at": places or UNANSWERED}


def _columns(names: Mapping[str, str], document: Plain) -> Iterator[str]:
    """The columns of views in which attributes are published, as they are or as derived ones."""
    derived = document["manifest"].get("derived", {})
    shown = {part for name in names for part in (name, *derived.get(name, ()))}
    for number, view in enumerate(document["manifest"]["views"]):
        for place, column in enumerate(view["columns"]):
            if not shown.isdisjoint(column["attributes"]):
                yield pointer(("manifest", "views", number, "columns", place))


def _absences(names: Mapping[str, str], document: Plain) -> Iterator[str]:
    """The findings that nothing unlisted is there, where something is removed, and about what must not be there."""
    for place, finding in enumerate(document["audit"]["findings"]):
        is_about_all = finding["promise"] == LISTED and "removed" in names.values()
        if is_about_all or (finding["promise"] == EXPOSED and finding["attribute"] in names):
            yield pointer(("audit", "findings", place))
