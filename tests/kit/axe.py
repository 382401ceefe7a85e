"""axe-core, which looks for barriers in pages; fetched from the npm registry once, for tests alone."""

import shutil
import subprocess
import tarfile
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

VERSION = "4.11.1"
KEPT = Path(__file__).parents[2] / ".cache" / f"axe-core-{VERSION}.min.js"
MISSING = f"no axe-core {VERSION} here, and npm cannot fetch it"
RUN = """
const done = arguments[0];
axe.run(document, {resultTypes: ['violations']}).then(found => done(found.violations.map(
  own => own.id + ' (' + own.impact + '): ' + own.nodes.map(node => node.target.join(' ') + ' ' + node.failureSummary).join(' | '))));
"""


@cache
def script():
    """The library's text; None where it is neither here nor to be had."""
    if not KEPT.is_file():
        npm = shutil.which("npm")
        if npm is None:
            return None
        KEPT.parent.mkdir(exist_ok=True)
        # Other workers may fetch it at the same time.
        with TemporaryDirectory(dir=KEPT.parent) as folder:
            command = [npm, "pack", f"axe-core@{VERSION}", "--silent", "--pack-destination", folder]
            try:
                subprocess.run(command, check=True, capture_output=True, timeout=60)
            except (OSError, subprocess.SubprocessError):
                return None
            with tarfile.open(Path(folder) / f"axe-core-{VERSION}.tgz") as archive:
                unpacked = Path(folder) / KEPT.name
                unpacked.write_bytes(archive.extractfile("package/axe.min.js").read())
            unpacked.replace(KEPT)
    return KEPT.read_text(encoding="utf-8")


def violations(browser):
    """What axe finds on the page that a browser shows."""
    browser.execute_script(script())
    return browser.execute_async_script(RUN)
