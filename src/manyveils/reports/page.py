"""A report as one HTML file: everything inside, no script, nothing fetched; and what it says in words."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from manyveils.plain import plain, readable
from manyveils.reports.adversaries import in_words
from manyveils.reports.consequences import consequences_of
from manyveils.reports.figures import figures, named_columns

Plain = Mapping[str, Any]
Step = str | int
PAGES = Environment(
    loader=PackageLoader("manyveils.reports"),
    autoescape=select_autoescape(["html"]),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
Steps = Step | tuple[Step, ...]
MEASURES = {
    "loss": "how much of the detail of quasi-identifiers is gone (0 none, 1 all)",
    "granularity": "how much of the detail is left: 1 minus loss",
    "precision": "the share of generalization steps that were not taken",
    "height": "generalization steps, all quasi-identifiers together",
    "non_uniform_entropy": "the share of the information in quasi-identifiers that is lost",
    "discernibility": "the sum of squared group sizes: lower is finer",
    "average_class_size": "rows in a group, on average",
    "c_avg": "rows per group divided by k: 1 is as fine as k allows",
    "suppressed_share": "the share of rows left out",
    "qi_disr": "how far quasi-identifiers are distorted",
    "sa_disr": "how far sensitive values are distorted",
    "t_disr": "the sum of qi_disr and sa_disr",
    "distortion_ratio": "distortion, divided by that of publishing nothing but *",
    "sensitive_replaced": "sensitive cells that show something other than a value of the original",
    "singled_out": "the share of people whose presence the release proves",
    "fake_tuples": "combinations of values that fit the release, but are nobody's",
    "matching_buckets_original": "buckets that match a person's values, on average",
    "matching_buckets_fake": "buckets that match a fake tuple, on average",
    "prosecutor_risk": "the chance of finding somebody who is known to be in the data",
    "journalist_risk": "the chance of finding somebody of the population",
    "marketer_risk": "the share of people who are found if all are looked for",
    "sample_uniques": "the share of people who are alone in their group",
    "population_uniques": "the share of the population who are the only ones of their kind; estimates, each by a model that takes the rows for a random sample",
    "individual_risk": "the chance of finding each person; an estimate, by a model of how many people the sampling weights stand for",
    "special_uniques": "people whom few attributes single out, and by how few",
    "association_loss": "the share of the association between sensitive attributes that the release breaks up",
    "information_exposure": "what those who know one sensitive value can read off about others, as a share",
    "kl": "how far the distribution that the release implies is from the original's, in nats",
    "kl_unseen": "the share of original rows that the release takes for impossible",
    "query_error": "how wrong a count over the release is, on average, relative to the true one",
    "query_error_median": "the same error, at the median instead of the mean",
}
# What the kinds of promises come to, with what they require.
PROMISED = {
    "k-anonymity": "nobody stands in a group of fewer than {}",
    "key-k-anonymity": "whoever knows some of the quasi-identifiers has {} people or more before her",
    "prosecutor-risk": "nobody who is known to be in the data is found with a chance of more than {}",
    "marketer-risk": "of all people no more than the share {} is found",
    "k-map": "every group looks like {} people of the population or more",
    "journalist-risk": "nobody of the population is found with a chance of more than {}",
    "distinct-l-diversity": "{} values or more stay possible in every group",
    "frequency-l-diversity": "no value is likelier than one in {}",
    "entropy-l-diversity": "every group is as uncertain as {} equally likely values",
    "t-closeness": "shares of values in a group differ from those of all by {} at most",
    "alpha-k-anonymity": "no value is likelier than {}",
    "linkability": "no value is believed with more than {}",
}
# Attacks by what was promised, the gravest first.
RANKED = {
    "broken": "Beyond a promised bound, by somebody who knows or infers more than the promise speaks of",
    "not promised": "Nothing was promised against it, and some people are known well",
    "within bounds": "Learns something, and no more than was promised",
    "nothing learnt": "Learns nothing about people in the data",
}
ANYWAY = "Any release of this data would suffer it: it gets as much of people who are not in the data"
# What only the owner's page speaks of.
OWNERS = {"attack", "broken", "conditional", "control", "guessing", "interval"}
GLOSSARY = {
    "absent": "Checked in the group of all who were left out, against somebody who knows how common each value is among all.",
    "attack": "What somebody could do to learn about a person; tried here on the release, with the original as the truth.",
    "association": "How strongly two attributes go together (Cramér's V: 0 if they are unrelated, 1 if one determines the other).",
    "bucket": "Rows that are published together; which value of one column goes with which of another inside it is not told.",
    "broken": "Somebody's true value is believed more than the promise allows; without a promise, more than halfway from guessing to certainty.",
    "conditional": "Checked against somebody who knows the person's other sensitive values as well.",
    "control": "What the same attack gets right about people who are not in the data: general knowledge, not a leak.",
    "everybody": "Checked against somebody who knows the quasi-identifiers of all people, and so who can be in which bucket.",
    "group": "Rows that somebody who knows the quasi-identifiers cannot tell apart.",
    "guessing": "What the best guess gets right without the release.",
    "interval": "Where the rate lies with 95 % confidence, if the people who were attacked are taken as a sample.",
    "k": "The fewest rows in a group.",
    "l": "The fewest sensitive values that stay possible in a group; its kind says how they are counted.",
    "quasi-identifier": "What an adversary may know about a person, such as age and home.",
    "sensitive": "What nobody may learn about a person.",
    "sightings": "Checked against somebody who sees a person in several groups, of this release or of earlier ones, and takes the attribute not to change.",
    "suppressed": "Left out of the release.",
    "t": "How far the shares of values in a group may be from those of the whole table.",
    "view": "A published table; a release has one or more.",
}


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
    page = PAGES.get_template("report.html")
    html = page.render(
        document=document,
        at=numbers.shown,
        percent=numbers.percent,
        figures=figures(document),
        named_columns=named_columns,
        in_words=in_words,
        public=public,
        verdict=verdict_of(document),
        consequences=consequences_of(document),
        measures=MEASURES,
        glossary={term: meaning for term, meaning in GLOSSARY.items() if term not in _unspoken(document)},
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
    where no promise caps what they learn; `successes` has, for each meaning of success, the attacks that mean it; `both`
    those that tell of someone who knows one row and of someone who knows all. `anyway` are attacks beyond or uncapped that
    get no more of people in the data than of people outside of them, so that any release of this data would suffer them;
    `ranked` has all that apply by what was promised, each kind with its words.
    """
    findings = document.get("audit", {}).get("findings", [])
    outcomes = document.get("attack", {}).get("attacks", {})

    def indices(is_chosen: Callable[[Plain], bool]) -> list[int]:
        return [index for index, finding in enumerate(findings) if is_chosen(finding)]

    def standing(words: str) -> list[str]:
        return [name for name, outcome in outcomes.items() if outcome["standing"] == words]

    applying = [name for name, outcome in outcomes.items() if outcome["applies"]]
    through = [*standing("broken"), *standing("not promised")]
    anyway = [name for name in through if _is_general(outcomes[name])]
    successes: dict[str, list[str]] = {}
    for name in applying:
        successes.setdefault(outcomes[name]["measures"], []).append(name)
    return {
        "asked": indices(lambda finding: finding["promised"] and finding["reading"] != "release"),
        "own": indices(lambda finding: finding["promised"] and finding["reading"] == "release"),
        "others": indices(lambda finding: not finding["promised"]),
        "broken": indices(lambda finding: finding["promised"] and not finding["kept"]),
        "others_open": any(not finding["promised"] and not finding["kept"] for finding in findings),
        "promised": _promised(document),
        "joined": indices(_is_joined),
        "applying": applying,
        "anyway": anyway,
        "ranked": _ranked(standing, anyway),
        "beyond": standing("broken"),
        "uncapped": standing("not promised"),
        "successes": successes,
        "both": [name for name in applying if outcomes[name].get("all_rows")],
    }


def _ranked(standing: Callable[[str], list[str]], anyway: list[str]) -> dict[str, list[str]]:
    """Attacks that apply by what was promised; those that any release would suffer come after those that are its own."""
    ranked = {
        words: [name for name in standing(kind) if name not in anyway] for kind, words in RANKED.items()
    }
    return {words: names for words, names in {**ranked, ANYWAY: anyway}.items() if names}


def _is_general(outcome: Plain) -> bool:
    """Whether an attack gets as much of people outside the data, as far as its interval can tell."""
    tried = [outcome, outcome.get("all_rows") or outcome]
    return all(
        own["control"] is not None and own["interval"] is not None and own["interval"][0] <= own["control"]
        for own in tried
    )


def _unspoken(document: Plain) -> set[str]:
    """The terms that a page does not use: what only the owner's page speaks of, and readings that there are none of."""
    readings = {finding["reading"] for finding in document.get("audit", {}).get("findings", [])}
    unspoken = {"absent", "sightings", "everybody"} - readings
    return unspoken | OWNERS if document.get("public") else unspoken


def _promised(document: Plain) -> dict[str, list[str]]:
    """What is promised, in words, and of which attributes, in the order of the audit."""
    promised: dict[str, list[str]] = {}
    derived = document["manifest"].get("derived", {})
    homes = {name: home for home, names in derived.items() for name in names}
    for finding in document.get("audit", {}).get("findings", []):
        if finding["promised"] and finding["reading"] != "release":
            kind, required = finding["promise"], readable(finding["required"])
            words = PROMISED[kind].format(required) if kind in PROMISED else f"at {required}"
            about = promised.setdefault(f"{words} ({kind})", [])
            name = homes.get(finding["attribute"], finding["attribute"])
            about += [name] if name and name not in about else []
    return promised


def _is_joined(finding: Plain) -> bool:
    return finding["reading"] == "conditional" and not finding["promised"] and not finding["kept"]
