"""A fixture of pytest with which a test of somebody's pipeline asks whether a table keeps its promises."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from manyveils.audits import Audit


@pytest.fixture(scope="session")
def keeps_promises() -> "Callable[..., Audit]":
    """Judge a table of any origin, or a release, and fail the test if it breaks a promise; gives the audit.

    `keeps_promises(table, policy, data=None)`: what fails is told by promises and counts, and never by a cell.
    """
    return _keep


def _keep(table: Any, policy: Any, *, data: Any = None) -> "Audit":
    from manyveils.errors import BrokenPromise
    from manyveils.examining import audit

    verdict = audit(table, data, policy)
    try:
        verdict.refuse_broken()
    except BrokenPromise as broken:
        # A traceback would print what stands around it, and with that perhaps cells of the data.
        pytest.fail(f"{len(broken.problems)} promises are broken:\n{broken}", pytrace=False)
    return verdict
