"""What goes over the wire: headers, cookies, tokens for forms, sizes, and nothing that tells too much."""

import io
from dataclasses import replace

import httpx
import pytest

from manyveils.server import catalogue, logins
from manyveils.server.app import create_app
from manyveils.server.settings import Settings

PASSWORD = "a long enough password"
MARK = "Qz9secret"
SECURITY = {
    "content-security-policy",
    "x-content-type-options",
    "referrer-policy",
    "cross-origin-opener-policy",
}


@pytest.fixture
def release(door, hand_made):
    """A listed release that the researcher has a grant for."""
    number = door.house.release(hand_made)
    door.house.grant(number, limit=50)
    return number


def session_client(door, name="owner"):
    """A browser that is logged in, and its session."""
    session = logins.open_session(door.house.keeper, name, PASSWORD, "here")
    return httpx.Client(base_url=f"{door.url}/api/v1", cookies={logins.PLAIN: session.cookie}), session


def test_headers(door):
    """Every response has the security headers, refusals and missing pages too; none says what serves it."""
    with door.as_("owner") as client:
        responses = [
            client.get("/me"),
            client.get("/nothing"),
            client.get("/releases/../../etc/passwd"),
            client.post("/token", json={}),
            client.post("/token", content=b"x" * 2_000_000),
            httpx.get(f"{door.url}/api/v1/openapi.json"),
            httpx.get(f"{door.url}/docs"),
            httpx.get(f"{door.url}/%00"),
        ]
    assert [response.status_code for response in responses] == [200, 404, 404, 422, 413, 200, 404, 404]
    for response in responses:
        assert set(response.headers) >= SECURITY
        assert "server" not in response.headers
        assert "default-src 'none'" in response.headers["content-security-policy"]
        assert "unsafe" not in response.headers["content-security-policy"]
    assert responses[0].headers["cache-control"] == "no-store"


def test_tokens_over_the_wire(door):
    """A token works until it is revoked; without one, and with a wrong one, the answer is 401."""
    with door.as_("researcher") as client:
        assert client.get("/me").json() == {"name": "researcher", "role": "researcher"}
        assert client.delete("/token").status_code == 204
        assert client.get("/me").status_code == 401
    for headers in ({}, {"Authorization": "Bearer mvt_wrong"}, {"Authorization": "Basic b3duZXI6eA=="}):
        response = httpx.get(f"{door.url}/api/v1/me", headers=headers)
        assert response.status_code == 401
        assert response.headers["www-authenticate"] == "Bearer"


def test_throttling_over_the_wire(door):
    """After five wrong passwords the answer is 429 and says when to come back."""
    with door.as_(None) as client:
        said = [client.post("/token", json={"name": "auditor", "password": "wrong"}) for _ in range(6)]
    assert [response.status_code for response in said] == [401] * 5 + [429]
    assert int(said[-1].headers["retry-after"]) >= 1


def test_forms_need_their_token(door, release):
    """A cookie alone reads but changes nothing; with the session's CSRF token, in a header or a form, it does."""
    client, session = session_client(door)
    _, other = session_client(door)
    change = {"listed": False}
    assert client.get("/me").status_code == 200
    assert client.patch(f"/releases/{release}", json=change).status_code == 403
    for wrong in ("", "x", other.csrf, session.csrf[:-1], "ä"):
        headers = {b"X-CSRF-Token": wrong.encode()}
        response = client.patch(f"/releases/{release}", json=change, headers=headers)
        assert response.status_code == 403
    assert catalogue.item(door.house.keeper, None, release).listed
    right = {"X-CSRF-Token": session.csrf}
    assert client.patch(f"/releases/{release}", json=change, headers=right).status_code == 200
    missing = client.post("/jobs", data={"title": "x"}, files={"policy": ("p.toml", b"x")})
    carried = client.post(
        "/jobs", data={"title": "x", "csrf": session.csrf}, files={"policy": ("p.toml", b"x")}
    )
    assert (missing.status_code, carried.status_code) == (403, 422)


def test_tokens_need_no_form_token(door, release):
    """A bearer token is no cookie: browsers do not send it by themselves, so it needs no CSRF token."""
    with door.as_("owner") as client:
        assert client.patch(f"/releases/{release}", json={"listed": False}).status_code == 200


def test_nothing_is_published_after_earlier_releases(door):
    """The server keeps no ledgers, so a form that names earlier releases is refused and not taken without them."""
    with door.as_("owner") as client:
        files = {"policy": ("p.toml", b"x"), "data": ("d.csv", b"x")}
        response = client.post("/jobs", data={"title": "x", "after": "release-1"}, files=files)
    assert response.status_code == 422
    assert "--after" in response.text


def test_cookies(door):
    """Cookies are out of reach of scripts and other sites; off this machine they are for TLS alone."""
    from starlette.responses import Response

    keeper = door.house.keeper
    session = logins.open_session(keeper, "owner", PASSWORD, "here")

    def cookie(scheme, host):
        object.__setattr__(keeper.settings, "host", host)
        response = Response()
        logins.set_cookie(response, keeper, session, scheme)
        return response.headers["set-cookie"]

    for said in (cookie("http", "127.0.0.1"), cookie("https", "127.0.0.1"), cookie("http", "0.0.0.0")):
        assert "HttpOnly" in said
        assert "SameSite=strict" in said
        assert "Path=/" in said
        assert "Domain" not in said
    assert "Secure" not in cookie("http", "127.0.0.1")
    for secure in (cookie("https", "127.0.0.1"), cookie("http", "0.0.0.0")):
        assert secure.startswith("__Host-")
        assert "Secure" in secure


def test_logging_out_ends_a_session(door):
    """After logging out the same cookie is a stranger's."""
    client, session = session_client(door)
    assert client.get("/me").status_code == 200
    logins.close_session(door.house.keeper, session)
    assert client.get("/me").status_code == 401


def test_files(door, release, hand_made):
    """Files come by number or by their name in the manifest, byte for byte; other names and paths lead nowhere."""
    client = door.as_(None)
    names = [file["name"] for file in client.get(f"/releases/{release}/files").json()]
    assert names[0] == "release.json"
    for number, name in enumerate(names):
        content = (hand_made / name).read_bytes()
        assert client.get(f"/releases/{release}/files/{number}").content == content
        assert client.get(f"/releases/{release}/file", params={"name": name}).content == content
    for name in ("../../server.key", "/etc/passwd", "tables", "tables/../release.json", "", "\x00"):
        assert client.get(f"/releases/{release}/file", params={"name": name}).status_code == 404
    assert client.get(f"/releases/{release}/files/{len(names)}").status_code == 404
    assert client.get(f"/releases/{release}/files/-1").status_code == 422


def test_unlisted_releases_are_hidden(door, release):
    """What is not listed is not there: not for strangers, researchers or auditors, by any address."""
    catalogue.set_listed(door.house.keeper, door.house.owner, release, listed=False)
    for name in (None, "researcher", "auditor"):
        with door.as_(name) as client:
            assert client.get("/releases").json() == []
            for path in ("", "/files", "/files/0", "/file?name=release.json"):
                assert client.get(f"/releases/{release}{path}").status_code == 404
    with door.as_("owner") as client:
        assert len(client.get("/releases").json()) == 1


def test_roles(door, release):
    """Each role gets what is its own and 403 for the rest."""
    allowed = {
        "researcher": {"/grants": 200, "/users": 403, "/jobs": 403, "/log": 403, "/log/verify": 403},
        "auditor": {"/grants": 403, "/users": 403, "/jobs": 403, "/log": 200, "/log/verify": 200},
        "owner": {"/grants": 200, "/users": 200, "/jobs": 200, "/log": 200, "/log/verify": 200},
    }
    for name, paths in allowed.items():
        with door.as_(name) as client:
            assert {path: client.get(path).status_code for path in paths} == paths
    asked = {"attribute": "insurance", "published": "CODE001"}
    with door.as_("auditor") as client:
        assert client.post(f"/releases/{release}/interpret/value", json=asked).status_code == 403


def test_what_a_role_may_not_is_logged(door):
    """A request that a role may not make is in the log, by token and by cookie, and no more than twenty of one person."""
    browser, _ = session_client(door, "auditor")
    with door.as_("researcher") as client:
        assert {client.get("/users").status_code for _ in range(23)} == {403}
    assert browser.get("/jobs").status_code == 403
    written = [entry for entry in door.house.log() if entry.action == "refused"]
    assert [(entry.actor, entry.subject) for entry in written] == [("researcher", "/api/v1/users")] * 20 + [
        ("auditor", "/api/v1/jobs")
    ]
    assert written[0].details.keys() == {"method", "refused", "token"}
    assert written[-1].details == {"method": "GET", "refused": 403}


def test_only_an_owners_upload_is_read(door, monkeypatch):
    """An upload of anybody else, also with a cookie, is refused before its form is read."""
    from starlette.requests import Request

    def unread(*arguments, **options):
        raise AssertionError("the form was read")

    monkeypatch.setattr(Request, "form", unread)
    for name in ("researcher", "auditor"):
        browser, session = session_client(door, name)
        for url in (f"{door.url}/api/v1/jobs", f"{door.url}/jobs"):
            sent = {"data": {"title": "x", "csrf": session.csrf}, "files": {"data": ("d.csv", b"x")}}
            assert browser.post(url, **sent).status_code == 403
        with door.as_(name) as client:
            assert client.post("/jobs", files={"data": ("d.csv", b"x")}).status_code == 403


@pytest.mark.parametrize("behind", [False, True])
def test_forwarded_headers(settings, serve, house_of, behind):
    """Who sent a request, and how, is believed of a proxy only where there is one."""
    app = create_app(replace(settings, behind_proxy=behind))
    house = house_of(app)
    headers = {"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Proto": "https"}
    with serve(app) as url:
        login = {"name": "owner", "password": PASSWORD}
        said = httpx.post(f"{url}/login", data=login, headers=headers)
        assert house.log()[-1].details == {"address": "6.6.6.6" if behind else "127.0.0.1"}
    assert said.status_code == 303
    assert ("Secure" in said.headers["set-cookie"]) == behind
    assert ("strict-transport-security" in said.headers) == behind


def test_administration(door, release):
    """An owner makes accounts, grants and ends grants, and the numbers are there."""
    with door.as_("owner") as client:
        new = {"name": "second", "password": PASSWORD, "role": "researcher"}
        assert client.post("/users", json=new).status_code == 201
        assert client.post("/users", json=new).status_code == 409
        grant = {
            "researcher": "second",
            "release": release,
            "daily_limit": 3,
            "expires": "2999-01-01T00:00:00Z",
        }
        given = client.put("/grants", json=grant)
        assert (given.status_code, given.json()["used_today"], given.json()["expired"]) == (200, 0, False)
        assert client.put("/grants", json=grant | {"expires": "1999-01-01T00:00:00Z"}).status_code == 422
        assert client.put("/grants", json=grant | {"researcher": "auditor"}).status_code == 422
        assert client.put("/grants", json=grant | {"researcher": "nobody"}).status_code == 404
        assert client.delete(f"/grants/{given.json()['id']}").json()["expired"]
        assert client.patch("/users/second", json={"active": False}).json()["active"] is False
        assert client.patch("/users/owner", json={"active": False}).status_code == 409


def test_bodies_have_limits(door):
    """A body is refused once it is too long, announced or not; strangers' uploads are not even read."""

    def endless():
        for _ in range(40):
            yield b"x" * 100_000

    with door.as_(None) as client:
        assert client.post("/token", content=endless()).status_code == 413
        assert (
            client.post("/jobs", files={"data": ("d.csv", io.BytesIO(b"x" * 2_000_000))}).status_code == 401
        )


def test_no_response_gives_a_meaning_away(door, release):
    """On every path that refuses, as anyone, no response holds anything of the key."""
    value, rule, table = (f"/releases/{release}/interpret/{kind}" for kind in ("value", "rule", "table"))
    code = {"attribute": "insurance", "published": "CODE001"}
    asked = [
        ("POST", value, {"attribute": "income", "published": "CODE001"}),
        ("POST", value, {"attribute": "nothing", "published": "CODE001"}),
        ("POST", value, {"attribute": "insurance"}),
        ("POST", rule, {"rule": "insurance = 'CODE001' and income >= 'CODE001'"}),
        ("POST", rule, {"rule": "insurance = 'CODE001' and nothing = 3"}),
        ("POST", rule, {"rule": "insurance = 'CODE001' and"}),
        ("POST", table, {"names": ["insurance", "income"], "rows": [["CODE001", "x"]]}),
        ("POST", table, {"names": ["insurance"], "rows": [[f"CODE{n:03}"] for n in range(60)]}),
        ("POST", table, {"names": ["insurance"], "rows": [["CODE001"], []]}),
        ("GET", f"/releases/{release}", None),
        ("GET", "/releases", None),
        ("GET", "/log", None),
        ("GET", "/grants", None),
        ("GET", "/users", None),
    ]
    for name in (None, "researcher", "auditor", "owner"):
        with door.as_(name) as client:
            for method, path, body in asked:
                response = client.request(method, path, json=body)
                is_whole_answer = name == "owner" and path == table and response.status_code == 200
                assert is_whole_answer or MARK not in response.text, (name, path)
            if name in (None, "auditor"):
                assert MARK not in client.post(value, json=code).text
    with door.as_("researcher") as client:
        assert MARK in client.post(value, json=code).text


def test_faults_tell_nothing(door, release, monkeypatch, caplog):
    """Something unforeseen is a 500 without a word about it, and the process's log has its place, not its message."""

    def fault(*arguments):
        raise RuntimeError(f"{MARK} in a message")

    monkeypatch.setattr("manyveils.server.interpretation.charge", fault)
    with door.as_("researcher") as client:
        response = client.post(
            f"/releases/{release}/interpret/value", json={"attribute": "insurance", "published": "CODE001"}
        )
    assert response.status_code == 500
    assert set(response.headers) >= SECURITY
    assert MARK not in response.text + caplog.text
    assert "RuntimeError" in caplog.text
    assert [entry for entry in door.house.log() if entry.action == "interpret"] == []


def test_strange_texts(door, release):
    """Texts that no database or encoding takes are refused or answered, and are no fault."""
    with door.as_("owner") as client:
        for text in ("\\u0000", "\\ud800", "\\uffff", "ä"):
            for body in (
                f'{{"attribute": "insurance", "published": "{text}"}}',
                f'{{"attribute": "{text}", "published": "x"}}',
                f'{{"{text}": "insurance", "published": "x"}}',
            ):
                response = client.post(
                    f"/releases/{release}/interpret/value",
                    content=body,
                    headers={"content-type": "application/json"},
                )
                assert response.status_code in (200, 422), response.text
        for name in ("\x00", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")):
            assert client.post("/token", json={"name": name, "password": "x"}).status_code in (401, 422)


def test_two_apps_do_not_share(tmp_path):
    """A session of one server is none of another's."""
    one, other = (create_app(Settings(tmp_path / name)) for name in ("one", "other"))
    from manyveils.server.accounts import add_owner

    add_owner(one.state.keeper, "owner", PASSWORD)
    session = logins.open_session(one.state.keeper, "owner", PASSWORD, "here")
    assert logins.find_session(other.state.keeper, session.cookie) is None
    for app in (one, other):
        app.state.worker.stop()
        app.state.keeper.close()
