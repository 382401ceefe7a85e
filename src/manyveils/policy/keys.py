"""The types of keys that all sections of a policy share."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Role = Literal["identifier", "quasi", "sensitive", "neutral", "choice"]
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


Text = Annotated[str, BeforeValidator(_as_text)]
Delimiter = Annotated[str, AfterValidator(_one_plain_character)]
Count = Annotated[int, Field(strict=True, ge=1)]
# The search for leaks grows as (2 * others) ** eliminations.
Eliminations = Annotated[int, Field(strict=True, ge=1, le=5)]
Number = Annotated[float, Field(strict=True)]


class Section(BaseModel):
    """A table of the policy file; keys that are not listed are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)
