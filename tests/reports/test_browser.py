"""A report in a real browser: wide and narrow, light and dark, with the keyboard, and on paper."""

import os
from base64 import b64decode
from pathlib import Path

import pytest

pytest.importorskip("selenium")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import manyveils as mv
from manyveils.datasets import write_hospital
from tests.kit.browser import CHROMIUM, DRIVER, MISSING, open_browser

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
# Set to a folder to have screenshots written there.
SHOTS = os.environ.get("MANYVEILS_SCREENSHOTS")
CONTRAST = """
const shade = text => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
const light = rgb => { const [r, g, b] = rgb.map(c => c / 255).map(c => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
  return .2126 * r + .7152 * g + .0722 * b; };
const ground = element => { for (let e = element; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor;
  if (!c.endsWith(', 0)') && c !== 'transparent') return shade(c); } return [255, 255, 255]; };
return [...document.querySelectorAll('p, td, th, dd, dt, h1, h2, strong, summary, a, span, .drawing .mark-text.role-axis-label text')]
  .filter(e => e.textContent.trim() && !e.closest('.skip') && e.getClientRects().length).map(e => {
    const style = getComputedStyle(e), a = light(shade(e.closest('svg') ? style.fill : style.color)), b = light(ground(e));
    return [(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.textContent.slice(0, 30)]; })
  .sort((one, other) => one[0] - other[0])[0];
"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The owner's and the public page of one release."""
    folder = tmp_path_factory.mktemp("report")
    write_hospital(folder / "data", n=300)
    policy = mv.Policy.load(folder / "data" / "policy.toml").replaced(
        publish={"method": "codip", "beta": 0.5}
    )
    release = mv.publish(None, policy, seed=1)
    owner = mv.report(release, None, policy, only=["linkage", "homogeneity", "background-join"], seed=1)
    return {
        "owner": owner.save(folder / "report.html"),
        "public": mv.public_report(release).save(folder / "release.html"),
    }


@pytest.fixture(scope="module")
def browser():
    """A browser with a new profile."""
    with open_browser() as driver:
        yield driver


def look(browser, page, *, width=1100, dark=False):
    """Open a page in a window of some width, by day or by night."""
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    # A busy browser may give the page away before it has read all of it.
    WebDriverWait(browser, 30).until(
        lambda seen: seen.execute_script("return document.readyState") == "complete"
    )
    if SHOTS:
        height = browser.execute_script("return document.documentElement.scrollHeight")
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"height": height})
        name = f"report-{page.stem}-{width}{'-dark' if dark else ''}.png"
        browser.save_screenshot(str(Path(SHOTS) / name))


@pytest.mark.parametrize("which", ["owner", "public"])
@pytest.mark.parametrize(("width", "dark"), [(1100, False), (1100, True), (380, False)])
def test_the_page_is_readable(browser, pages, which, width, dark):
    """A page has no complaints, nothing beyond its edge, and words that stand out from their ground."""
    look(browser, pages[which], width=width, dark=dark)
    assert browser.get_log("browser") == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    contrast, words = browser.execute_script(CONTRAST)
    assert contrast >= 4.5, words


def test_the_keyboard_reaches_everything(browser, pages):
    """The first key leads past the links, and what scrolls or opens can be reached by keys."""
    look(browser, pages["owner"])
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the report"
    reachable = "[...document.querySelectorAll('.wide')].every(e => e.tabIndex === 0 && e.ariaLabel)"
    assert browser.execute_script(f"return {reachable}")


def test_links_lead_to_sections(browser, pages):
    """Every link of a page leads to a part of it."""
    for page in pages.values():
        look(browser, page)
        lost = "[...document.querySelectorAll('nav a')].filter(a => !document.querySelector(a.hash)).length"
        assert browser.execute_script(f"return {lost}") == 0


def test_the_page_can_be_printed(browser, pages):
    """On paper a page is in dark letters even at night, and no table or drawing is wider than the sheet."""
    look(browser, pages["owner"], dark=True)
    printed = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})
    assert b64decode(printed["data"]).startswith(b"%PDF")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    # What does not fit on a sheet cannot be moved sideways there.
    sheet = {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", sheet)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 720
    cut = "[...document.querySelectorAll('.wide')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
    assert browser.execute_script(f"return {cut}") == 0
    ink = browser.execute_script("return getComputedStyle(document.body).color")
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert ink == "rgb(0, 0, 0)"
