"""Show notebooks as pages of the site, with the outputs that are saved in them."""

from pathlib import Path
from typing import Any

import nbformat
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: Any) -> Files:
    """Take every notebook for a page."""
    for file in list(files):
        if file.src_uri.endswith(".ipynb"):
            files.remove(file)
            text = as_markdown(Path(config["docs_dir"]) / file.src_uri)
            files.append(_Page(file, text, config))
    return files


class _Page(File):
    """A page at the notebook's own address."""

    def __init__(self, file: File, text: str, config: Any) -> None:
        super().__init__(
            file.src_uri,
            config["docs_dir"],
            config["site_dir"],
            use_directory_urls=False,
            dest_uri=file.src_uri.removesuffix(".ipynb") + ".html",
        )
        self._text = text

    def is_documentation_page(self) -> bool:
        """Say that this is no mere file."""
        return True

    @property
    def content_string(self) -> str:
        """The page as Markdown."""
        return self._text


def as_markdown(path: Path) -> str:
    """Lay the cells of a notebook one below the other."""
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
