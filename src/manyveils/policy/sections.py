"""The sections of a policy, key by key, as pydantic models; meaning that spans sections is in `check`."""

import codecs
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from manyveils.policy.known import SHORT

Role = Literal["identifier", "quasi", "sensitive", "neutral", "choice", "drop"]
Pairs = Literal["all", "consecutive"]
DateUnit = Literal["day", "month", "quarter", "year", "decade"]
Kind = Literal["numeric", "ordinal", "categorical"]


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def _one_plain_character(value: str) -> str:
    if len(value) != 1 or not value.isascii() or value in '"\r\n':
        raise ValueError("must be one ASCII character, and neither a quote nor a line end")
    return value


def _encoding(value: str | None) -> str | None:
    try:
        return value if value is None else codecs.lookup(value).name
    except LookupError:
        raise ValueError("must be an encoding that Python knows, such as latin-1") from None


def _name_or_names(value: Any) -> Any:
    names = value if isinstance(value, list) else [value]
    if value is not None and not all(isinstance(name, str) for name in names):
        raise ValueError('must be "row", the name of an identifier, or a list of such names')
    return value


def _first(value: Any) -> Any:
    """Of several attributes the first: whoever is unsure of one of them is unsure of their combination."""
    return value[0] if isinstance(value, list) and value else value


Text = Annotated[str, BeforeValidator(_as_text)]
Delimiter = Annotated[str, AfterValidator(_one_plain_character)]
Count = Annotated[int, Field(strict=True, ge=1)]
Level = Annotated[int, Field(strict=True, ge=0)]
Several = Annotated[int, Field(strict=True, ge=2)]
# The search for leaks grows as (2 * others) ** eliminations.
Eliminations = Annotated[int, Field(strict=True, ge=1, le=5)]
# Sets of codes are counted up to this size, which grows as a power of it.
KnownItems = Annotated[int, Field(strict=True, ge=1, le=4)]
Number = Annotated[float, Field(strict=True)]
# Thresholds are exact to nine decimals; what is smaller would be none.
FINEST = 1e-9


def optional(description: str, default: object = None, **limits: Any) -> Any:
    """A key that may be left out."""
    return Field(default, description=description, **limits)


class Section(BaseModel):
    """A table of the policy file; keys that are not listed are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Data(Section):
    """Where the rows are and what an empty cell means."""

    source: str | None = optional(
        "csv, parquet, arrow/feather, Excel, SPSS, Stata, SAS or DuckDB file, relative to the policy, or the address of a database"
    )
    sheet: str | None = optional("of a spreadsheet; needed where it has several")
    table: str | None = optional("of a database; needed where it has several", min_length=1)
    query: str | None = optional("of a database, instead of a table", min_length=1)
    labels: bool = optional("whether values of SPSS, Stata and SAS files are replaced by their labels", True)
    encoding: Annotated[str | None, AfterValidator(_encoding)] = optional("of a csv file; UTF-8 by itself")
    decimal: Literal[",", "."] | None = optional("what stands before decimals in texts")
    thousands: Literal[",", ".", " ", "'", "\u00a0", "\u202f"] | None = optional(
        "what stands between thousands in texts"
    )
    dates: Literal["dmy", "mdy", "ymd"] | None = optional("the order of day, month and year in texts")
    missing: Literal["category", "drop", "error", "any"] = optional(
        "what a missing cell means; any value, in tables that are only judged", "category"
    )
    missing_markers: list[Text] = optional("texts that stand for a missing cell, besides an empty one", [])
    delimiter: Delimiter | None = optional("of a csv file; found by itself")
    columns: list[str] | None = optional("the columns that are read; others are left out", min_length=1)
    person: Annotated[str | list[str] | None, BeforeValidator(_name_or_names)] = optional(
        'the identifiers that tell persons apart, or "row" where every row is a person of its own'
    )


class Hierarchy(Section):
    """How values become coarser; exactly one of the keys."""

    file: str | None = optional("ARX's format: a line per value, level after level, `;`-separated")
    widths: list[Number] | None = optional("interval widths, each a multiple of the last", min_length=1)
    mask: Literal["right", "left"] | None = optional("which end of the text is masked first")
    tree: dict[str, Any] | None = optional("groups of values, groups of groups", min_length=1)
    dates: list[DateUnit] | None = optional("parts of the calendar, each coarser than the last", min_length=1)
    known: Literal["icd10", "icd9", "countries", "nuts", "isco", "ages", "dates", "postcodes"] | None = (
        optional("one that everybody shares")
    )

    @model_validator(mode="before")
    @classmethod
    def _in_full(cls, keys: Any) -> Any:
        """Hierarchies that are other keys in short, in full."""
        is_short = isinstance(keys, dict) and len(keys) == 1 and keys.get("known") in SHORT
        return dict(SHORT[keys["known"]]) if is_short else keys


class GuaranteeKeys(Section):
    """What is promised of every group of rows."""

    k: Count | None = optional("rows in every group, at least")
    prosecutor_risk: Number | None = optional(
        "chance of finding somebody who is known to be in the data, at most: one over the size of her group",
        gt=0,
        le=1,
    )
    marketer_risk: Number | None = optional(
        "share of people found if all are looked for, on average, at most: groups over people", gt=0, le=1
    )
    k_map: Count | None = optional("people of the population who look like any group, at least")
    journalist_risk: Number | None = optional(
        "chance of finding somebody of the population, at most: one over how many of it look alike",
        gt=0,
        le=1,
    )
    l: Count | None = optional("diversity of every group, at least; l_kind says of which kind")
    l_kind: Literal["distinct", "frequency", "entropy", "recursive"] = "distinct"
    l_level: Level | None = optional(
        "with l: the level of the hierarchy whose labels are counted; 0 counts values"
    )
    l_of: dict[str, Several] | None = optional("with l: values, or labels of l_level, that ask for another l")
    c: Number | None = optional("recursive diversity's factor", ge=FINEST)
    t: Number | None = optional("distance from the whole table's distribution, at most", ge=0, le=1)
    ground: Literal["equal", "ordered", "hierarchical"] | None = optional("ground distance of t")
    n: Count | None = optional("with t: closeness to a superset of at least n rows")
    alpha: Number | None = optional("share of any listed value in a group, at most", ge=FINEST, le=1)
    alpha_values: list[Text] | None = optional("the values alpha speaks of; all when left out")
    beta: Number | None = optional("relative gain of any value, at most", ge=FINEST)
    delta: Number | None = optional("absolute log ratio of any value's shares, below", ge=FINEST)
    e: Number | None = optional("range of a numeric attribute in a group, at least", ge=FINEST)
    epsilon: Number | None = optional("with m: how near two numbers are alike", ge=0)
    m: Count | None = optional("with epsilon: at most one m-th of a group is alike")
    epsilon_link: Number | None = optional("confidence of any value in a group, at most", ge=FINEST, le=1)
    known_items: KnownItems | None = optional(
        "with k: how many values of a multi-valued attribute someone may know of a person, besides quasi-identifiers"
    )
    eliminations: Eliminations | None = optional(
        "values of other sensitive attributes that someone may rule out without learning one"
    )
    pairs: Pairs | None = optional("with eliminations: whose values may be ruled out")
    sensitive_order: list[str] | None = optional("with consecutive pairs: the sensitive attributes in order")
    conditional: bool = optional("hold even against someone who knows the other sensitive values", False)
    everybody: bool = optional(
        "hold even against someone who knows the quasi-identifiers of all people", False
    )
    absent: bool = optional("hold of all whom the release leaves out too, taken as one group", False)
    joint: list[list[str]] = optional("attributes protected as one", [])


class AttributeSection(Section):
    """What a column of the data is."""

    role: Role
    kind: Kind | None = optional("found from the data when left out")
    order: list[Text] | None = optional("the values of an ordinal attribute, lowest first")
    hierarchy: Hierarchy | None = None
    multivalued: str | None = optional("what separates several values in one cell", min_length=1)
    level: Count | None = optional(
        "with multivalued: the level of the hierarchy at which values are published"
    )
    insensitive: list[Text] = optional("values that need no protection", [])
    constant: bool = optional("does not change from row to row of a person", False)
    guarantee: GuaranteeKeys | None = optional("overrides [guarantee] key by key")


class Rule(Section):
    """Knowing `given`, nobody may learn `protect`."""

    given: list[str] = Field(min_length=1)
    protect: Annotated[str, BeforeValidator(_first, json_schema_input_type=str | list[str])]
    l: Count | None = None
    guarantee: GuaranteeKeys | None = optional("what is promised of it, instead of frequency l or beside it")


class Key(Section):
    """Quasi-identifiers that someone may know without the others, and how many people must look alike to her."""

    attributes: list[str] = Field(min_length=1)
    k: Count


class Population(Section):
    """Whom the people of the data are some of; for the owner alone."""

    source: str | None = optional(
        "csv, parquet or arrow/feather file of all people, with the quasi-identifiers; relative to the policy"
    )
    size: Count | None = optional("how many people there are, where there is no list of them")
    weights: str | None = optional(
        "the attribute that says for how many people of the population a row stands (a sampling weight)"
    )


class Dependency(Section):
    """A functional dependency the adversary may know."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    from_: list[str] = Field(alias="from", min_length=1)
    to: str


class Publish(Section):
    """How to publish; keys besides these two belong to the method, which checks them."""

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    method: str = "generalize"
    suppression: Number = optional("share of rows that may be left out, rounded down", 0.0, ge=0, le=1)
    leaving: Number | None = optional(
        "share of persons who are expected to leave until the next release; of 0 there will be none",
        None,
        ge=0,
        le=1,
    )

    @property
    def options(self) -> dict[str, Any]:
        """The method's own keys."""
        return dict(self.model_extra or {})


SECTIONS: dict[str, type[Section]] = {
    "data": Data,
    "population": Population,
    "guarantee": GuaranteeKeys,
    "publish": Publish,
}
LISTS: dict[str, type[Section]] = {"keys": Key, "rules": Rule, "dependencies": Dependency}
# Keys that go with another one, without which they say nothing.
COMPANIONS = (
    ("c", "l"),
    ("l_level", "l"),
    ("l_of", "l"),
    ("n", "t"),
    ("ground", "t"),
    ("known_items", "k"),
    ("alpha_values", "alpha"),
)
