"""Ways to make views: each method is one file or folder, found by its name in the policy."""

from importlib import import_module

from manyveils.errors import PolicyError, Problem
from manyveils.methods.work import Made, Method, Options, Work, refuse_rules
from manyveils.policy import Policy
from manyveils.policy.check import section_problems

__all__ = ["METHODS", "Made", "Method", "Options", "Work", "method_of", "read_options"]

METHODS = ("generalize", "anatomize", "slice", "separate")


def method_of(policy: Policy) -> Method:
    """The method the policy names."""
    name = policy.publish.method
    if name not in METHODS:
        raise PolicyError(
            [
                Problem(
                    f"{policy.name}: publish.method",
                    f"{name!r} is not a method.",
                    f"Known are {', '.join(METHODS)}.",
                )
            ]
        )
    method: Method = import_module(f"manyveils.methods.{name.replace('-', '_')}").METHOD
    return method


def read_options(policy: Policy) -> Options:
    """The method's own keys of [publish], checked by the method."""
    method = method_of(policy)
    problems = list(section_problems(method.options, policy.publish.options, f"{policy.name}: publish"))
    if problems:
        raise PolicyError(problems)
    refuse_rules(method, policy)
    return method.options.model_validate(policy.publish.options)
