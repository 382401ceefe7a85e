"""Publish tables about people with several sensitive attributes, and prove what the release promises.

The verbs are `publish`, `audit`, `attack` and `measure`; `Policy` and `Release` are what they work on.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from manyveils.attacks import Attacks, Outcome
    from manyveils.audits import Audit
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
    from manyveils.release import Release, View
    from manyveils.run import attack, audit, measure, publish
    from manyveils.server.client import Client
    from manyveils.utility import Utility

__version__ = "0.1.0"

_HOMES = {
    "Attacks": "attacks",
    "Audit": "audits",
    "BrokenPromise": "errors",
    "Client": "server.client",
    "DataError": "errors",
    "InfeasibleError": "errors",
    "InputError": "errors",
    "ManyveilsError": "errors",
    "Outcome": "attacks",
    "Policy": "policy",
    "PolicyError": "errors",
    "PrivacyRule": "policy.rules",
    "Release": "release",
    "Schema": "policy.gnf",
    "Utility": "utility",
    "View": "release",
    "attack": "run",
    "audit": "run",
    "check_gnf": "policy.gnf",
    "measure": "run",
    "publish": "run",
}

__all__ = [
    "Attacks",
    "Audit",
    "BrokenPromise",
    "Client",
    "DataError",
    "InfeasibleError",
    "InputError",
    "ManyveilsError",
    "Outcome",
    "Policy",
    "PolicyError",
    "PrivacyRule",
    "Release",
    "Schema",
    "Utility",
    "View",
    "attack",
    "audit",
    "check_gnf",
    "measure",
    "publish",
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
