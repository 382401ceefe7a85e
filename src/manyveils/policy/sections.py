"""The sections of a policy, key by key, as pydantic models; meaning that spans sections is in `check`."""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from manyveils.policy.guarantees import GuaranteeKeys
from manyveils.policy.keys import (
    Count,
    DateUnit,
    Delimiter,
    Eliminations,
    Kind,
    Number,
    Pairs,
    Role,
    Section,
    Text,
)

__all__ = ["Count", "DateUnit", "Eliminations", "Kind", "Number", "Pairs", "Role", "Section", "Text"]


class Data(Section):
    """Where the rows are and what an empty cell means."""

    source: str | None = Field(None, description="csv, parquet or arrow/feather file, relative to the policy")
    missing: Literal["category", "drop", "error"] = Field("category", description="what a missing cell means")
    missing_markers: list[Text] = Field(
        [], description="texts that stand for a missing cell, besides an empty one"
    )
    delimiter: Delimiter | None = Field(None, description="of a csv file; found by itself")


class Hierarchy(Section):
    """How values become coarser; exactly one of the keys."""

    file: str | None = Field(
        None, description="ARX's format: a line per value, level after level, `;`-separated"
    )
    widths: list[Number] | None = Field(
        None, min_length=1, description="interval widths, each a multiple of the last"
    )
    mask: Literal["right", "left"] | None = Field(None, description="which end of the text is masked first")
    tree: dict[str, Any] | None = Field(None, min_length=1, description="groups of values, groups of groups")
    dates: list[DateUnit] | None = Field(
        None, min_length=1, description="parts of the calendar, each coarser than the last"
    )


class AttributeSection(Section):
    """What a column of the data is."""

    role: Role
    kind: Kind | None = Field(None, description="found from the data when left out")
    order: list[Text] | None = Field(None, description="the values of an ordinal attribute, lowest first")
    hierarchy: Hierarchy | None = None
    multivalued: str | None = Field(
        None, min_length=1, description="what separates several values in one cell"
    )
    insensitive: list[Text] = Field([], description="values that need no protection")
    guarantee: GuaranteeKeys | None = Field(None, description="overrides [guarantee] key by key")


class Rule(Section):
    """Knowing `given`, nobody may learn `protect`."""

    given: list[str] = Field(min_length=1)
    protect: str
    l: Count | None = None


class Dependency(Section):
    """A functional dependency the adversary may know."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    from_: list[str] = Field(alias="from", min_length=1)
    to: str


class Publish(Section):
    """How to publish; keys besides these two belong to the method, which checks them."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    method: str = "generalize"
    suppression: Number = Field(
        0.0, ge=0, le=1, description="share of rows that may be left out, rounded down"
    )

    @property
    def options(self) -> dict[str, Any]:
        """The method's own keys."""
        return dict(self.model_extra or {})


SECTIONS: dict[str, type[Section]] = {"data": Data, "guarantee": GuaranteeKeys, "publish": Publish}
LISTS: dict[str, type[Section]] = {"rules": Rule, "dependencies": Dependency}
