"""What goes into the API, and what comes out that is not a value of the server's own."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from manyveils.server.accounts import NAME
from manyveils.server.grants import MOST
from manyveils.server.interpretation import MOST_CELL, MOST_TEXT
from manyveils.server.passwords import LONGEST, SHORTEST
from manyveils.server.refusals import Role, Scope
from manyveils.server.tokens import MOST_HOURS, MOST_LABEL, USUAL

CLEAN = r"^[^\x00]*$"
Name = Annotated[str, StringConstraints(pattern=NAME)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST)]
NewPassword = Annotated[str, StringConstraints(min_length=SHORTEST, max_length=LONGEST)]
Cell = Annotated[str, StringConstraints(max_length=MOST_CELL, pattern=CLEAN)]
Id = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
OneTime = Annotated[str, StringConstraints(max_length=10, pattern=CLEAN)]
External = Annotated[str, StringConstraints(min_length=1, max_length=400, pattern=CLEAN)]
IdInPath = Annotated[str, Path(pattern=r"^[0-9a-f]{16}$")]


class Body(BaseModel):
    """What a request brings; keys that are not listed are refused."""

    model_config = ConfigDict(extra="forbid")


class ProblemSaid(BaseModel):
    """One thing that is wrong, where, and what would put it right."""

    where: str
    what: str
    remedy: str


class Refused(BaseModel):
    """Why a request was refused."""

    error: str
    problems: list[ProblemSaid]


class Login(Body):
    """A name, a password and perhaps a one-time code, for a token; and what it is to be for."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=64, pattern=CLEAN)]
    password: Password
    code: OneTime = ""
    hours: Annotated[int, Field(ge=1, le=MOST_HOURS)] | None = None
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=20)] = list(USUAL)
    releases: Annotated[list[Id], Field(max_length=100)] | None = None
    label: Annotated[str, StringConstraints(max_length=MOST_LABEL, pattern=CLEAN)] = ""


class PersonSaid(BaseModel):
    """Who is asking."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    role: Role


class NewUser(Body):
    """An account to be made."""

    name: Name
    password: NewPassword | None = None
    role: Role
    # Who this is for the provider of sign-in.
    external: External | None = None
    # The password of whoever asks; needed to make an owner.
    confirm: Password | None = None


class UserChange(Body):
    """What is to change about an account."""

    active: bool | None = None
    password: NewPassword | None = None
    second_factor: Literal[False] | None = None
    # The password of whoever asks; needed for anything but switching on and off.
    confirm: Password | None = None


class Confirmed(Body):
    """The password of whoever asks."""

    confirm: Password


class Code(Body):
    """A one-time code."""

    code: OneTime


class Approval(Body):
    """How much researchers may be told of a release, and how much may follow from it."""

    budget: Annotated[int, Field(ge=1, le=MOST)] | None = None
    approved: Annotated[int, Field(ge=0, le=100)] | None = None


class PasswordChange(Body):
    """The old password and the new one."""

    old: Password
    new: NewPassword
    code: OneTime = ""


class ListedChange(Body):
    """Whether a release is to be listed."""

    listed: bool


class FileSaid(BaseModel):
    """A file of a release: its number, by which it is fetched, and its name in the manifest."""

    number: int
    name: str


class NewGrant(Body):
    """What a researcher is to be granted."""

    researcher: Name
    release: Id
    daily_limit: Annotated[int, Field(ge=1, le=MOST)]
    total_limit: Annotated[int, Field(ge=1, le=MOST)] | None = None
    expires: AwareDatetime


class ValueAsked(Body):
    """A published value to be read with the key."""

    attribute: Cell
    published: Cell


class RuleAsked(Body):
    """A rule to be read with the key."""

    rule: Annotated[str, StringConstraints(min_length=1, max_length=MOST_TEXT, pattern=CLEAN)]


class TableAsked(Body):
    """A small table of published values to be read with the key."""

    names: Annotated[list[Cell], Field(min_length=1, max_length=1000)]
    rows: Annotated[list[list[Cell]], Field(min_length=1, max_length=1000)]


class RuleSaid(BaseModel):
    """A rule as it reads with the key."""

    rule: str
    meanings: int


class TableSaid(BaseModel):
    """A table as it reads with the key."""

    names: list[str]
    rows: list[list[str]]
    meanings: int
