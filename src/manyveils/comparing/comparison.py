"""A comparison: results in the order of a preference, the frontier, and a recommendation."""

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tomlkit

from manyveils.attacks import attack_names
from manyveils.comparing.configurations import Configuration, without_none
from manyveils.comparing.ranking import Preference, Recommendation, frontier, ordered, recommend
from manyveils.comparing.trial import Result
from manyveils.errors import InfeasibleError, InputError, Problem
from manyveils.plain import as_table
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.release.folder import path_from, staged, write_text

SHOWN = ["name", "keeps_policy", "risk", "worst_attack"]


@dataclass(frozen=True)
class Question:
    """What a comparison answers: by whose policy, what is preferred, and which risk is borne."""

    policy: Policy
    preference: Preference
    limit: float
    attacks: tuple[str, ...]
    learn: str | None = None
    file: Path | None = None
    data: Path | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of all configurations on the same data; `results` has the best first."""

    question: Question
    tried: tuple[Result, ...]

    @cached_property
    def results(self) -> tuple[Result, ...]:
        """All results, in the order of the preference; refused configurations are last."""
        return ordered(self.tried, self.question.preference)

    @cached_property
    def frontier(self) -> tuple[str, ...]:
        """The names of configurations that no other beats in risk and in what is preferred."""
        return frontier(self.results, self.question.preference)

    @cached_property
    def recommendation(self) -> Recommendation:
        """Which configuration to take, and why."""
        question = self.question
        return recommend(
            self.results,
            question.preference,
            limit=question.limit,
            policy_name=question.policy.name,
            untried=[name for name in attack_names() if name not in question.attacks],
        )

    @property
    def recommended(self) -> Result | None:
        """The result of the recommended configuration, if there is one."""
        name = self.recommendation.name
        return None if name is None else self[name]

    @property
    def policy(self) -> Policy:
        """The policy to publish with."""
        return self.chosen().configuration.of(self.question.policy)

    def __getitem__(self, name: str) -> Result:
        return {result.name: result for result in self.tried}[name]

    def describe(self) -> dict[str, Any]:
        """The comparison as plain values for JSON."""
        question = self.question
        return {
            "policy": question.policy.name,
            "prefer": question.preference.name,
            "measure": {"key": question.preference.key, "words": question.preference.words},
            "risk_limit": question.limit,
            "attacks": list(question.attacks),
            "learn": question.learn,
            "recommendation": self.recommendation.describe(),
            "frontier": list(self.frontier),
            "results": [result.describe() for result in self.results],
        }

    def chosen(self) -> Result:
        """The recommended result, or an error with the reason of every refusal."""
        if self.recommended is not None:
            return self.recommended
        reason = Problem("compare", self.recommendation.reason)
        if any(result.keeps_policy for result in self.results):
            notes = dict.fromkeys(note for result in self.results for note in result.notes)
            raise InputError([reason, *(Problem("", note) for note in notes)])
        refused = [Problem(result.name, result.refusal) for result in self.results if not result.published]
        raise InfeasibleError([reason, *refused])

    def save(self, out: str | Path, *, force: bool = False) -> Path:
        """Write comparison.json, the recommended policy.toml and frontier.svg; the folder appears whole or not at all.

        There is no picture where there is nothing to draw, for want of a risk, or nothing to draw with.
        """
        with staged(Path(out), force=force, mode=0o700) as folder:
            self.write(folder, Path(out))
        return Path(out)

    def write(self, folder: Path, out: Path) -> None:
        """Write the files into a folder that is being prepared, and that will be `out`."""
        document = json.dumps(self.describe(), indent=2, ensure_ascii=False, default=float)
        text = _policy_text(self.question, self.chosen().configuration, out)
        picture = self.picture() if can_draw() else None
        files = {"comparison.json": document + "\n", "policy.toml": text, "frontier.svg": picture}
        for name, content in files.items():
            if content:
                write_text(folder / name, content)

    def picture(self) -> str | None:
        """The frontier as SVG, for a page or by itself; None if no configuration has both numbers."""
        from manyveils.reports.frontier import frontier_picture

        return frontier_picture(self.describe())

    def _repr_html_(self) -> str:
        key, words = self.question.preference.key, self.question.preference.words
        rows = [
            [*(getattr(result, field) for field in SHOWN), result.utility.get(key), result.suppressed]
            for result in self.results
            if result.published
        ]
        header = ["configuration", "keeps the policy", "risk", "by", words, "left out"]
        return as_table("Comparison", header, rows, note=self.recommendation.reason)

    def __repr__(self) -> str:
        published = sum(result.published for result in self.tried)
        counts = f"{len(self.tried)} configurations, {published} published"
        return f"<Comparison of {counts}; recommended: {self.recommendation.name}>"


def can_draw() -> bool:
    """Whether the libraries that pictures need are installed; a comparison is worth having without one."""
    return all(find_spec(name) is not None for name in ("altair", "vl_convert"))


def _policy_text(question: Question, configuration: Configuration, folder: Path) -> str:
    """The user's own policy with the keys that were chosen, for a file in `folder`.

    Comments of a TOML file stay, and paths lead where they led before.
    """
    file, data = question.file, question.data
    document = _document(question.policy, file)
    _set(document, "guarantee", configuration.guarantee)
    _set(document, "publish", configuration.publish)
    if data is not None:
        _set(document, "data", {**document.get("data", {}), "source": str(data.absolute())})
    _move_paths(document, file.parent if file else Path(), folder)
    return tomlkit.dumps(document)


def _document(policy: Policy, file: Path | None) -> MutableMapping[str, Any]:
    if file is not None and file.suffix.lower() != ".json":
        return tomlkit.parse(file.read_text(encoding="utf-8-sig"))
    sections = read_document(file) if file else policy.model_dump(by_alias=True, exclude_unset=True)
    return tomlkit.item(without_none(sections))


def _set(document: MutableMapping[str, Any], name: str, keys: Mapping[str, Any]) -> None:
    """Let a section have just these keys; those that stay as they are keep their place and comment."""
    if name not in document:
        if not keys:
            return
        document[name] = tomlkit.table()
    section = document[name]
    for key in [key for key in section if key not in keys]:
        del section[key]
    for key, value in keys.items():
        if key not in section or section[key] != value:
            section[key] = value


def _move_paths(document: MutableMapping[str, Any], before: Path, folder: Path) -> None:
    data = document.get("data", {})
    if data.get("source"):
        data["source"] = path_from(folder, before / data["source"])
    for attribute in document["attributes"].values():
        hierarchy = attribute.get("hierarchy")
        if isinstance(hierarchy, MutableMapping) and isinstance(hierarchy.get("file"), str):
            hierarchy["file"] = path_from(folder, before / hierarchy["file"])
