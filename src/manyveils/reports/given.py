"""What a report is given besides results: the method's plan and a comparison; checked before they are drawn."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from manyveils.errors import InputError, Problem
from manyveils.plain import plain

Plain = Mapping[str, Any]
Level = Annotated[int, Field(ge=0, le=1000)]


class _Part(BaseModel):
    """A part of a document, which may have other keys as well."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)


class _Step(_Part):
    """A plan on the way to the published one, by its ratios."""

    association_loss: float
    information_exposure: float
    tables: int


class _Node(_Part):
    """A node of a lattice: for every attribute a level, and how high its levels go."""

    levels: dict[str, Level] = {}
    heights: dict[str, Level] = {}

    @model_validator(mode="after")
    def _stands_in_the_lattice(self) -> "_Node":
        allowed = {name: range(height + 1) for name, height in self.heights.items()}
        if self.levels and any(self.levels.get(name, -1) not in allowed[name] for name in allowed):
            raise ValueError("a level is missing or too high")
        return self


class _Plan(_Node):
    """What `plan.json` must hold wherever it holds it."""

    plan: list[list[str]] = []
    association_loss: float = 0.0
    information_exposure: float = 0.0
    merges: list[_Step] = []
    frontier: list[_Step] = []
    then: _Node | None = None


class _Result(_Part):
    name: str
    published: bool
    keeps_policy: bool = False
    risk: float | None = None
    worst_attack: str | None = None
    utility: dict[str, Any] = {}
    secret: list[str] = []


class _Measure(_Part):
    key: str
    words: str


class _Recommendation(_Part):
    name: str | None
    reason: str
    ignores: list[str]


class _Comparison(_Part):
    """What `comparison.json` must hold."""

    measure: _Measure
    recommendation: _Recommendation
    frontier: list[str]
    results: list[_Result]


def refuse_damaged(document: Plain) -> None:
    """Raise an error with everything that is wrong with the plan or the comparison of a document."""
    plan, comparison = plain(document.get("plan")) or {}, plain(document.get("comparison"))
    problems = [*_problems(_Plan, plan, "plan", "manyveils publish")]
    problems = problems or [*_unpublished(plan, document["manifest"])]
    if comparison:
        problems += _problems(_Comparison, comparison, "comparison", "manyveils compare")
    InputError.refuse(problems)


def _problems(model: type[BaseModel], document: Plain, name: str, maker: str) -> Iterator[Problem]:
    try:
        model.model_validate(document)
    except ValidationError as error:
        for place in dict.fromkeys(".".join([name, *map(str, wrong["loc"])]) for wrong in error.errors()):
            yield Problem(place, "is not what it should be.", f"Make the file again with {maker}.")


def _unpublished(plan: Plain, manifest: Plain) -> Iterator[Problem]:
    """Attributes of the plan that the release does not have: the plan is another's."""
    columns = [column for view in manifest["views"] for column in view["columns"]]
    published = {name for column in columns for name in column["attributes"]} | {*manifest.get("derived", {})}
    nodes = (plan, plan.get("then") or {})
    named = {name for node in nodes for name in node.get("levels", {})}.union(*plan.get("plan", []))
    unpublished = len(named - published)
    if unpublished:
        what = f"names {unpublished} attributes that the release does not have: it is of another release."
        yield Problem("plan", what, "Point --private to the folder that publish made with this release.")
