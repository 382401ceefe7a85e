"""The pages as programs see them: whatever is sent to them is answered with a page, and is no fault."""

import httpx
import pytest

from manyveils.server import accounts, catalogue, logins
from manyveils.server.app import create_app

PASSWORD = "a long enough password"
NASTY = [
    "",
    "\x00",
    "a\x00b",
    "9" * 30,
    "-1",
    str(2**31),
    "ä\ufffd\u202e",
    "../x",
    "x" * 5000,
    "\r\nSet-Cookie: x=y",
]
PASTED = ["a,b\rc,d\n1,2", 'a,b\n"1,2', "a,b\n1\x00,2", "a\n" + "x" * 140_000, '"\n"', "\ufeff", ",\n,"]
PATHS = [
    "/{}",
    "/releases/{}",
    "/releases/{}/files/0",
    "/releases/{}/interpret",
    "/jobs/{}",
    "/log?before={}",
    "/static/{}",
]


class Browser:
    """A browser that is logged in, or not, and sends the token of its forms."""

    def __init__(self, url, keeper, name):
        session = logins.open_session(keeper, name, PASSWORD, "here") if name else None
        cookies = {logins.PLAIN: session.cookie} if session else {}
        self.http = httpx.Client(base_url=url, cookies=cookies, timeout=60)
        self.csrf = session.csrf if session else ""

    def get(self, path, **more):
        """Open a page."""
        return self.http.get(path, **more)

    def post(self, path, **form):
        """Send a form."""
        return self.http.post(path, data={"csrf": self.csrf, **form})


@pytest.fixture
def served(either, serve, hand_made):
    """A server over either database, its address, and a listed release that the researcher has a grant for."""
    release = either.release(hand_made)
    either.grant(release, limit=1000)
    with serve(create_app(either.keeper.settings, either.keeper)) as url:
        yield either, url, release


def is_page(response):
    """Whether a response is a page, or sends the browser on to one."""
    return response.status_code in (303, 307) or response.headers["content-type"].startswith("text/html")


def test_nothing_sent_to_a_page_is_a_fault(served):
    """Whatever stands in the path, the query or a form of any page, the answer is a page and never a 5xx."""
    house, url, release = served
    with httpx.Client() as plain:
        quoted = [
            str(plain.build_request("GET", url, params={"q": text}).url).split("q=", 1)[1] for text in NASTY
        ]
    # What only a database could mind stands first.
    most = len(NASTY) if house.keeper.database.is_sqlite else 6
    for name, some in ((None, 3), ("owner", most)):
        browser = Browser(url, house.keeper, name)
        answers = []
        for text in quoted[:some]:
            answers += [
                browser.get(path.format(text)) for path in (*PATHS, f"/releases/{release}/files/{{}}")
            ]
            answers.append(browser.post(f"/people/{text}/active", active="no"))
            answers.append(browser.post(f"/grants/{text}/end"))
            answers.append(browser.post(f"/releases/{text}/listed", listed="no"))
        for text in NASTY[:some]:
            answers.append(browser.post(f"/releases/{release}/listed", listed=text))
            answers.append(browser.post("/people", name=text, password=text, role=text))
            grant = {"researcher": text, "release": text, "daily_limit": "5", "expires": "2999-01-01"}
            answers.append(browser.post("/grants", **grant))
            answers.append(browser.post("/grants", **grant | {"daily_limit": text, "expires": text}))
            answers.append(browser.post("/account", old=text, new=text, again=text))
        assert {answer.status_code for answer in answers} <= {200, 303, 307, 401, 404, 422}
        assert [answer.url for answer in answers if not is_page(answer)] == []
    assert catalogue.item(house.keeper, None, release).listed


def test_no_question_is_a_fault(served):
    """Whatever is asked on the page about a release is answered or refused on a page."""
    house, url, release = served
    browser = Browser(url, house.keeper, "researcher")
    asked = [{"kind": "table", "table": text} for text in [*PASTED, *NASTY]]
    asked += [{"kind": "rule", "rule": text} for text in [*NASTY, "age > '1\x00'", "zzz is missing", "->"]]
    asked += [{"kind": "value", "attribute": "age", "published": text} for text in NASTY]
    asked += [{"kind": "value", "attribute": text, "published": "1"} for text in NASTY]
    answers = [browser.post(f"/releases/{release}/interpret", **form) for form in asked]
    assert {answer.status_code for answer in answers} <= {200, 422}
    assert all(is_page(answer) for answer in answers)
    right = browser.post(f"/releases/{release}/interpret", kind="table", table="age;insurance\r\n30;CODE001")
    assert right.status_code == 200


def test_no_login_is_a_fault(served):
    """Names and passwords of any kind, and forms of any kind, are refused."""
    house, url, _ = served
    forms = [{"name": text, "password": text} for text in NASTY[:8]]
    answers = [httpx.post(f"{url}/login", data=form) for form in forms]
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n\xff\r\n--b--\r\n'
    bodies = [
        ("application/x-www-form-urlencoded", b"name=%ff&password=\xff"),
        ("application/x-www-form-urlencoded", b"&".join(b"a%d=1" % n for n in range(100))),
        ("multipart/form-data; boundary=b", part % b"name"),
        ("multipart/form-data; boundary=b; charset=nonsense", part % b"n\xffame"),
        ("multipart/form-data", b"xx"),
        ("application/json", b"{}"),
    ]
    answers += [
        httpx.post(f"{url}/login", content=body, headers={"Content-Type": kind}) for kind, body in bodies
    ]
    answers.append(httpx.post(f"{url}/login", content=b"x" * 1_200_000))
    assert {answer.status_code for answer in answers} <= {400, 401, 413, 422, 429}
    assert all(is_page(answer) for answer in answers)
    assert accounts.has_owner(house.keeper)


def test_refusals_are_pages_for_browsers(door, monkeypatch, hand_made):
    """What is not there, not allowed, wrong, too long or a fault is a page; under /api it is JSON."""
    browser = Browser(door.url, door.house.keeper, "owner")
    monkeypatch.setattr("manyveils.server.accounts._account", lambda row: 1 / 0)
    answers = [
        browser.get("/nowhere"),
        browser.get("/logout"),
        browser.get("/log?before=abc"),
        browser.post("/login", name="x" * 1_200_000),
        browser.get("/people"),
    ]
    assert [answer.status_code for answer in answers] == [404, 405, 422, 413, 500]
    for answer in answers:
        assert answer.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "This was refused" in answer.text
        assert "ZeroDivision" not in answer.text
    assert answers[1].headers["allow"] == "POST"
    for path in ("/api", "/api/v1/nowhere", "/api/%00", "/api/v1/users"):
        assert browser.get(path).headers["content-type"] == "application/json"


def test_heads(door, hand_made):
    """Pages, downloads and files of the pages answer HEAD as GET, without a body; the API's description has none of it."""
    release = door.house.release(hand_made)
    paths = [
        "/",
        "/login",
        f"/releases/{release}",
        f"/releases/{release}/files/1",
        "/static/style.css",
        "/log",
    ]
    paths += [f"/api/v1/releases/{release}/files/1", f"/api/v1/releases/{release}/file?name=release.json"]
    for path in paths:
        got, head = httpx.get(door.url + path), httpx.head(door.url + path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["content-length"] == got.headers["content-length"]
    described = httpx.get(f"{door.url}/api/v1/openapi.json").json()["paths"]
    assert all("head" not in operations for operations in described.values())


def test_yes_or_no(door, hand_made):
    """What is neither yes nor no changes nothing."""
    release = door.house.release(hand_made)
    browser = Browser(door.url, door.house.keeper, "owner")
    for text in ("maybe", "YES", "", "true"):
        assert browser.post(f"/releases/{release}/listed", listed=text).status_code == 422
        assert browser.post("/people/auditor/active", active=text).status_code == 422
    assert catalogue.item(door.house.keeper, None, release).listed
    assert {account.active for account in accounts.accounts(door.house.keeper, door.house.owner)} == {True}
    assert browser.post(f"/releases/{release}/listed", listed="no").status_code == 303
    assert not catalogue.item(door.house.keeper, door.house.owner, release).listed
