"""A plugin of pytest, which tells coverage what test is run, and keeps how long each takes with all its parameters.

Coverage's own way, by names of functions, takes the engine of hypothesis for a test.
"""

import json
from pathlib import Path

import pytest
from coverage import Coverage

TIMES = "mutants.json"
SECONDS: dict[str, float] = {}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """What is run from now on is this test's."""
    coverage = Coverage.current()
    assert coverage is not None
    coverage.switch_context(item.nodeid.split("[")[0])


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Setting up and taking down count too."""
    name = report.nodeid.split("[")[0]
    SECONDS[name] = SECONDS.get(name, 0.0) + report.duration


def pytest_sessionfinish() -> None:
    """Keep the times."""
    Path(TIMES).write_text(json.dumps(SECONDS, indent=1), encoding="utf-8")
