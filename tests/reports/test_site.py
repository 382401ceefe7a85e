"""The documentation's reference has every public name, and its pages fetch nothing from elsewhere."""

import re
import tomllib
from pathlib import Path

import manyveils as mv
from tests.reports.test_tutorial import load

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))


def test_every_public_name_is_in_the_reference():
    """Whatever `import manyveils as mv` offers stands in the reference; errors stand there as a module."""
    page = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    shown = {line.rsplit(".", 1)[-1] for line in re.findall(r"^::: (\S+)$", page, re.MULTILINE)}
    errors = {name for name in mv.__all__ if name.endswith(("Error", "Promise"))}
    assert "errors" in shown
    assert {name for name in mv.__all__ if not name.startswith("_")} - errors - {"datasets"} <= shown


def test_the_site_fetches_nothing():
    """No plugin of the site makes its pages load scripts or letters from other places."""
    project = SETTINGS["project"]
    assert project["theme"]["font"] is False
    assert set(project["plugins"]) == {"mkdocstrings"}


def pages_of(nav):
    """Every page of the navigation, sections opened."""
    for entry in nav:
        yield from [entry] if isinstance(entry, str) else pages_of(*entry.values())


def test_the_site_is_laid_out_whole(tmp_path):
    """Every page, notebooks as Markdown, is staged and stands in the navigation once; nothing else does."""
    stage = load("stage")
    stage.staged(stage.PAGES, tmp_path)
    pages = sorted(page.relative_to(tmp_path).as_posix() for page in tmp_path.rglob("*.md"))
    assert sorted(pages_of(SETTINGS["project"]["nav"])) == pages
    assert "tutorial.md" in pages
    left = [page.name for page in tmp_path.rglob("*") if page.suffix in {".ipynb", ".py"}]
    assert left == []
    assert "(tutorial.md)" in (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "```python" in (tmp_path / "tutorial.md").read_text(encoding="utf-8")
