"""A token lets do what it is for, is listed and ended by its number, and a stolen one makes no owners."""

import httpx
import pyotp
import pytest

from manyveils.errors import InputError
from manyveils.server import accounts, catalogue, grants, logins, second, tokens
from manyveils.server.accounts import Proof
from manyveils.server.refusals import SCOPES, Conflict, Forbidden, Missing, TooMany, Unauthenticated
from manyveils.server.tokens import Wish
from manyveils.server.worker import Worker

PASSWORD = "a long enough password"
PROOF = Proof(PASSWORD, "here")
OTHER = "quite another long password"


def holder(house, name="owner", **wish):
    """Whoever holds a new token of an account."""
    token = tokens.issue_token(house.keeper, name, PASSWORD, "here", Wish(**wish))
    return tokens.find_token(house.keeper, token.token)


def stolen(door, **wish):
    """A client with a new token of the owner."""
    login = {"name": "owner", "password": PASSWORD} | wish
    token = httpx.post(f"{door.url}/api/v1/token", json=login).json()
    return httpx.Client(base_url=f"{door.url}/api/v1", headers={"Authorization": f"Bearer {token['token']}"})


@pytest.mark.parametrize("scopes", [None, list(SCOPES)])
def test_a_stolen_token_makes_no_owner(door, scopes):
    """With an owner's token alone, of whatever scopes, nobody sets a password or makes an owner."""
    with stolen(door, **({} if scopes is None else {"scopes": scopes})) as client:
        new = {"name": "mallory", "password": OTHER, "role": "owner"}
        assert client.post("/users", json=new).status_code == 403
        assert client.post("/users", json=new | {"confirm": "a wrong guess"}).status_code == 403
        for name in ("owner", "auditor"):
            assert client.patch(f"/users/{name}", json={"password": OTHER}).status_code == 403
            assert client.patch(f"/users/{name}", json={"second_factor": False}).status_code == 403
        assert client.patch("/users/owner", json={"password": OTHER, "confirm": PASSWORD}).status_code == 403
        assert client.post("/me/second", json={"confirm": PASSWORD}).status_code in (401, 403)
    assert accounts.log_in(door.house.keeper, "owner", PASSWORD, "here")
    with pytest.raises(Unauthenticated):
        accounts.log_in(door.house.keeper, "mallory", OTHER, "here")


def test_guesses_at_the_own_password_are_throttled(house):
    """Whoever has a token cannot try passwords with it without end."""

    def guess():
        try:
            proof = Proof("a wrong guess", "here")
            accounts.change_user(house.keeper, house.owner, "auditor", password=OTHER, proof=proof)
        except (Forbidden, TooMany) as refusal:
            return type(refusal)

    assert [guess() for _ in range(6)] == [Forbidden] * 5 + [TooMany]
    assert "confirm refused" in {entry.action for entry in house.log()}


def test_another_owner_confirms(house):
    """A new owner gets in once another owner than its maker has confirmed it, who types the own password."""
    keeper = house.keeper
    accounts.add_user(keeper, house.owner, "second", OTHER, "owner", proof=PROOF)
    with pytest.raises(Unauthenticated):
        accounts.log_in(keeper, "second", OTHER, "here")
    with pytest.raises(Forbidden, match="another owner"):
        accounts.confirm_owner(keeper, house.owner, "second", proof=PROOF)
    accounts.confirm_from_command(keeper, "second")
    second_owner = accounts.log_in(keeper, "second", OTHER, "here")
    accounts.add_user(keeper, house.owner, "third", OTHER, "owner", proof=PROOF)
    with pytest.raises(Forbidden):
        accounts.confirm_owner(keeper, second_owner, "third")
    accounts.confirm_owner(keeper, second_owner, "third", proof=Proof(OTHER, "here"))
    assert accounts.log_in(keeper, "third", OTHER, "here").role == "owner"
    with pytest.raises(Conflict):
        accounts.confirm_from_command(keeper, "third")
    assert [entry.action for entry in house.log()].count("confirm owner") == 2


@pytest.mark.parametrize(
    ("scope", "call"),
    [
        ("read", lambda client, _: client.get("/grants")),
        (
            "interpret",
            lambda client, release: client.post(
                f"/releases/{release}/interpret/rule", json={"rule": "age > 3"}
            ),
        ),
        ("publish", lambda client, release: client.patch(f"/releases/{release}", json={"listed": True})),
        ("publish", lambda client, _: client.get("/jobs")),
        ("grant", lambda client, _: client.delete("/grants/1")),
        (
            "grant",
            lambda client, release: client.patch(f"/releases/{release}/disclosure", json={"approved": 5}),
        ),
        ("audit", lambda client, _: client.get("/log")),
        ("administer", lambda client, _: client.get("/users")),
    ],
)
def test_scopes(door, hand_made, scope, call):
    """A token does what its scopes say, and nothing else."""
    release = door.house.release(hand_made)
    door.house.grant(release)
    with stolen(door, scopes=[scope]) as client:
        assert call(client, release).status_code == 200
    with stolen(door, scopes=[other for other in SCOPES if other != scope]) as client:
        assert call(client, release).status_code == 403


def test_tokens_for_some_releases(house, hand_made):
    """A token for one release does nothing with another."""
    one, other = house.release(hand_made), house.release(hand_made)
    person = holder(house, releases=[one])
    assert catalogue.item(house.keeper, person, one)
    assert [item.id for item in catalogue.items(house.keeper, person)] == [one]
    catalogue.set_listed(house.keeper, person, one, listed=False)
    with pytest.raises(Missing):
        catalogue.item(house.keeper, person, other)
    with pytest.raises(Forbidden):
        catalogue.set_listed(house.keeper, person, other, listed=False)
    house.grant(other)
    assert grants.all_grants(house.keeper, person) == []
    worker = Worker(house.keeper)
    with pytest.raises(Forbidden, match="some releases"):
        worker.submit(person, title="x", policy=None, data=None)
    worker.stop()


def test_listed_and_revoked(house):
    """Tokens are listed without themselves, one's own or all for an owner, and ended by their number."""
    mine = tokens.issue_token(
        house.keeper, "researcher", PASSWORD, "here", Wish(label="laptop", scopes=("read",))
    )
    tokens.issue_token(house.keeper, "auditor", PASSWORD, "here")
    (listed,) = tokens.all_tokens(house.keeper, house.researcher)
    assert (listed.id, listed.label, listed.account, listed.scopes) == (
        mine.id,
        "laptop",
        "researcher",
        ("read",),
    )
    assert mine.token not in str(listed)
    assert len(tokens.all_tokens(house.keeper, house.owner)) == 2
    tokens.revoke_token(house.keeper, house.owner, mine.id)
    assert tokens.find_token(house.keeper, mine.token) is None
    assert tokens.all_tokens(house.keeper, house.researcher) == []


def test_every_entry_names_its_token(house, hand_made):
    """What was done with a token has its number in the log, and what was done without one has none."""
    release = house.release(hand_made)
    person = holder(house)
    catalogue.set_listed(house.keeper, person, release, listed=False)
    assert house.log()[-1].details == {"token": person.token.id}
    catalogue.set_listed(house.keeper, house.owner, release, listed=True)
    assert house.log()[-1].details == {}


def test_a_second_factor(house, clock):
    """With a second factor a login needs its code, which is good once; without the code it is refused as a wrong password is."""
    object.__setattr__(house.keeper, "now", clock)
    keeper, person = house.keeper, house.researcher
    enrolment = second.begin_second(keeper, person)
    assert enrolment.address.startswith("otpauth://totp/")
    accounts.log_in(keeper, "researcher", PASSWORD, "here")
    codes = pyotp.TOTP(enrolment.secret)
    with pytest.raises(InputError):
        second.confirm_second(keeper, person, "000000" if codes.at(clock.time) != "000000" else "000001")
    second.confirm_second(keeper, person, codes.at(clock.time))

    def enter(code):
        try:
            return accounts.log_in(keeper, "researcher", PASSWORD, "here", code=code).name
        except Unauthenticated as refusal:
            return str(refusal)

    said = {enter(""), enter("123"), enter(codes.at(clock.time))}
    assert len(said) == 1
    clock.time += 31
    assert enter(codes.at(clock.time)) == "researcher"
    assert enter(codes.at(clock.time)) in said
    clock.time += 301
    assert enter(codes.at(clock.time - 90)) in said
    with pytest.raises(Conflict):
        second.begin_second(keeper, person)
    accounts.change_user(keeper, house.owner, "researcher", second_factor=False, proof=PROOF)
    assert enter("") == "researcher"


def test_what_codes_are_made_from(house):
    """What codes are made from stands in the database encrypted."""
    enrolment = second.begin_second(house.keeper, house.researcher)
    with house.keeper.database.reading() as connection:
        rows = connection.execute(second.users.select()).all()
    assert enrolment.secret.encode() not in b"".join(row.second or b"" for row in rows)


def test_a_second_factor_in_the_browser(door):
    """The page sets a second factor up with the own password, and asks for codes from then on."""
    session = logins.open_session(door.house.keeper, "auditor", PASSWORD, "here")
    with httpx.Client(base_url=door.url, cookies={logins.PLAIN: session.cookie}) as browser:
        form = {"csrf": session.csrf}
        assert browser.post("/account/second", data=form | {"confirm": "wrong"}).status_code == 403
        page = browser.post("/account/second", data=form | {"confirm": PASSWORD}).text
        secret = page.split("only now, then type the code it shows: <code>")[1].split("<")[0]
        code = pyotp.TOTP(secret).now()
        assert browser.post("/account/second/confirm", data=form | {"code": code}).status_code == 303
        assert "auditor" in browser.get("/account").text
    login = {"name": "auditor", "password": PASSWORD}
    assert httpx.post(f"{door.url}/login", data=login).status_code == 401


def test_owners_have_their_own_releases(house, hand_made):
    """An owner sees and changes the own releases; those of somebody whose account is closed belong to every owner."""
    accounts.add_user(house.keeper, house.owner, "second", OTHER, "owner", proof=PROOF)
    accounts.confirm_from_command(house.keeper, "second")
    other = accounts.log_in(house.keeper, "second", OTHER, "here")
    release = house.release(hand_made, listed=False)
    with pytest.raises(Missing):
        catalogue.item(house.keeper, other, release)
    assert catalogue.items(house.keeper, other) == []
    catalogue.set_listed(house.keeper, house.owner, release, listed=True)
    with pytest.raises(Forbidden):
        catalogue.set_listed(house.keeper, other, release, listed=False)
    accounts.change_user(house.keeper, other, "owner", active=False)
    assert not catalogue.set_listed(house.keeper, other, release, listed=False).listed
