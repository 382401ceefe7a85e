"""Publish tables about people with several sensitive attributes, and prove what the release promises.

The verbs are `publish`, `audit`, `attack` and `measure`; `Policy` and `Release` are what they work on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyveils.attacks import Attacks, Outcome
    from manyveils.audits import Audit
    from manyveils.comparing import Comparison, compare
    from manyveils.errors import (
        BrokenPromise,
        DataError,
        InfeasibleError,
        InputError,
        ManyveilsError,
        PolicyError,
    )
    from manyveils.policy import Policy
    from manyveils.policy.gnf import Schema, check_gnf
    from manyveils.policy.rules import PrivacyRule
    from manyveils.profiling import Profile, profile
    from manyveils.release import Release, View
    from manyveils.reports import Report
    from manyveils.run import attack, audit, measure, public_report, publish, report
    from manyveils.server.client import Client
    from manyveils.utility import Utility

__version__ = "0.1.0"

_HOMES = {
    "Attacks": "attacks",
    "Audit": "audits",
    "BrokenPromise": "errors",
    "Client": "server.client",
    "Comparison": "comparing",
    "DataError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "ManyveilsError": "errors",
    "Outcome": "attacks",
    "Policy": "policy",
    "PolicyError": "errors",
    "PrivacyRule": "policy.rules",
    "Profile": "profiling",
    "Release": "release",
    "Report": "reports",
    "Schema": "policy.gnf",
    "Utility": "utility",
    "View": "release",
    "attack": "run",
    "audit": "run",
    "check_gnf": "policy.gnf",
    "compare": "comparing",
    "measure": "run",
    "profile": "profiling",
    "public_report": "run",
    "publish": "run",
    "report": "run",
}

__all__ = [
    "Attacks",
    "Audit",
    "BrokenPromise",
    "Client",
    "Comparison",
    "DataError",
    "InfeasibleError",
    "InputError",
    "ManyveilsError",
    "Outcome",
    "Policy",
    "PolicyError",
    "PrivacyRule",
    "Profile",
    "Release",
    "Report",
    "Schema",
    "Utility",
    "View",
    "attack",
    "audit",
    "check_gnf",
    "compare",
    "measure",
    "profile",
    "public_report",
    "publish",
    "report",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing."""
    if name == "datasets":
        return import_module("manyveils.datasets")
    if name not in _HOMES:
        raise AttributeError(f"module 'manyveils' has no attribute {name!r}")
    value = getattr(import_module(f"manyveils.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__", "datasets"]
