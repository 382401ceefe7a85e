"""A comparison: results in the order of a preference, the frontier, and a recommendation."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from manyveils.comparing.policy_file import policy_text
from manyveils.comparing.preferences import Preference, frontier, ordered
from manyveils.comparing.recommend import Recommendation, recommend
from manyveils.comparing.result import Result
from manyveils.errors import InfeasibleError, InputError, Problem
from manyveils.notebook import as_table
from manyveils.policy import Policy
from manyveils.release.folder import staged, write_text


@dataclass(frozen=True)
class Asked:
    """What a comparison was asked for: by whose policy, what is preferred, and which risk is borne."""

    policy: Policy
    preference: Preference
    limit: float
    attacks: tuple[str, ...]
    untried: tuple[str, ...]
    learn: str | None = None
    file: Path | None = None
    data: Path | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of all configurations on the same data; `results` has the best first."""

    asked: Asked
    tried: tuple[Result, ...]

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """All results, in the order of the preference; refused configurations are last."""
        return ordered(self.tried, self.asked.preference)

    @cached_property
    def frontier(self) -> tuple[str, ...]:
        """The names of configurations that no other beats in risk and in what is preferred."""
        return frontier(self.results, self.asked.preference)

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which configuration to take, and why."""
        return recommend(
            self.results,
            self.asked.preference,
            limit=self.asked.limit,
            policy_name=self.asked.policy.name,
            untried=self.asked.untried,
        )

    @property
    def recommended(self) -> Result | None:
        """The result of the recommended configuration, if there is one."""
        name = self.recommendation.name
        return None if name is None else self[name]

    @property
    def policy(self) -> Policy:
        """The policy to publish with."""
        return self._chosen().configuration.of(self.asked.policy)

    def __getitem__(self, name: str) -> Result:
        return {each.name: each for each in self.tried}[name]

    def describe(self) -> dict[str, Any]:
        """The comparison as plain values for JSON."""
        return {
            "policy": self.asked.policy.name,
            "prefer": self.asked.preference.name,
            "measure": {"key": self.asked.preference.key, "words": self.asked.preference.words},
            "risk_limit": self.asked.limit,
            "attacks": list(self.asked.attacks),
            "learn": self.asked.learn,
            "recommendation": self.recommendation.describe(),
            "frontier": list(self.frontier),
            "results": [each.describe() for each in self.results],
        }

    def save(self, out: str | Path, *, force: bool = False) -> Path:
        """Write comparison.json, the recommended policy.toml and frontier.svg; the folder appears whole or not at all.

        There is no picture where there is nothing to draw, for want of a risk, or nothing to draw with.
        """
        out = Path(out)
        files = self._files(out)
        with staged(out, force=force, mode=0o700) as folder:
            for name, text in files.items():
                write_text(folder / name, text)
        return out

    def _files(self, out: Path) -> Mapping[str, str]:
        asked, chosen = self.asked, self._chosen()
        text = policy_text(asked.policy, asked.file, chosen.configuration, folder=out, data=asked.data)
        document = json.dumps(self.describe(), indent=2, ensure_ascii=False, default=float) + "\n"
        files = {"comparison.json": document, "policy.toml": text}
        drawn = self.picture() if can_draw() else None
        return files | ({"frontier.svg": drawn} if drawn else {})

    def picture(self) -> str | None:
        """The frontier as SVG, for a page or by itself; nothing if no configuration has both numbers."""
        from manyveils.reports.frontier import frontier_picture

        return frontier_picture(self.describe())

    def _chosen(self) -> Result:
        """The recommended result, or an error with the reason of every refusal."""
        if self.recommended is not None:
            return self.recommended
        refused = [Problem(each.name, each.refusal) for each in self.results if not each.published]
        first = Problem("compare", self.recommendation.reason)
        if any(each.keeps_policy for each in self.results):
            raise InputError([first, *_remarks(self.results)])
        raise InfeasibleError([first, *refused])

    def refuse_nothing(self) -> None:
        """Raise an error if nothing can be recommended."""
        self._chosen()

    def _repr_html_(self) -> str:
        key, words = self.asked.preference.key, self.asked.preference.words
        rows = [
            [
                each.name,
                each.keeps_policy,
                each.risk,
                each.worst_attack,
                each.utility.get(key),
                each.suppressed,
            ]
            for each in self.results
            if each.published
        ]
        header = ["configuration", "keeps the policy", "risk", "by", words, "left out"]
        return as_table("Comparison", header, rows, note=self.recommendation.reason)

    def __repr__(self) -> str:
        published = sum(each.published for each in self.tried)
        return f"<Comparison of {len(self.tried)} configurations, {published} published; recommended: {self.recommendation.name}>"


def can_draw() -> bool:
    """Whether the libraries that pictures need are here; a comparison is worth having without one."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def _remarks(results: tuple[Result, ...]) -> list[Problem]:
    notes = dict.fromkeys(note for each in results for note in each.notes)
    return [Problem("", note) for note in notes]
