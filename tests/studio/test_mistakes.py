"""The mistakes of `tests/mistakes`, made through the page: the same tests, with the same words of the same errors.

Of each file every few are made, and all of them with MANYVEILS_THOROUGH=1.
"""

import os
from importlib import import_module
from inspect import getsource, signature

import pytest

pytest.importorskip("selenium")
pytest.importorskip("nicegui")

from selenium.webdriver.common.by import By

from tests.conftest import MARK, Desk, people
from tests.kit.browser import CHROMIUM, DRIVER, MISSING, open_browser
from tests.studio.conftest import studio
from tests.studio.test_browser import alive, press, until

pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=MISSING)
FILES = (
    "policy",
    "thresholds",
    "roles",
    "columns",
    "dates",
    "hierarchies",
    "infeasible",
    "files",
    "persons",
    "left_out",
)
EVERY = 1 if os.environ.get("MANYVEILS_THOROUGH") else 5
# Of the command line alone: paths as words of a command, and policies in JSON.
# Of this process alone, and said in other words, because the studio looks at the data before it publishes.
OTHERS = (
    "monkeypatch",
    "delimiter right?",
    "header line",
    "--",
    '"plan"',
    '"audit"',
    "p.json",
    "policy.json",
    "nowhere.toml",
    "given_as",
)
SAID = """
return [...document.querySelectorAll('.heading, .problem')].map(own => [...own.childNodes].map(e => e.textContent.trim()));
"""


@pytest.fixture(scope="module")
def browser():
    """A browser with a new profile."""
    with open_browser() as driver:
        yield driver


@pytest.fixture(scope="module")
def address(browser):
    """The address of a studio that has nothing open, which a browser has entered."""
    with studio() as (_, address):
        browser.get(address)
        yield browser.execute_script("return location.origin")


class Page(Desk):
    """The desk of mistakes, with a studio on it."""

    def refused(self, *words, status=2):
        """Open the policy in the studio, try to publish, and be refused there; gives what the page says."""
        if words:
            return super().refused(*words, status=status)
        before = self.listing()
        message = self._opened() or self._published()
        assert message, "nothing was refused"
        assert self.listing() == before, "something was written"
        assert "Traceback" not in message
        assert MARK not in message.replace(str(self.folder), "")
        return message

    def _opened(self):
        """Open the policy; gives the refusal if there is one."""
        self.browser.get(f"{self.address}/open")
        alive(self.browser)
        self.browser.find_element(By.CSS_SELECTOR, "main input").send_keys(str(self.folder / "policy.toml"))
        press(self.browser, "Open")
        until(self.browser, lambda seen: seen.find_element(By.TAG_NAME, "h1").text == "Data" or self._says())
        return "" if self.browser.find_element(By.TAG_NAME, "h1").text == "Data" else self._says()

    def _published(self):
        """Write the release; gives the refusal."""
        self.browser.get(f"{self.address}/release")
        alive(self.browser)
        self.browser.execute_script(
            "document.querySelectorAll('.side .problem').forEach(own => own.remove())"
        )
        press(self.browser, "Write the release")
        until(self.browser, lambda seen: self._says() or "Every promise is kept" in seen.page_source)
        return self._says()

    def _says(self):
        """The headings and problems on the page, as the command line has them."""
        lines = []
        for parts in self.browser.execute_script(SAID):
            if len(parts) == 1:
                lines.append(parts[0])
            else:
                where, *rest = parts
                lines.append(
                    " ".join(rest) if where == "This cannot be done" else f"{where}: {' '.join(rest)}"
                )
        return "\n".join(lines)


@pytest.fixture
def desk(tmp_path, browser, address):
    """A desk with the small table and a sound policy on it, and a studio."""
    made = Page(tmp_path)
    made.browser, made.address = browser, address
    made.data(people())
    made.policy()
    return made


def _is_for_pages(test):
    """Whether a test publishes under the desk's policy and is refused."""
    text = getsource(test)
    return (
        ("desk" in signature(test).parameters or "skewed" in signature(test).parameters)
        and "refus" in text
        and not any(word in text for word in OTHERS)
    )


def _borrowed():
    """Tests and fixtures of the files of mistakes, by names of their own."""
    borrowed = {}
    for file in FILES:
        module = import_module(f"tests.mistakes.test_{file}")
        fixtures = {
            name: own
            for name, own in vars(module).items()
            if type(own).__name__ == "FixtureFunctionDefinition"
        }
        tests = [own for name, own in vars(module).items() if name.startswith("test_") and _is_for_pages(own)]
        borrowed |= fixtures
        borrowed |= {f"{own.__name__}_of_{file}": own for own in tests[::EVERY]}
    return borrowed


globals().update(_borrowed())


def test_mistakes_are_made():
    """There are mistakes of every file, and on no day fewer than twenty."""
    made = [name for name in globals() if "_of_" in name and name.startswith("test_")]
    assert len(made) >= (20 if EVERY > 1 else 100)
