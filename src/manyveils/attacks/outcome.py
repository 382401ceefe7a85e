"""What attacks achieved: counts and shares only, never a person and never a cell."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import hypot
from typing import Any, Literal

from manyveils.plain import as_table

TOLERANCE = 1e-9

How = Literal["exact", "estimate", "simulation", "bound", "none"]
Standing = Literal["nothing learnt", "within bounds", "not promised", "broken", "does not apply"]

OPENINGS: Mapping[Standing, str] = {
    "nothing learnt": "Learns nothing about people in the data.",
    "within bounds": "Learns something, within the bounds.",
    "not promised": "Knows some people well, and no promise caps this.",
    "broken": "Knows some people better than a promised bound.",
}
# In the order of what was promised.
SENTENCES: Mapping[Standing, str] = {
    "broken": (
        "Some people are known better than a promised bound by {}: by knowing or inferring more than the promises speak of."
    ),
    "not promised": "Some people are known well by {}, and nothing was promised against that.",
    "within bounds": "Something is learnt by {}, and no more than was promised.",
    "nothing learnt": "Nothing is learnt by {}.",
    "does not apply": "There is nothing to attack for {}.",
}


@dataclass(frozen=True)
class Measure:
    """What `success` is a share of, in words; `is_mean` says that it is the mean of a quantity and not of hits.

    `sentence` has places for success, targets and baseline.
    """

    name: str
    sentence: str
    is_mean: bool = False
    openings: Mapping[Standing, str] = field(default_factory=lambda: OPENINGS)
    named: str = "Surest first, {few} of them are named rightly while 0.1 % are named wrongly, and {more} while 1 % are."


GUESSED_RIGHT = Measure(
    "share of targets guessed right", "Right for {success} of {targets} targets; guessing gets {baseline}"
)


@dataclass(frozen=True)
class Outcome:
    """What one attack achieved.

    `success` is the share of targets it gets right, or what `measure` says; `baseline` what the best guess without the
    release gets, `control` what the same attack gets of people who are not in the data (None where it makes no sense to
    ask) and `control_unsure` how far that may be off. `low` and `high` are a 95 % interval of `success`.
    `broken` counts targets whose true value is believed more than `bound` says and more than without the release;
    for `promised` of them the policy promises that bound, and for the others it promises none.
    `certain` counts those of whom it is certain; `worst` is the strongest belief in a true value.
    `true_positives` is the share of targets named rightly by someone who names only those of whom she is surest, while she
    names 0.1 % or 1 % of the targets wrongly; None where nobody is named.
    `is_foreseen` says that the promises speak of adversaries who know as much.
    `all_rows` has the same numbers of someone who knows all rows of each target, where people have several rows; all
    else is then of someone who knows one, as likely one as another. What she does not find out better so, she finds out
    by one of them.
    `unread` are attributes that are published in secret and were left as they are, which other attacks open.
    Where an attack does not apply, `reason` says why and there are no numbers.
    """

    name: str
    knows: str
    how: How
    targets: int = 0
    success: float | None = None
    baseline: float | None = None
    control: float | None = None
    control_unsure: float = 0.0
    low: float | None = None
    high: float | None = None
    broken: int = 0
    promised: int = 0
    certain: int = 0
    worst: float | None = None
    true_positives: Mapping[str, float] | None = None
    bound: str = ""
    by_attribute: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    measure: Measure = GUESSED_RIGHT
    is_foreseen: bool = False
    all_rows: Mapping[str, Any] | None = None
    unread: tuple[str, ...] = ()

    @property
    def applies(self) -> bool:
        """Whether there was anything to attack."""
        return not self.reason

    @property
    def is_better_than_guessing(self) -> bool:
        """Whether people in the data are found out more often than by guessing, and than people outside."""
        if self.success is None or self.low is None:
            return False
        every = self.all_rows
        return self._is_better(self.success, self.low, self.control) or bool(
            every and self._is_better(every["success"], every["interval"][0], every["control"])
        )

    def _is_better(self, success: float, low: float, control: float | None) -> bool:
        # People outside are a sample too, often a small one.
        unsure = hypot(success - low, self.control_unsure)
        beyond_control = success - (control or 0.0) > unsure + TOLERANCE
        return low > (self.baseline or 0.0) + TOLERANCE and beyond_control

    @property
    def standing(self) -> Standing:
        """How the release fares against whoever achieves more, of those who know one row and those who know all."""
        if not self.applies:
            return "does not apply"
        every = self.all_rows or {"broken": 0, "certain": 0, "promised": 0}
        if self.broken or self.certain or every["broken"] or every["certain"]:
            return "broken" if self.promised or every["promised"] else "not promised"
        return "within bounds" if self.is_better_than_guessing else "nothing learnt"

    @property
    def verdict(self) -> str:
        """The outcome in plain words."""
        return f"{self._verdict} {self._unread}".rstrip()

    @property
    def _unread(self) -> str:
        """What the numbers leave out, so that they do not look safe."""
        if not self.unread:
            return ""
        names = " and ".join(self.unread)
        return f"Codes and grades of {names} are not opened here; alias-frequency, known-pairs, counting-grades and quantile-matching do that."

    @property
    def _verdict(self) -> str:
        if not self.applies:
            return f"Does not apply: {self.reason}"
        rates = self.measure.sentence.format(
            success=_percent(self.success), targets=f"{self.targets:,}", baseline=_percent(self.baseline)
        )
        if self.control is not None:
            rates += f", and of people outside the data {_percent(self.control)}"
        harm = self._harm(self.broken, self.promised, self.certain)
        verdict = (
            f"{self.measure.openings[self.standing]} {rates}.{f' Of the targets, {harm}.' if harm else ''}"
        )
        verdict += self._named
        return verdict if self.all_rows is None else f"{verdict} {self._by_all_rows(self.all_rows)}"

    @property
    def _named(self) -> str:
        """How many are named while few are named wrongly, if anybody is."""
        few, more = (self.true_positives or {}).values() or (0.0, 0.0)
        return f" {self.measure.named.format(few=_percent(few), more=_percent(more))}" if more else ""

    def _by_all_rows(self, every: Mapping[str, Any]) -> str:
        harm = self._harm(every["broken"], every["promised"], every["certain"])
        return f"With all rows of a target known, {_percent(every['success'])}{f'; {harm}' if harm else ''}."

    def _harm(self, broken: int, promised: int, certain: int) -> str:
        counts = []
        if promised:
            beyond = "" if self.is_foreseen else ", by someone who knows more than the promise speaks of"
            counts.append(f"{promised:,} are beyond a promised bound{beyond}")
        if broken > promised:
            counts.append(f"{broken - promised:,} are known well where no promise caps it")
        if certain:
            counts.append(f"{certain:,} for certain")
        return "; ".join(counts)

    def describe(self) -> dict[str, object]:
        """The outcome as plain values for JSON."""
        return {
            "knows": self.knows,
            "how": self.how,
            "applies": self.applies,
            "reason": self.reason,
            "standing": self.standing,
            "measures": self.measure.name,
            "success": self.success,
            "baseline": self.baseline,
            "control": self.control,
            "interval": None if self.low is None else [self.low, self.high],
            "targets": self.targets,
            "broken": self.broken,
            "promised": self.promised,
            "certain": self.certain,
            "worst": self.worst,
            "true_positives": None if self.true_positives is None else dict(self.true_positives),
            "bound": self.bound,
            "by_attribute": {name: dict(numbers) for name, numbers in self.by_attribute.items()},
            "details": dict(self.details),
            "verdict": self.verdict,
            **({"unread": list(self.unread)} if self.unread else {}),
            **({} if self.all_rows is None else {"all_rows": dict(self.all_rows)}),
        }

    def __repr__(self) -> str:
        return f"<Outcome of {self.name}: {self.verdict}>"


def _listed(names: Sequence[str]) -> str:
    """Names with commas between them, and an "and" before the last.

    >>> _listed(["a"]), _listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1]) if part)


def _percent(share: float | None) -> str:
    return "nothing" if share is None else f"{100 * share:.3g} %"


@dataclass(frozen=True, repr=False)
class Attacks(Mapping[str, Outcome]):
    """The outcome of every attack on one release, by name."""

    method: str
    outcomes: Mapping[str, Outcome]

    def __getitem__(self, name: str) -> Outcome:
        return self.outcomes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.outcomes)

    def __len__(self) -> int:
        return len(self.outcomes)

    def standing(self, standing: Standing) -> tuple[str, ...]:
        """The attacks that ended in one way."""
        return tuple(name for name, outcome in self.outcomes.items() if outcome.standing == standing)

    @property
    def verdict(self) -> str:
        """What the release protects against and what it does not, in plain words."""
        sentences = [(sentence, self.standing(standing)) for standing, sentence in SENTENCES.items()]
        return " ".join(sentence.format(_listed(names)) for sentence, names in sentences if names)

    def describe(self) -> dict[str, object]:
        """All outcomes as plain values for JSON."""
        return {
            "method": self.method,
            "verdict": self.verdict,
            "attacks": {name: outcome.describe() for name, outcome in self.outcomes.items()},
        }

    def _repr_html_(self) -> str:
        header = ["attack", "success", "guessing", "control", "targets", "broken", "certain", "standing"]
        applying = {name: outcome for name, outcome in self.outcomes.items() if outcome.applies}
        has_both = any(outcome.all_rows for outcome in applying.values())
        header += ["all rows", "broken", "certain"] if has_both else []
        rows = []
        for name, outcome in applying.items():
            shares = map(_percent, (outcome.success, outcome.baseline, outcome.control))
            row = [name, *shares, outcome.targets, outcome.broken, outcome.certain, outcome.standing]
            if every := outcome.all_rows:
                row += [_percent(every["success"]), every["broken"], every["certain"]]
            rows.append(row)
        return as_table(f"Attacks on a release by {self.method}", header, rows, note=self.verdict)

    def __repr__(self) -> str:
        return f"<Attacks on a release by {self.method}: {self.verdict}>"
