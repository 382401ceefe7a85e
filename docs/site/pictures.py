"""Take the pictures of the documentation anew: reports, a comparison, terminals, the front page, the studio (make pictures)."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
from base64 import b64decode
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import CONSOLE_SVG_FORMAT, Console
from rich.text import Text
from selenium.webdriver.common.by import By

import manyveils as mv
from manyveils.datasets import write_hospital
from tests.kit.browser import open_browser
from tests.studio.conftest import studio
from tests.studio.test_accessible import FILLED
from tests.studio.test_browser import press, says, step, until, window

ROOT = Path(__file__).parents[2]
PICTURES, SITE = ROOT / "docs" / "pictures", ROOT / "site"
# Pictures load no letters from elsewhere.
LETTERS = re.compile(r"@font-face \{\{.*?\}\}", re.DOTALL)
WIDTHS = (80, 120)


def main() -> None:
    """Publish the hospital's table as the demo does, and look at it in every way."""
    with tempfile.TemporaryDirectory() as place, open_browser() as browser:
        folder = Path(place)
        _terminals(folder)
        for name, (page, last) in _reports(folder).items():
            _shoot(browser, page, f"report-{name}", width=960, height=_down_to(browser, page, last))
        _shoot(browser, SITE / "index.html", "front", width=1280, height=860)
        _comparison(folder)
        _studio(browser, folder / "studio")


def _studio(browser: Any, folder: Path) -> None:
    """The pages of the studio over the hospital's table, some by night and one as a tablet shows it."""
    write_hospital(folder, n=1000)
    (folder / "policy.toml").unlink()
    with studio(folder / "hospital.csv") as (_, address):
        window(browser, 1280)
        browser.get(address)
        _page(browser, "Data", 1280, 900)
        _page(browser, "Who stands out", 1280, 900, dark=True)
        step(browser, "Ways")
        press(browser, "Try all methods")
        says(browser, "Privacy and utility")
        until(browser, lambda seen: not seen.find_elements(By.CLASS_NAME, "job"))
        _taken(browser, "ways", 1280, 900, dark=False, at="//h2[.='Privacy and utility']")
        step(browser, "Lattice")
        until(
            browser, lambda seen: seen.find_element(By.XPATH, "//button[contains(., 'Set method')]")
        ).click()
        says(browser, "Neighbours")
        press(browser, "Find the optimum")
        until(
            browser,
            lambda seen: seen.find_element(By.XPATH, "//button[.='Go to the optimum' and not(@disabled)]"),
        )
        press(browser, "Go to the optimum")
        says(browser, "This is the optimum")
        _taken(browser, "lattice", 1280, 1350, dark=True)
        _page(browser, "Hierarchies", 768, 900)


def _page(browser: Any, title: str, width: int, height: int, *, dark: bool = False) -> None:
    step(browser, title)
    says(browser, FILLED.get(title, title))
    _taken(browser, title.split()[-1].lower(), width, height, dark=dark)


def _taken(browser: Any, name: str, width: int, height: int, *, dark: bool, at: str = "//header") -> None:
    """A picture of what is seen from some element on."""
    window(browser, width, height=height, dark=dark)
    browser.execute_script("arguments[0].scrollIntoView()", browser.find_element(By.XPATH, at))
    # What follows the window's width is laid out anew.
    browser.execute_async_script("setTimeout(arguments[0], 500)")
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    (PICTURES / f"studio-{name}.webp").write_bytes(b64decode(taken["data"]))


def _terminals(folder: Path) -> None:
    write_hospital(folder, n=1000)
    policy = str(folder / "policy.toml")
    command = ["publish", policy, "--seed", "1", "--out"]
    for width in WIDTHS:
        shown = _on_terminal([*command, str(folder / f"release-{width}")], width)
        text = Text.from_ansi(shown.replace(f"{folder}/", "").replace(f"-{width}", ""))
        console = Console(width=width, record=True, file=StringIO(), force_terminal=True)
        console.print(text)
        drawn = console.export_svg(
            title="manyveils publish policy.toml --out release",
            code_format=LETTERS.sub("", CONSOLE_SVG_FORMAT),
            unique_id=f"at-{width}",
        )
        (PICTURES / f"terminal-{width}.svg").write_text(drawn, encoding="utf-8")


def _on_terminal(arguments: list[str], width: int) -> str:
    """What a command prints on a terminal of some width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 100, width, 0, 0))
    command = [sys.executable, "-c", "from manyveils.cli import main; main()", *arguments]
    with subprocess.Popen(command, stdout=theirs, stderr=subprocess.DEVNULL) as running:
        os.close(theirs)
        printed = b""
        # A terminal that nobody writes to any more ends with an error.
        with os.fdopen(ours, "rb", buffering=0) as screen:
            try:
                while part := screen.read(4096):
                    printed += part
            except OSError:
                pass
        if running.wait():
            raise SystemExit(printed.decode())
    return printed.decode().replace("\r\n", "\n")


def _reports(folder: Path) -> dict[str, tuple[Path, str]]:
    """Both reports on one release, and down to which section they are shown."""
    policy = mv.Policy.load(folder / "policy.toml").replaced(publish={"method": "slice"})
    release = mv.publish(None, policy, seed=1)
    return {
        "owner": (Path(mv.report(release, None, policy, seed=1).save(folder / "owner.html")), "verdict"),
        "public": (Path(mv.public_report(release).save(folder / "public.html")), "plan"),
    }


def _comparison(folder: Path) -> None:
    policy = mv.Policy.load(folder / "policy.toml")
    mv.compare(None, policy, seed=1).save(folder / "comparison")
    drawn = (folder / "comparison" / "frontier.svg").read_text(encoding="utf-8")
    (PICTURES / "comparison.svg").write_text(drawn, encoding="utf-8")


def _shoot(browser: Any, page: Path, name: str, *, width: int, height: int) -> None:
    _open(browser, page, width, height)
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": 80})
    (PICTURES / f"{name}.webp").write_bytes(b64decode(taken["data"]))


def _down_to(browser: Any, page: Path, last: str) -> int:
    _open(browser, page, 960, 900)
    bottom = f"return document.getElementById('{last}').getBoundingClientRect().bottom"
    return int(browser.execute_script(bottom)) + 16


def _open(browser: Any, page: Path, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page.as_uri())
    browser.execute_async_script("document.fonts.ready.then(arguments[0])")


if __name__ == "__main__":
    main()
