"""Publish tables about people with several sensitive attributes, and prove what the release promises.

The verbs are `publish`, `audit`, `attack` and `measure`; `Policy` and `Release` are what they work on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyveils import datasets as datasets
    from manyveils.attacks import Attacks as Attacks
    from manyveils.attacks import Outcome as Outcome
    from manyveils.audits import Audit as Audit
    from manyveils.comparing import Comparison as Comparison
    from manyveils.comparing import compare as compare
    from manyveils.errors import BrokenPromise as BrokenPromise
    from manyveils.errors import DataError as DataError
    from manyveils.errors import InfeasibleError as InfeasibleError
    from manyveils.errors import InputError as InputError
    from manyveils.errors import ManyveilsError as ManyveilsError
    from manyveils.errors import PolicyError as PolicyError
    from manyveils.examining import attack as attack
    from manyveils.examining import audit as audit
    from manyveils.examining import check as check
    from manyveils.examining import measure as measure
    from manyveils.examining import public_report as public_report
    from manyveils.policy import Policy as Policy
    from manyveils.policy.gnf import Schema as Schema
    from manyveils.policy.gnf import check_gnf as check_gnf
    from manyveils.policy.rules import PrivacyRule as PrivacyRule
    from manyveils.profiling import Profile as Profile
    from manyveils.profiling import profile as profile
    from manyveils.release import Release as Release
    from manyveils.release import View as View
    from manyveils.reports import Report as Report
    from manyveils.run import publish as publish
    from manyveils.run import report as report
    from manyveils.server.client import Client as Client
    from manyveils.signing import Verification as Verification
    from manyveils.signing import sign as sign
    from manyveils.signing import verify as verify
    from manyveils.utility import Utility as Utility

__version__ = "0.1.0"

_HOMES = {
    "attacks": "Attacks Outcome",
    "audits": "Audit",
    "comparing": "Comparison compare",
    "errors": "BrokenPromise DataError InfeasibleError InputError ManyveilsError PolicyError",
    "examining": "attack audit check measure public_report",
    "policy": "Policy",
    "policy.gnf": "Schema check_gnf",
    "policy.rules": "PrivacyRule",
    "profiling": "Profile profile",
    "release": "Release View",
    "reports": "Report",
    "run": "publish report",
    "server.client": "Client",
    "signing": "Verification sign verify",
    "utility": "Utility",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def _loaded(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name == "datasets":
        return import_module("manyveils.datasets")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'manyveils' has no attribute {name!r}")
    value = getattr(import_module(f"manyveils.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


if not TYPE_CHECKING:
    # Type checkers would take any name for one of ours.
    __getattr__ = _loaded


def __dir__() -> list[str]:
    return [*__all__, "__version__", "datasets"]
