"""Whether secret labels are what was chosen: counts of codes, and the order of grades, beside the original."""

from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl

from manyveils.audits.finding import Finding
from manyveils.policy import Policy
from manyveils.release import Release
from manyveils.release.views import ColumnFile
from manyveils.table import Column, Table


def secret_findings(release: Release, table: Table, policy: Policy) -> Iterator[Finding]:
    """A finding for every secret column in every view: numbers keep their ranks, and choices are respected."""
    for view in release.views:
        for file in view.files:
            for name in file.attributes:
                if name in release.manifest.secret and name in table.columns:
                    promise, wrong = _judged(release, file, table, policy, name)
                    yield Finding(
                        promise,
                        table.home(name),
                        view.name,
                        "release",
                        promised=True,
                        required=0,
                        measured=wrong,
                        kept=wrong == 0,
                    )


def _judged(
    release: Release, file: ColumnFile, table: Table, policy: Policy, name: str
) -> tuple[str, int | None]:
    promise = "ranks-kept" if table[name].kind == "numeric" else "choices-respected"
    if name not in release.frames.get(file.table, pl.DataFrame()).columns:
        return promise, None
    published = release.frames[file.table][name]
    if release.suppressed:
        # Who was left out is not known, so only what cannot be explained by anybody counts.
        return promise, max(0, len(published) - table.n_rows)
    if promise == "ranks-kept":
        return promise, _moved(published, table[name])
    return promise, _unchosen(published, table, policy, name)


def _moved(published: pl.Series, original: Column) -> int:
    """Rows by which the published numbers, in order, differ from the original's ranks, ties included."""
    if not published.dtype.is_numeric():
        return len(published)
    counts = published.drop_nulls().value_counts().sort(published.name)["count"].to_list()
    expected = original.counts[: original.n_values - original.has_missing]
    wanted = expected[expected > 0].tolist()
    shared = min(len(counts), len(wanted))
    off = sum(abs(a - b) for a, b in zip(counts[:shared], wanted[:shared], strict=True))
    return off + sum(counts[shared:]) + sum(wanted[shared:])


def _unchosen(published: pl.Series, table: Table, policy: Policy, name: str) -> int:
    """Rows by which published cells differ from what was chosen: values, codes of groups and codes of values.

    Which code is whose cannot be seen without the key, so codes are compared by how often they occur.
    """
    column = table[name]
    choice = _choices(table, policy)
    is_missing = (
        column.codes == column.n_values - 1 if column.has_missing else np.zeros(choice.size, dtype=bool)
    )
    shown = Counter("" if text is None else str(text) for text in published.cast(pl.String).to_list())
    openly = np.bincount(column.codes[(choice == 1) | is_missing], minlength=column.n_values)
    wrong = sum(
        abs(shown.pop(text, 0) - int(n)) for text, n in zip(column.texts, openly.tolist(), strict=True)
    )
    parents = column.levels[min(1, len(column.levels) - 1)].label_of[column.codes]
    groups = np.bincount(parents[(choice == 2) & ~is_missing])
    hidden = np.bincount(column.codes[(choice == 3) & ~is_missing])
    wanted = sorted([int(n) for n in (*groups, *hidden) if n], reverse=True)
    found = sorted(shown.values(), reverse=True)
    length = max(len(wanted), len(found))
    padded = zip(wanted + [0] * (length - len(wanted)), found + [0] * (length - len(found)), strict=True)
    return wrong + sum(abs(a - b) for a, b in padded)


def _choices(table: Table, policy: Policy) -> np.ndarray:
    default = int(policy.publish.options.get("default_choice", 3))
    names = policy.having("choice")
    if not names:
        return np.full(table.n_rows, default)
    column = table[names[0]]
    meant = [
        int(float(text)) if text in ("1", "2", "3", "1.0", "2.0", "3.0") else default for text in column.texts
    ]
    return np.array(meant, dtype=np.int64)[column.codes]
