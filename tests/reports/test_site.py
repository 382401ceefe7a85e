"""The documentation's reference has every public name, and its pages fetch nothing from elsewhere."""

import re
from pathlib import Path

import manyveils as mv

ROOT = Path(__file__).parents[2]


def test_every_public_name_is_in_the_reference():
    """Whatever `import manyveils as mv` offers stands in the reference; errors stand there as a module."""
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    shown = {line.rsplit(".", 1)[-1] for line in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    errors = {name for name in mv.__all__ if name.endswith(("Error", "Promise"))}
    assert "errors" in shown
    assert {name for name in mv.__all__ if not name.startswith("_")} - errors - {"datasets"} <= shown


def test_the_site_fetches_nothing():
    """No plugin of the site makes its pages load scripts or letters from other places."""
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "font: false" in settings
    # Its search loads a script from a public registry.
    assert "- offline" not in settings
