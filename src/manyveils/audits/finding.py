"""What an audit says: one finding per promise, view and reading."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from manyveils.errors import BrokenPromise, Problem
from manyveils.plain import as_table
from manyveils.wording import counted

if TYPE_CHECKING:
    from manyveils.audits.beyond import Beyond

# Where somebody has several rows, and the files alone do not say whose a row is.
UNTOLD = "the files do not tell which rows are whose, so promises about persons cannot be shown to be kept."
REMEDY = (
    "The private folder of the release does: keep it beside the release, or give it as private. "
    "Of a table from elsewhere, its column that names persons does."
)
# Of earlier releases that were not looked at.
ALONE = "What they tell together with this release is not judged here; name them with --after, or after."
# What a measure is of that is no more than a bound: nobody knows more.
BOUND = "every bucket found"
Status = Literal["proved", "property-tested", "empirical"]
Reading = Literal["marginal", "conditional", "joint", "sightings", "absent", "everybody", "release"]


@dataclass(frozen=True)
class Finding:
    """How one promise fares in one view; counts and thresholds only, never a cell.

    `measured` is the worst over all groups, in the promise's own unit; None where nothing could be measured.
    `groups_short` and `rows_short` count what falls short of `required`. `terms` says what is counted, where it is not
    every value alike.
    """

    promise: str
    attribute: str
    view: str
    reading: Reading
    promised: bool
    required: float
    measured: float | None
    kept: bool
    worst_group_size: int | None = None
    groups: int = 0
    groups_short: int = 0
    rows_short: int = 0
    terms: str = ""
    # How sure it is that what is measured is what is meant; docs/promise.md says where that stands.
    status: Status = "property-tested"

    @property
    def named(self) -> str:
        """The promise with its terms."""
        return f"{self.promise} ({self.terms})" if self.terms else self.promise

    def describe(self) -> dict[str, object]:
        """The finding as plain values for JSON; an unbounded measure is written `infinite`."""
        is_unbounded = self.measured is not None and math.isinf(self.measured)
        return asdict(self) | ({"measured": "infinite"} if is_unbounded else {})

    def problem(self, about: str) -> Problem:
        """What is wrong, said of a promise that is not kept; `about` names the attribute as the policy does."""
        subject = f"{self.named} of {about}" if about else self.named
        short = f"measured {self.measured}; {counted(self.rows_short, 'row falls', 'rows fall')} short."
        unproven = "and nothing in the release shows that it is kept."
        what = f"required {self.required}, {unproven if self.measured is None else short}"
        if self.reading == "everybody":
            where = f"{self.view}: {subject}, for someone who knows everybody's quasi-identifiers"
            return Problem(
                where, what, "Use larger buckets, fewer columns or anatomize, or leave everybody out."
            )
        if self.reading == "absent":
            remedy = "Allow less suppression, or leave absent out."
            return Problem(f"{subject}, of those whom the release leaves out", what, remedy)
        return Problem(f"{self.view or 'release'}: {subject}", what)

    def __str__(self) -> str:
        subject = f"{self.named} of {self.attribute}" if self.attribute else self.named
        where = f" in view {self.view}" if self.view else ""
        measured = "nothing measurable" if self.measured is None else f"{self.measured:g}"
        rows = counted(self.rows_short, "row")
        short = counted(self.groups_short, f"group ({rows}) falls short", f"groups ({rows}) fall short")
        short = f"; {short}" if self.groups_short else ""
        verdict = "kept" if self.kept else "broken"
        return f"{subject}{where} ({self.reading}): {verdict}, requires {self.required:g}, measured {measured}{short}"


def count_of_faults(promise: str, n_faults: int | None, view: str = "", attribute: str = "") -> Finding:
    """A finding about the release itself, which must have no fault; None where faults cannot be counted."""
    return Finding(
        promise, attribute, view, "release", promised=True, required=0, measured=n_faults, kept=n_faults == 0
    )


@dataclass(frozen=True, repr=False)
class Audit:
    """Every finding about one release; `derived` lists the derived attributes of multi-valued ones.

    `persons` says by what persons are counted, and how many there are in the original.
    """

    findings: tuple[Finding, ...]
    derived: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    persons: Mapping[str, object] = field(default_factory=dict)
    # Views of which nobody can tell whose their rows are, where somebody has several.
    untold: tuple[str, ...] = ()
    # What lint doubts of the policy and the policy accepts.
    accepted: tuple[Mapping[str, str], ...] = ()
    # The earlier releases that it was judged beside, and those it was published after and judged without.
    after: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    # What cannot be said of a table by itself, and why.
    not_judged: tuple[Mapping[str, str], ...] = ()
    # For the owner of a bare table who asks: which rows fall short, and of what.
    rows: Any = field(default=None, compare=False)

    @property
    def kept(self) -> bool:
        """Whether everything that is promised is kept."""
        return not self.broken

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The promised findings that are not kept."""
        return tuple(finding for finding in self.findings if finding.promised and not finding.kept)

    @property
    def not_promised(self) -> "tuple[Beyond, ...]":
        """What those who know more than the promises speak of learn of people, the heaviest first."""
        from manyveils.audits.beyond import beyond

        return beyond(self.findings, int(str(self.persons.get("rows", 0))), self._named)

    def refuse_broken(self) -> None:
        """Raise an error that says which promises are broken, and by how much, if any is."""
        problems = (finding.problem(self._named(finding.attribute)) for finding in self.broken)
        BrokenPromise.refuse([*problems, *self._untold()])

    def _untold(self) -> Iterator[Problem]:
        """What is missing to count persons, said once."""
        if self.untold:
            yield Problem(f"views {', '.join(self.untold)}", UNTOLD, REMEDY)

    def _named(self, subject: str) -> str:
        """What is protected, as the policy names it: the name of a derived attribute holds a value of the data."""
        homes = {derived: name for name, listed in self.derived.items() for derived in listed}
        for derived in sorted(homes, key=len, reverse=True):
            subject = subject.replace(derived, homes[derived])
        return subject

    @property
    def beside(self) -> str:
        """Which earlier releases were looked at, and which were not, in words; nothing where there are none."""
        judged = f"Judged by what it tells together with {', '.join(self.after)}." if self.after else ""
        alone = f"It was published after {', '.join(self.without)}. {ALONE}" if self.without else ""
        return f"{judged} {alone}".strip()

    def describe(self) -> dict[str, object]:
        """The audit as plain values for JSON."""
        findings = [finding.describe() for finding in self.findings]
        described = {"kept": self.kept, "persons": dict(self.persons), "findings": findings}
        if told := self.not_promised:
            described["not_promised"] = [beyond.describe() for beyond in told]
        described |= {"accepted": [dict(doubt) for doubt in self.accepted]} if self.accepted else {}
        if self.not_judged:
            described["not_judged"] = [dict(gap) for gap in self.not_judged]
        more = {name: list(getattr(self, name)) for name in ("untold", "after", "without")}
        return described | {name: told for name, told in more.items() if told}

    def expectations(self) -> dict[str, object]:
        """The audit as Great Expectations writes the result of a validation."""
        from manyveils.audits.expectations import expectations

        return expectations(self)

    def _repr_html_(self) -> str:
        header = ["promise", "about", "in", "reading", "promised", "required", "measured", "kept"]
        rows = [
            [f.named, f.attribute, f.view, f.reading, f.promised, f.required, f.measured, f.kept]
            for f in self.findings
        ]
        verdict = "Every promise is kept." if self.kept else f"{len(self.broken)} promises are broken."
        gaps = " ".join(f"Not judged ({gap['promise']}): {gap['why']}." for gap in self.not_judged)
        note = " ".join(filter(None, (verdict, str(self.persons.get("note", "")), self.beside, gaps)))
        return as_table("Audit", header, rows, note=f"{note} {UNTOLD} {REMEDY}" if self.untold else note)

    def __repr__(self) -> str:
        promised = sum(finding.promised for finding in self.findings)
        verdict = "kept" if self.kept else f"{len(self.broken)} broken"
        return f"<Audit: {verdict}, {promised} promised findings, {len(self.findings) - promised} others>"
