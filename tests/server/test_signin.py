"""Sign-in at a real provider: its word opens the account that an owner has tied to it, and no other."""

from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from manyveils.errors import InputError
from manyveils.server import accounts
from manyveils.server.app import create_app
from manyveils.server.settings import Provider

provider_mock = pytest.importorskip("oidc_provider_mock")
PASSWORD = "a long enough password"


@pytest.fixture(scope="module")
def issuer():
    """A provider of sign-in on this machine."""
    people = [
        provider_mock.User(sub="r-17", claims={"email": "r@example.org", "email_verified": True}),
        provider_mock.User(sub="x-99", claims={"email": "r@example.org", "email_verified": False}),
    ]
    with provider_mock.run_server_in_thread(port=0, user_claims=people) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.fixture
def signing(settings, issuer, house_of, serve):
    """A server with a provider, and an account without a password that is tied to somebody there."""
    app = create_app(replace(settings, provider=Provider(issuer, "manyveils", "secret")))
    house = house_of(app)
    accounts.add_user(house.keeper, house.owner, "external", "", "researcher", external="r-17")
    with serve(app) as url:
        yield house, url


def sign_in(url, who, *, tamper=None):
    """Go to the provider in a browser and come back as somebody; gives the browser and the last response."""
    browser = httpx.Client(base_url=url.replace("127.0.0.1", "localhost"))
    there = browser.get("/signin").headers["location"]
    asked = parse_qs(urlsplit(there).query)
    assert {"state", "nonce", "code_challenge"} <= asked.keys()
    back = httpx.post(there, data={"sub": who}).headers["location"]
    return browser, browser.get(tamper(back) if tamper else back)


def test_signing_in(signing):
    """Somebody whom the provider knows gets the session of the account tied to her, and it is in the log."""
    house, url = signing
    browser, page = sign_in(url, "r-17")
    assert page.status_code == 200
    assert "external (researcher)" in browser.get("/account").text
    assert "samesite=strict" in page.headers["set-cookie"].lower()
    entry = next(entry for entry in house.log() if entry.action == "sign in")
    assert entry.actor == "external"


@pytest.mark.parametrize("who", ["x-99", "somebody"])
def test_nobody_else_gets_in(signing, who):
    """Somebody whom the provider knows and no account is tied to is refused, and that is in the log."""
    house, url = signing
    browser, page = sign_in(url, who)
    assert page.status_code == 303
    assert page.headers["location"] == "/login"
    assert browser.get("/account").status_code == 303
    assert "sign in refused" in [entry.action for entry in house.log()]


def test_a_closed_account(signing):
    """An account that is closed does not open by sign-in, and one without a password not by any password."""
    house, url = signing
    for password in ("", "!", PASSWORD):
        login = {"name": "external", "password": password}
        assert httpx.post(f"{url}/api/v1/token", json=login).status_code in (401, 422)
    accounts.change_user(house.keeper, house.owner, "external", active=False)
    assert sign_in(url, "r-17")[1].status_code == 303


@pytest.mark.parametrize(
    "tamper",
    [
        lambda back: back.replace("state=", "state=x"),
        lambda back: back.replace("code=", "code=x"),
        lambda back: back.split("?")[0],
        lambda back: f"{back.split('?')[0]}?error=access_denied",
    ],
)
def test_what_comes_back_changed(signing, tamper):
    """A way back with another state, another code or none begins no session."""
    browser, page = sign_in(signing[1], "r-17", tamper=tamper)
    assert page.status_code == 303
    assert page.headers["location"] == "/login"
    assert browser.get("/account").status_code == 303


def test_another_browser_cannot_come_back(signing):
    """What one browser began, another one cannot end."""
    url = signing[1].replace("127.0.0.1", "localhost")
    there = httpx.get(f"{url}/signin").headers["location"]
    back = httpx.post(there, data={"sub": "r-17"}).headers["location"]
    assert httpx.get(back).headers["location"] == "/login"


def test_addresses_must_be_verified(settings, issuer, house_of, serve):
    """Where accounts are tied to addresses, one that the provider has not verified opens nothing."""
    provider = Provider(issuer, "manyveils", "secret", claim="email")
    app = create_app(replace(settings, provider=provider))
    house = house_of(app)
    accounts.add_user(house.keeper, house.owner, "external", "", "researcher", external="r@example.org")
    with serve(app) as url:
        assert sign_in(url, "r-17")[1].status_code == 200
        assert sign_in(url, "x-99")[1].status_code == 303


def test_a_provider_that_is_away(settings, house_of, serve):
    """While the provider does not answer, sign-in says so, and local accounts go on."""
    app = create_app(replace(settings, provider=Provider("http://localhost:1", "manyveils", "secret")))
    house_of(app)
    with serve(app) as url:
        assert httpx.get(f"{url}/signin").status_code == 503
        login = {"name": "owner", "password": PASSWORD}
        assert httpx.post(f"{url}/api/v1/token", json=login).status_code == 201


def test_a_provider_without_tls(settings):
    """A provider elsewhere is asked over TLS only, and its secret is in no repr."""
    provider = Provider("http://login.example.org", "manyveils", "hidden")
    assert "hidden" not in repr(replace(settings, provider=provider))
    with pytest.raises(InputError, match="https"):
        create_app(replace(settings, provider=provider))


def test_without_a_provider(door):
    """Without a provider there is no such page."""
    assert httpx.get(f"{door.url}/signin").status_code == 404
    assert "organization" not in httpx.get(f"{door.url}/login").text
