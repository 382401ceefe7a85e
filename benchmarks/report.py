"""How long a report of a million rows takes, everything in it included, and how long the page is."""

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from benchmarks import adult, million
from benchmarks.line import Line, skipped, under
from benchmarks.setting import Setting
from manyveils.publishing import publish_to
from manyveils.run import report

SECONDS = 20
MEGABYTES = 5
SENSITIVE: dict[str, dict[str, Any]] = {"occupation": {}, "salary-class": {"l": 2}}
WAYS: dict[str, dict[str, Any]] = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "Mondrian": {"method": "generalize", "recoding": "mondrian"},
}


def lines(setting: Setting) -> Iterator[Line]:
    """Publish a million rows, then read the data and the release again and lay everything out."""
    if not adult.is_here():
        yield skipped("report, a million rows", adult.MISSING)
        return
    file = setting.folder / "million.csv"
    frame = million.replicated(adult.read(), adult.COPIES)
    frame.write_csv(file)
    for name, publish in WAYS.items():
        policy = adult.policy(adult.SEVEN, {"k": 5, "l": 3}, publish, SENSITIVE)
        out = setting.folder / f"report-{name}"
        publish_to(policy, out, data=file, format="parquet", seed=1)
        start = perf_counter()
        page = report(out, file, policy, seed=1)
        what = f"report, {frame.height:,} rows, {name}: audit, measures, attacks and page"
        line = under(what, perf_counter() - start, SECONDS)
        yield line.with_ours(f"{len(page.html) / 1e6:.2f} MB of {MEGABYTES}")
