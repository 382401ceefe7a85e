"""Lay out in build/docs what the site is made of: the pages, and notebooks as pages (python docs/site/stage.py)."""

import shutil
from pathlib import Path
from typing import Any

import nbformat

ROOT = Path(__file__).parents[2]
PAGES, STAGE = ROOT / "docs", ROOT / "build" / "docs"


def staged(pages: Path, stage: Path) -> None:
    """Copy the pages anew, with every notebook as Markdown and links to it mended."""
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(pages, stage, ignore=shutil.ignore_patterns("site"))
    for notebook in list(stage.rglob("*.ipynb")):
        notebook.with_suffix(".md").write_text(as_markdown(notebook), encoding="utf-8")
        notebook.unlink()
    for page in stage.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace(".ipynb)", ".md)"), encoding="utf-8")


def as_markdown(path: Path) -> str:
    """Lay the cells of a notebook, with the outputs that are saved in it, one below the other."""
    return "\n\n".join(_cell(cell) for cell in nbformat.read(path, as_version=4).cells)


def _cell(cell: Any) -> str:
    if cell.cell_type == "markdown":
        return str(cell.source)
    shown = [_output(output) for output in cell.get("outputs", [])]
    return "\n\n".join([f"```python\n{cell.source}\n```", *shown])


def _output(output: Any) -> str:
    if output.output_type == "stream":
        return f"```text\n{output.text}\n```"
    data = output.get("data", {})
    return str(data["text/html"]) if "text/html" in data else f"```text\n{data.get('text/plain', '')}\n```"


if __name__ == "__main__":
    staged(PAGES, STAGE)
