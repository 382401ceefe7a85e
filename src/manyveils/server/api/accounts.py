"""Tokens, the account that is asking, and all accounts for owners."""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from manyveils.server import accounts, tokens
from manyveils.server.accounts import Account
from manyveils.server.api.access import Address, Bearer, KeeperOf, Someone, refusals
from manyveils.server.api.models import Login, NewUser, PasswordChange, PersonSaid, UserChange
from manyveils.server.people import Person
from manyveils.server.tokens import Token

router = APIRouter(tags=["accounts"])
NameInPath = Annotated[str, Path(pattern=accounts.NAME)]


@router.post("/token", status_code=201, responses=refusals(400, 401, 413, 422, 429))
def get_token(login: Login, keeper: KeeperOf, address: Address, response: Response) -> Token:
    """Log in with name and password for a bearer token."""
    response.headers["Cache-Control"] = "no-store"
    return tokens.issue_token(keeper, login.name, login.password, address, login.hours)


@router.delete("/token", status_code=204, responses=refusals(401, 403))
def revoke_token(person: Someone, credentials: Bearer, keeper: KeeperOf) -> None:
    """Revoke the token that this request carries."""
    if credentials is not None:
        tokens.revoke_token(keeper, person, credentials.credentials)


@router.get("/me", response_model=PersonSaid, responses=refusals(401))
def who(person: Someone) -> Person:
    """Who is asking."""
    return person


@router.post("/me/password", status_code=204, responses=refusals(400, 401, 403, 413, 422, 429))
def change_password(change: PasswordChange, person: Someone, keeper: KeeperOf, address: Address) -> None:
    """Change one's own password; all tokens and sessions end."""
    accounts.change_password(keeper, person, change.old, change.new, address)


@router.get("/users", responses=refusals(401, 403))
def users(person: Someone, keeper: KeeperOf) -> list[Account]:
    """Every account; for owners."""
    return accounts.accounts(keeper, person)


@router.post("/users", status_code=201, responses=refusals(400, 401, 403, 409, 413, 422))
def add_user(user: NewUser, person: Someone, keeper: KeeperOf) -> Account:
    """Make an account; for owners."""
    return accounts.add_user(keeper, person, user.name, user.password, user.role)


@router.patch("/users/{name}", responses=refusals(400, 401, 403, 404, 409, 413, 422))
def change_user(name: NameInPath, change: UserChange, person: Someone, keeper: KeeperOf) -> Account:
    """Switch an account on or off, or give it another password; for owners."""
    return accounts.change_user(keeper, person, name, active=change.active, password=change.password)
