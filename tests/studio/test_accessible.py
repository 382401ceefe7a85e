"""No page of the studio has a barrier that axe-core finds, by day and by night, and all of it is done by keyboard alone."""

import pytest

pytest.importorskip("selenium")
pytest.importorskip("nicegui")


from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from manyveils.datasets import write_hospital
from tests.kit import axe
from tests.kit.browser import CHROMIUM, DRIVER, MISSING, open_browser
from tests.studio.conftest import studio
from tests.studio.test_browser import STEPS, alive, press, says, step, until, window

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
# What a page says when it has been filled.
FILLED = {
    "Data": "Rows 1 to 20",
    "Who stands out": "What is certain already",
    "Hierarchies": "Levels of age",
    "Promises": "The largest l",
    "Ways": "Tries",
    "Lattice": "Neighbours",
    "Release": "The command that does the same",
}


@pytest.fixture(scope="module")
def browser():
    """A browser with a new profile."""
    with open_browser() as driver:
        driver.set_script_timeout(120)
        yield driver


@pytest.fixture(scope="module")
def tried(browser, tmp_path_factory):
    """The address of a studio in which one way was tried and another was refused."""
    folder = tmp_path_factory.mktemp("studio") / "data"
    write_hospital(folder, n=200)
    (folder / "policy.toml").unlink()
    with studio(folder / "hospital.csv") as (_, address):
        browser.get(address)
        step(browser, "Ways")
        press(browser, "Try it")
        says(browser, "Look at try 1")
        press(browser, "Look at try 1")
        says(browser, "Before: first rows of the data")
        yield address


@pytest.mark.skipif(axe.script() is None, reason=axe.MISSING)
@pytest.mark.parametrize("title", STEPS)
@pytest.mark.parametrize("dark", [False, True], ids=["day", "night"])
def test_pages_have_no_barrier(browser, tried, title, dark):
    """Axe-core finds nothing on a page that has been filled."""
    window(browser, 1280, dark=dark)
    browser.get(tried)
    step(browser, title)
    if title == "Lattice":
        until(browser, lambda seen: "Neighbours" in seen.page_source or "Set method" in seen.page_source)
        if "Neighbours" not in browser.page_source:
            browser.find_element(By.XPATH, "//button[contains(., 'Set method')]").click()
    says(browser, FILLED[title])
    assert axe.violations(browser) == []


NAME = """
const active = document.activeElement, own = active.closest('.q-slider') || active, group = own.closest('[role=group]');
const name = own.getAttribute('aria-label') || (own.labels && own.labels[0] ? own.labels[0].innerText : '') || own.textContent;
return [name.trim(), group ? group.getAttribute('aria-label') : ''];
"""
MOST_STOPS = 250


def go_to(browser, name, group=""):
    """Press Tab until a control has the focus."""
    for _ in range(MOST_STOPS):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        told, of = browser.execute_script(NAME)
        if told.startswith(name) and (not group or of == group):
            return browser.switch_to.active_element
    raise AssertionError(f"{name} is not reached by Tab")


def enter(browser, name, group=""):
    """Go to a control and press Enter."""
    go_to(browser, name, group).send_keys(Keys.ENTER)


def arrive(browser, title):
    """Take the way to a step, and wait until the page is alive."""
    enter(browser, title)
    until(browser, lambda seen: seen.find_element(By.TAG_NAME, "h1").text == title)
    alive(browser)


def test_from_a_csv_to_an_audited_release_by_keyboard(browser, tmp_path):
    """Without a click: a role, a slider, a promise, a try, a hierarchy, a node of the lattice, and a release."""
    write_hospital(tmp_path / "data", n=200)
    (tmp_path / "data" / "policy.toml").unlink()
    window(browser, 1280)
    with studio(tmp_path / "data" / "hospital.csv") as (_, address):
        browser.get(address)
        alive(browser)
        enter(browser, "drop", "Role of stay")
        says(browser, "stay")
        until(browser, lambda seen: "chosen in the studio" in text_of(seen))
        arrive(browser, "Who stands out")
        says(browser, "are alone")
        go_to(browser, "Smallest group allowed").send_keys(Keys.ARROW_RIGHT)
        says(browser, "fewer than 6")
        arrive(browser, "Hierarchies")
        says(browser, "Levels of age")
        go_to(browser, "Widths").send_keys(", 40")
        until(browser, lambda seen: "40]" in text_of(seen))
        arrive(browser, "Promises")
        field = go_to(browser, "k: people")
        field.send_keys(Keys.CONTROL + "a", Keys.DELETE)
        field.send_keys("4")
        until(browser, lambda seen: "\nk = 4" in text_of(seen))
        arrive(browser, "Lattice")
        says(browser, "Set method")
        enter(browser, "Set method")
        says(browser, "Neighbours")
        go_to(browser, "Level of age").send_keys(Keys.ARROW_RIGHT)
        says(browser, "age finer")
        enter(browser, "Undo")
        until(browser, lambda seen: 'method = "generalize"' not in text_of(seen))
        arrive(browser, "Ways")
        enter(browser, "Try it")
        says(browser, "Look at try 1")
        enter(browser, "Look at try 1")
        says(browser, "Before: first rows of the data")
        arrive(browser, "Release")
        go_to(browser, "Seed").send_keys("7")
        enter(browser, "Write the release")
        says(browser, "Every promise is kept.")
    assert (tmp_path / "data" / "release" / "release.json").is_file()


def text_of(browser):
    """The policy that the page shows."""
    return browser.find_element(By.CSS_SELECTOR, ".policy textarea").get_attribute("value")
