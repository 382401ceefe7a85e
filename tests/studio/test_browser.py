"""The studio in a real browser: from a csv to an audited release, by mouse and keyboard, in light and dark, wide and narrow."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("selenium")
pytest.importorskip("nicegui")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from manyveils.cli.app import app
from manyveils.datasets import write_hospital
from tests.kit.browser import CHROMIUM, DRIVER, MISSING, open_browser
from tests.studio.conftest import studio

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
# Set to a folder to have screenshots written there.
SHOTS = os.environ.get("MANYVEILS_SCREENSHOTS")
STEPS = ("Data", "Who stands out", "Hierarchies", "Promises", "Ways", "Lattice", "Release")
PATIENCE = 90
UNLABELLED = """
return [...document.querySelectorAll('button, input:not([type=hidden]), textarea, select, [role=slider], a')]
  .filter(e => e.getClientRects().length && !(e.ariaLabel || e.getAttribute('aria-labelledby') || e.labels?.length
    || e.textContent.trim() || e.closest('[aria-label]') || e.title)).map(e => e.outerHTML.slice(0, 200));
"""
BEYOND = "return document.documentElement.scrollWidth - window.innerWidth"
FETCHED = "return performance.getEntriesByType('resource').map(e => e.name)"


@pytest.fixture(scope="module")
def browser():
    """A browser with a new profile."""
    with open_browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """A studio over a csv, and the csv."""
    folder = tmp_path_factory.mktemp("studio") / "data"
    write_hospital(folder, n=200)
    (folder / "policy.toml").unlink()
    with studio(folder / "hospital.csv") as (_, address):
        yield address, folder


def until(browser, condition):
    """Wait until something is so, and give it."""
    return WebDriverWait(browser, PATIENCE, ignored_exceptions=[Exception]).until(condition)


def says(browser, words):
    """Wait until the page says something."""
    until(browser, lambda seen: words in seen.find_element(By.TAG_NAME, "body").text)


def press(browser, words):
    """Press a button by the keyboard alone."""

    def pressed(seen):
        found = seen.find_element(By.XPATH, f"//button[normalize-space(.)='{words}']")
        seen.execute_script("arguments[0].focus()", found)
        found.send_keys(Keys.ENTER)
        return True

    # A page that is loaded anew takes its buttons away.
    until(browser, pressed)


def step(browser, title):
    """Go to a step by its link, and wait until the page is alive."""
    # A page that is still being filled may replace what was found.
    until(browser, lambda seen: seen.find_element(By.LINK_TEXT, title).click() or True)
    until(browser, lambda seen: seen.find_element(By.TAG_NAME, "h1").text == title)
    alive(browser)


def alive(browser):
    """Wait until clicks arrive."""
    until(browser, lambda seen: seen.execute_script("return window.socket?.connected === true"))


def policy_text(browser):
    """The policy that the page shows."""
    return browser.find_element(By.CSS_SELECTOR, ".policy textarea").get_attribute("value")


def look(browser, name):
    """Keep a picture, if pictures are asked for."""
    if SHOTS:
        browser.save_screenshot(str(Path(SHOTS) / f"studio-{name}.png"))


def window(browser, width, *, height=900, dark=False):
    """A window of some width, by day or by night."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def test_from_a_csv_to_an_audited_release(browser, running):
    """A role, a promise and a method are chosen, a try refuses and says why, and the folder equals the command line's."""
    address, folder = running
    window(browser, 1280)
    browser.get(address)
    step(browser, "Data")
    assert "token" not in browser.current_url
    group = browser.find_element(By.CSS_SELECTOR, "[aria-label='Role of stay']")
    group.find_element(By.XPATH, ".//button[normalize-space(.)='drop']").click()
    until(browser, lambda seen: "chosen in the studio" in policy_text(seen))
    step(browser, "Who stands out")
    says(browser, "are alone")
    says(browser, "What is certain already")
    browser.execute_script("document.querySelector('.q-slider [tabindex]').focus()")
    browser.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    says(browser, "fewer than 6")
    look(browser, "people")
    step(browser, "Promises")
    field = browser.find_element(By.CSS_SELECTOR, "input[aria-label^='k:']")
    field.send_keys(Keys.CONTROL + "a", Keys.DELETE)
    until(browser, lambda seen: "\nk = " not in policy_text(seen))
    field.send_keys("1")
    says(browser, "is above k = 1")
    look(browser, "contradiction")
    field.send_keys("5000")
    says(browser, "The policy has no contradictions.")
    step(browser, "Ways")
    press(browser, "Try it")
    says(browser, "refused")
    look(browser, "why-not")
    press(browser, "Undo")
    until(browser, lambda seen: "k = 5\n" in policy_text(seen))
    alive(browser)
    press(browser, "Try it")
    says(browser, "every promise is kept")
    look(browser, "ways")
    step(browser, "Release")
    browser.find_element(By.CSS_SELECTOR, "input[aria-label^='Seed']").send_keys("7")
    says(browser, "--seed 7")
    press(browser, "Write the release")
    says(browser, "Every promise is kept.")
    look(browser, "release")
    words = browser.find_element(By.CLASS_NAME, "command").text.replace("data/release", "data/other").split()
    assert CliRunner().invoke(app, words[1:]).exit_code == 0
    assert files(folder / "release") == files(folder / "other")
    press(browser, "Write the report (attacks are tried; may take a while)")
    until(browser, lambda seen: seen.find_element(By.LINK_TEXT, "Open the report"))
    browser.get(browser.execute_script("return location.origin") + "/report")
    says(browser, "Promises")
    look(browser, "report")
    assert [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_without_a_table_the_first_page_asks_for_one(browser, running):
    """A path that leads nowhere is refused with words; one that leads to a table opens it."""
    _, folder = running
    with studio() as (_, address):
        browser.get(address)
        alive(browser)
        place = browser.find_element(By.CSS_SELECTOR, "main input")
        place.send_keys(str(folder / "absent.csv"))
        press(browser, "Open")
        says(browser, "absent.csv")
        until(browser, lambda seen: seen.find_element(By.CLASS_NAME, "problem"))
        place.send_keys(Keys.CONTROL + "a")
        place.send_keys(str(folder / "hospital.csv"))
        press(browser, "Open")
        says(browser, "Whose rows they are")


def files(folder):
    """Every file of a folder with its bytes."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("title", STEPS)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (768, False)])
def test_pages_are_reached_labelled_and_fit(browser, running, title, width, dark):
    """Every control has a label, nothing lies beyond the edge, and nothing was fetched from elsewhere."""
    address, _ = running
    window(browser, width, dark=dark)
    browser.get(address)
    step(browser, title)
    assert browser.execute_script(UNLABELLED) == []
    assert browser.execute_script(BEYOND) <= 0
    base = browser.execute_script("return location.origin")
    fetched = [name for name in browser.execute_script(FETCHED) if not name.startswith(("data:", base))]
    assert fetched == []
    look(browser, f"{title.lower().replace(' ', '-')}-{width}{'-dark' if dark else ''}")
