"""Whether a release accounts for every row: nothing invented, nothing lost beyond what may be suppressed."""

from collections.abc import Iterator

import numpy as np

from manyveils.audits.finding import Finding
from manyveils.policy.guarantees import exact
from manyveils.reading.evidence import Evidence
from manyveils.release import View
from manyveils.release.views import ColumnFile


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
    most = evidence.cover(view, file, name).sums(evidence.original(name).counts)
    return int(np.maximum(evidence.counts(file, name) - most, 0).sum())
