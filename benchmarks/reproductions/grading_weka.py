"""Table V with the paper's own classifier: J48 of Weka, with its default settings and ten folds.

Weka is no dependency of this project: MANYVEILS_WEKA names its jar, and without it the part is skipped.
"""

import os
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchmarks.reproductions import occ
from benchmarks.reproductions.grading_accuracy import PAPER_GRADED, PAPER_T, TARGETS
from benchmarks.reproductions.grading_adult import MAIN, graded
from benchmarks.reproductions.table import markdown

VARIABLE = "MANYVEILS_WEKA"
MISSING = f"{VARIABLE} does not name Weka's jar"
# Weka tells the training rows first; numbers with fewer decimals are padded with blanks.
FOLDED = re.compile(
    r"Stratified cross-validation.*?Correctly Classified Instances\s+\d+\s+([\d.]+)\s+%", re.DOTALL
)


def is_here() -> bool:
    """Whether Weka can be run."""
    return Path(os.environ.get(VARIABLE, "")).is_file()


def tables(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """T and T' as on the page, T' with codes of choice 2 for single values, and what may explain the paper's T."""
    income = occ.read(("salary",))["salary"]
    hidden = graded(frame, MAIN).table
    return {
        "T": frame,
        "T'": hidden,
        "T', codes of choice 2 for values": graded(frame, replace(MAIN, tree_name="values")).table,
        "T with ages as values": frame.with_columns(pl.col("age").cast(pl.String)),
        "T without race": frame.drop("race"),
        "T with income class": frame.with_columns(income),
        "T' with income class": hidden.with_columns(income),
    }


def accuracy(frame: pl.DataFrame, target: str) -> float:
    """The share of rows that J48 predicts right in ten folds, in percent."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "table.arff"
        file.write_text(arff(frame), encoding="utf-8")
        command = _command(file, frame.columns.index(target) + 1)
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return in_folds(printed)


def in_folds(printed: str) -> float:
    """The percentage of the folds in what Weka prints.

    >>> line = "Correctly Classified Instances       "
    >>> in_folds(f"{line}18674  41.2941 %\\n=== Stratified cross-validation ===\\n{line}14462  31.98   %")
    31.98
    """
    found = FOLDED.search(printed)
    if found is None:
        raise ValueError("Weka told no accuracy in folds")
    return float(found[1])


def _command(file: Path, place: int) -> list[str]:
    jar = os.environ[VARIABLE]
    return ["java", "-cp", jar, "weka.classifiers.trees.J48", "-t", str(file), "-c", str(place), "-o"]


def arff(frame: pl.DataFrame) -> str:
    """A table in Weka's own format.

    >>> print(arff(pl.DataFrame({"age": [17], "sex": ["M"]})))
    @relation adult
    @attribute 'age' numeric
    @attribute 'sex' {'M'}
    @data
    17,'M'
    """
    texts = [name for name in frame.columns if not frame[name].dtype.is_numeric()]
    kinds = {name: _listed(frame[name]) if name in texts else "numeric" for name in frame.columns}
    quoted = frame.with_columns(pl.format("'{}'", name).alias(name) for name in texts)
    heads = [f"@attribute '{name}' {kind}" for name, kind in kinds.items()]
    rows = [",".join(str(cell) for cell in row) for row in quoted.iter_rows()]
    return "\n".join(["@relation adult", *heads, "@data", *rows])


def _listed(values: pl.Series) -> str:
    return "{" + ",".join(f"'{value}'" for value in values.unique().sort()) + "}"


def table(frame: pl.DataFrame) -> str:
    """Accuracy in percent, the paper's first."""
    rows = [
        ("paper", "T", *(f"{PAPER_T[target]:.2f}" for target in TARGETS)),
        ("paper", "T'", *(f"{PAPER_GRADED[target]:.2f}" for target in TARGETS)),
    ]
    for name, each in tables(frame).items():
        rows.append(("ours", name, *(f"{accuracy(each, target):.2f}" for target in TARGETS)))
    return markdown(("from", "table", *TARGETS), rows)
