"""How long reports take, everything in them included, and how long their pages are: a million rows, and many codes."""

from collections.abc import Iterator
from functools import partial
from time import perf_counter
from typing import Any

from benchmarks import adult, million
from benchmarks.clock import best
from benchmarks.line import Line, skipped, under
from benchmarks.setting import Setting
from manyveils.datasets import encounter_policy, encounters
from manyveils.publishing import publish_to
from manyveils.run import report

SECONDS = 20
CODED_SECONDS = 5
MEGABYTES = 5
SENSITIVE: dict[str, dict[str, Any]] = {"occupation": {}, "salary-class": {"l": 2}}
WAYS: dict[str, dict[str, Any]] = {
    "full-domain": {"method": "generalize", "suppression": 0.02},
    "Mondrian": {"method": "generalize", "recoding": "mondrian"},
}


def lines(setting: Setting) -> Iterator[Line]:
    """Reports of Adult a million rows long, and of encounters with hundreds of codes."""
    yield from _of_a_million(setting)
    yield from _of_encounters(setting)


def _of_encounters(setting: Setting) -> Iterator[Line]:
    """Publish encounters in buckets, then read the data and the release again and lay everything out."""
    file, out, frame = setting.folder / "encounters.csv", setting.folder / "report-encounters", encounters()
    frame.write_csv(file)
    policy = encounter_policy(data={"person": "row"}, publish={"method": "anatomize", "suppression": 0.02})
    publish_to(policy, out, data=file, format="parquet", seed=1)
    seconds, page = best(partial(report, out, file, policy, seed=1), repetitions=3)
    what = f"report, {frame.height:,} encounters anatomized, five coded attributes: audit, measures, attacks and page"
    line = under(what, seconds, CODED_SECONDS)
    yield line.with_ours(f"{len(page.html) / 1e6:.2f} MB of {MEGABYTES}")


def _of_a_million(setting: Setting) -> Iterator[Line]:
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
