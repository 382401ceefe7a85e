"""The pages in a real browser: a whole visit of each role, with and without scripts, from `serve --demo`."""

import csv
import io
import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("selenium")

from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.ui import WebDriverWait

from manyveils.datasets import write_hospital
from tests.kit.browser import CHROMIUM, DRIVER, MISSING, open_browser

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
WAIT = 60
# Pages without a script are the same with and without; one visit is enough.
ONCE = pytest.mark.parametrize("browser", [True], ids=["scripts"], indirect=True, scope="module")
# Set to a folder to have screenshots of every page written there.
SHOTS = os.environ.get("MANYVEILS_SCREENSHOTS")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A demo server in a process of its own: its address, release and passwords."""
    command = [sys.executable, "-c", "from manyveils.cli import main; main()"]
    folder = tmp_path_factory.mktemp("demo") / "server"
    arguments = ["serve", "--demo", "--json", "--port", "0", "--folder", str(folder)]
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        said = ""
        for line in process.stdout:
            said += line
            if line.startswith("}"):
                break
        yield json.loads(said)
        process.terminate()


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"], scope="module")
def browser(request):
    """A browser with a new profile."""
    with open_browser(scripts=request.param) as driver:
        yield driver


def _is_gone(element):
    """Whether an element belongs to a page that was left; while pages change, drivers say so in several ways."""
    try:
        element.is_enabled()
    except WebDriverException:
        return True
    return False


class Visit:
    """What a visitor does in a browser."""

    def __init__(self, browser, demo):
        self.browser, self.url, self.passwords = browser, demo["url"], demo["demo"]["passwords"]
        self.release = demo["demo"]["release"]

    def go(self, path):
        """Open a page."""
        self.browser.get(self.url + path)
        self.until("manyveils")
        assert "fault" not in self.text.lower()
        return self

    @property
    def text(self):
        """What the page says."""
        return self.browser.find_element(By.TAG_NAME, "body").text

    def fill(self, **fields):
        """Fill in fields of a form."""
        for name, value in fields.items():
            field = self.browser.find_element(By.NAME, name)
            if field.tag_name == "select":
                Select(field).select_by_visible_text(value)
            else:
                if field.get_attribute("type") in ("text", "textarea", "number"):
                    field.clear()
                field.send_keys(value)
        return self

    def press(self, words, *, within="", which=0):
        """Press a button, and wait until its page is gone."""
        path = f"{within}//button[normalize-space()='{words}']"
        button = self.browser.find_elements(By.XPATH, path)[which]
        button.click()
        WebDriverWait(self.browser, WAIT).until(lambda _: _is_gone(button))
        return self

    def until(self, words):
        """Wait until the page says something."""
        WebDriverWait(self.browser, WAIT, ignored_exceptions=[WebDriverException]).until(
            lambda _: words in self.text
        )
        return self

    def log_in(self, name):
        """Log in as one of the demo's people."""
        self.browser.delete_all_cookies()
        self.go("/login").fill(name=name, password=self.passwords[name]).press("Log in")
        return self.until(f"{name} ({name})")

    def shot(self, name):
        """Keep a picture, if asked to."""
        if SHOTS:
            Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.browser.save_screenshot(str(Path(SHOTS) / f"{name}.png"))
        return self


@pytest.fixture
def visit(browser, demo):
    """A visitor who has not logged in."""
    browser.delete_all_cookies()
    return Visit(browser, demo)


def published(visit):
    """The rows of the demo's release, as anybody can download them."""
    import httpx

    files = httpx.get(f"{visit.url}/api/v1/releases/{visit.release}/files").json()
    number = next(file["number"] for file in files if file["name"].startswith("tables/"))
    text = httpx.get(f"{visit.url}/releases/{visit.release}/files/{number}").text
    return list(csv.DictReader(io.StringIO(text)))


def test_a_stranger(visit):
    """Anybody reads the catalogue and a listed release, and must log in for the rest."""
    visit.go("/").until("Hospital patients").shot("catalogue")
    visit.browser.find_element(By.LINK_TEXT, "Hospital patients (generated)").click()
    visit.until("In secret").shot("release")
    for path in ("/jobs", "/people", "/log", f"/releases/{visit.release}/interpret"):
        visit.go(path).until("Log in")
        assert visit.browser.current_url.endswith("/login")
    visit.shot("login")


@ONCE
def test_a_wrong_password(visit):
    """A wrong password is refused without saying what was wrong about it."""
    visit.go("/login").fill(name="owner", password="certainly not this").press("Log in")
    visit.until("do not fit")
    assert "certainly" not in visit.browser.page_source


def test_a_researcher(visit):
    """A researcher asks what a code, a rule and a table mean; every answer is counted."""
    rows = published(visit)
    code = next(row["insurance"] for row in rows if len(row["insurance"]) == 10)
    visit.log_in("researcher").go(f"/releases/{visit.release}/interpret")
    visit.fill(attribute="insurance", published=code)
    visit.press("Interpret", which=0).until("1 meaning counted").shot("interpret")
    answer = visit.browser.find_element(By.ID, "answer").text
    assert any(word in answer for word in ("Public", "Private", "Employer", "Self-paid", "None"))
    visit.fill(rule=f"insurance = '{code}' -> income > 2.5")
    visit.press("Interpret", which=1).until("-> income >").shot("rule")
    lines = "\n".join(["insurance,income", *(f"{row['insurance']},{row['income']}" for row in rows[:3])])
    visit.fill(table=lines)
    visit.press("Interpret", which=2).until("meanings counted")
    for path in ("/jobs", "/people", "/log"):
        visit.go(path).until("This was refused")


def test_an_owner_publishes(visit, tmp_path):
    """An owner uploads, follows the job, reads the audit, and only then lists the release."""
    policy = write_hospital(tmp_path, n=300)
    visit.log_in("owner").go("/jobs").shot("publish")
    title = f"Three hundred {tmp_path.name}"
    visit.fill(title=title, policy=str(policy), data=str(tmp_path / "hospital.csv")).press("Publish")
    visit.until("Every promise is kept.").until("not listed yet").shot("job")
    visit.press("List it for everyone").until("Take it off the list")
    visit.press("Log out").until("Log in")
    visit.go("/").until(title)


@ONCE
def test_an_owner_manages(visit, tmp_path):
    """An owner makes an account, grants and ends a grant, and closes the account."""
    name = f"r{os.getpid()}{len(tmp_path.name)}{visit.browser.session_id[:6]}"
    visit.log_in("owner").go("/people")
    visit.fill(name=name, password="a long first password", role="researcher").press("Add").until(name)
    day = datetime.now(UTC).date() + timedelta(days=30)
    visit.fill(researcher=name, daily_limit="5", expires=day.strftime("%m%d%Y")).shot("people")
    visit.press("Grant").until(day.isoformat())
    row = f"//tr[td[normalize-space()='{name}']]"
    visit.press("End", within=row).press("Close", within=row).until("closed")


@ONCE
def test_an_auditor(visit):
    """An auditor reads the log and verifies it, and may see nothing else that is not public."""
    visit.log_in("auditor").go("/log").until("log in").shot("log")
    visit.press("Verify the chain").until("The log is whole").shot("verified")
    visit.go("/people").until("This was refused")
