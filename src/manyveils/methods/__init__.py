"""Ways to make views: each method is one file or folder, found by its name in the policy."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from manyveils.errors import PolicyError, Problem
from manyveils.methods.work import Gap, Method, Options, drafts_of, plan_of_counts, refuse_rules, refuse_ties
from manyveils.policy import Policy
from manyveils.policy.check import section_problems, suggest
from manyveils.policy.sections import Publish
from manyveils.promises.work import Work, silent
from manyveils.table import Streams, Table, resolve

__all__ = [
    "METHODS",
    "Gap",
    "Method",
    "Options",
    "Work",
    "drafts_of",
    "load",
    "method_of",
    "method_problems",
    "plan_of_counts",
    "read_options",
    "work_of",
]

METHODS = (
    "generalize",
    "anatomize",
    "slice",
    "codip",
    "guardian",
    "alpha-beta-k",
    "grade",
    "multi-sa",
    "separate",
)


def method_of(policy: Policy) -> Method:
    """The method the policy names."""
    return load(policy.publish.method)


def read_options(policy: Policy) -> Options:
    """The method's own keys of [publish], checked by the method; called once per publication."""
    problems = list(method_problems(policy.publish.model_dump(), policy.name))
    if problems:
        raise PolicyError(problems)
    method = method_of(policy)
    refuse_rules(method, policy)
    refuse_ties(method, policy)
    return method.options.model_validate(policy.publish.options)


def work_of(
    policy: Policy,
    table: Table,
    streams: Streams,
    progress: Callable[[str, float], None] = silent,
    *,
    options: Options | None = None,
    counted: Callable[[tuple[str, ...]], Table] | None = None,
) -> Work:
    """What the policy's method is given; options that were not read before are validated here."""
    options = read_options(policy) if options is None else options
    suppresses = method_of(policy).suppresses
    return Work(policy, table, resolve(policy, table), options, streams, progress, suppresses, counted)


def method_problems(section: Mapping[str, Any], name: str) -> Iterator[Problem]:
    """What is wrong with the method of a [publish] section and the keys that belong to it."""
    method = section.get("method", "generalize")
    if method not in METHODS:
        yield Problem(
            f"{name}: publish.method", f"{method!r} is not a method.", suggest(str(method), METHODS)
        )
        return
    keys = {key: value for key, value in section.items() if key not in Publish.model_fields}
    yield from section_problems(load(method).options, keys, f"{name}: publish")


def load(name: str) -> Method:
    """A method by its name; its module is imported only now."""
    method: Method = import_module(f"manyveils.methods.{name.replace('-', '_')}").METHOD
    return method
