"""What both engines look at."""

from dataclasses import replace

from manyveils.audits import Audit

# docs/spark.md says what Spark does not look at.
LOCAL = {"rows-true", "canonical-form", "as-published", "absent", "everybody"}


def seen_by_both(found: Audit) -> Audit:
    """An audit without what only the local engine looks at."""
    findings = tuple(own for own in found.findings if LOCAL.isdisjoint([own.promise, own.reading]))
    return replace(found, findings=findings)
