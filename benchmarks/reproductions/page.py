"""The page of a reproduction: its prose is written by hand, its tables are put in between marks."""

import re
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs" / "reproductions"


def put(page: Path, name: str, table: str) -> None:
    """Replace what stands between the marks of a table; a page without them is an error."""
    text = page.read_text(encoding="utf-8")
    between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
    if not between.search(text):
        raise ValueError(f"{page.name} has no place for the table {name!r}")
    changed = between.sub(lambda found: f"{found[1]}\n{table}\n\n{found[2]}", text)
    page.write_text(changed, encoding="utf-8", newline="\n")
