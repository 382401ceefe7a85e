"""Pictures that are the same, byte for byte, whenever the numbers are."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reproductions" / "pictures"
BLUE, ORANGE, GREEN, RED, PURPLE, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#777777"
STYLE = {
    "svg.hashsalt": "manyveils",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "legend.frameon": False,
}


def save(figure: Figure, name: str, folder: Path = FOLDER) -> Path:
    """Write a picture for the page, without a date in it."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.svg"
    with mpl.rc_context(STYLE):
        figure.savefig(file, format="svg", bbox_inches="tight", metadata={"Date": None})
    # The writer ends some lines with a blank.
    lines = [line.rstrip() for line in file.read_text(encoding="utf-8").splitlines()]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    return file
