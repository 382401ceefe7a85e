"""Whether a release accounts for every row: nothing invented, nothing lost beyond what may be suppressed."""

import re
from collections.abc import Iterator

import numpy as np

from manyveils.audits.evidence import Evidence
from manyveils.audits.finding import Finding
from manyveils.audits.labels import labels_of, texts_of
from manyveils.policy.guarantees import exact
from manyveils.release import View
from manyveils.release.views import ColumnFile
from manyveils.table import Attribute

RANGE = re.compile(r"\[(-?[\d.eE+-]+), (-?[\d.eE+-]+)\]")


def loss_findings(evidence: Evidence) -> Iterator[Finding]:
    """The findings about suppressed rows and about values that the original cannot account for."""
    yield _suppression(evidence)
    for view in evidence.release.views:
        wrong = _unaccounted(evidence, view) if evidence.is_whole(view) else None
        yield Finding(
            "nothing-lost",
            "",
            view.name,
            "release",
            promised=True,
            required=0,
            measured=wrong,
            kept=wrong == 0,
        )


def _suppression(evidence: Evidence) -> Finding:
    allowed = exact(evidence.policy.publish.suppression) * evidence.n_people
    most = allowed.numerator // allowed.denominator
    left_out = evidence.n_people - evidence.release.rows
    return Finding(
        "suppression",
        "",
        "",
        "release",
        promised=True,
        required=most,
        measured=left_out,
        kept=0 <= left_out <= most,
    )


def _unaccounted(evidence: Evidence, view: View) -> int:
    """Rows by which a view differs from what the manifest says, and cells that no row of the original explains."""
    manifest = evidence.release.manifest
    off = abs(manifest.rows + manifest.suppressed - evidence.n_people) + abs(view.rows - manifest.rows)
    for file in view.files:
        off += abs(evidence.people(file) - manifest.rows)
        off += sum(
            _unexplained(evidence, view, file, name)
            for name in file.attributes
            if name in evidence.table.attributes
        )
    return off


def _unexplained(evidence: Evidence, view: View, file: ColumnFile, name: str) -> int:
    """Cells with a value beyond the rows of the original that it may stand for.

    Together with the row count this says that exactly the suppressed rows are missing.
    """
    values = evidence.coded(file, name).values
    found = labels_of(evidence, view.name, name, values)
    most = _most_cells(evidence, view, name, found.counts.tolist(), found.texts)
    cells = zip(texts_of(values), evidence.counts(file, name).tolist(), strict=True)
    return sum(max(0, count - most.get(text, 0)) for text, count in cells)


def _range_counts(column: Attribute, texts: tuple[str, ...]) -> dict[str, int]:
    """The rows of the original inside each text that reads as a range; too many ranges are published without a list."""
    if column.kind != "numeric":
        return {}
    n_numbers = column.n_values - column.has_missing
    numbers, total = column.numbers[:n_numbers], np.append(0, np.cumsum(column.counts[:n_numbers]))
    found: dict[str, int] = {"*": int(column.counts.sum())}
    for text in texts:
        ends = RANGE.fullmatch(text)
        if ends:
            low = np.searchsorted(numbers, float(ends[1]), side="left")
            high = np.searchsorted(numbers, float(ends[2]), side="right")
            found[text] = int(total[high] - total[low])
    return found


def _most_cells(
    evidence: Evidence, view: View, name: str, counts: list[int], texts: tuple[str, ...]
) -> dict[str, int]:
    """The rows of the original that each published value may stand for; none for a value that is not listed."""
    most = dict(zip(texts, counts, strict=True))
    pairs = evidence.release.recodings.get((view.name, name))
    if pairs is None:
        return most | _range_counts(evidence.original(name), texts)
    listed = set(texts_of(pairs["published"]))
    return {text: count for text, count in most.items() if text in listed}
