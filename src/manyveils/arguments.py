"""What callers may give: policies, releases and seeds, read or refused."""

from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any

from manyveils.audits import Licence
from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.methods import Options, method_of, method_problems, read_options
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.promises.work import silent
from manyveils.release import Release
from manyveils.release.placements import private_folder, read_placements
from manyveils.table import Streams

AnyPolicy = Policy | str | Path | Mapping[str, Any]
AnyRelease = Release | str | Path
Progress = Callable[[str, float], None]


@dataclass(frozen=True, repr=False)
class Order:
    """One publication that was asked for.

    Its policy is read, and the keys of the method are checked: once, and before the data are read.
    """

    data: object
    asked: InitVar[AnyPolicy]
    seed: int | None = None
    format: str | None = None
    master: str | None = None
    progress: Progress = silent
    policy: Policy = field(init=False)
    options: Options = field(init=False)

    def __post_init__(self, asked: AnyPolicy) -> None:
        policy = read_policy(asked)
        object.__setattr__(self, "policy", policy)
        object.__setattr__(self, "options", read_options(policy))


def read_policy(policy: AnyPolicy) -> Policy:
    """A policy from a file, from a mapping of sections, or as it is.

    Where sections are wrong, the keys of the method are checked too, so that all problems are told at once.
    """
    if isinstance(policy, Policy):
        return policy
    try:
        return Policy(**policy) if isinstance(policy, Mapping) else Policy.load(policy)
    except PolicyError as error:
        raise PolicyError(dict.fromkeys([*error.problems, *_method_problems(policy)])) from None


def _method_problems(policy: str | Path | Mapping[str, Any]) -> list[Problem]:
    if isinstance(policy, Mapping):
        document, name = policy, "policy"
    else:
        try:
            document, name = read_document(Path(policy)), Path(policy).name
        except PolicyError:
            return []
    section = document.get("publish", {})
    return list(method_problems(section, name)) if isinstance(section, Mapping) else []


def read_release(release: AnyRelease, private: str | Path | None = None) -> Release:
    """A release from a folder, or as it is; with what its private folder tells of who stands where, if that is at hand."""
    if private is not None and not Path(private).is_dir():
        what = "is not a folder."
        raise DataError.at(
            str(private), what, "Name the private folder of the release, or none for the one beside it."
        )
    if not isinstance(release, Release):
        folder = Path(release)
        release = Release.load(folder)
        release.placements = read_placements(private_folder(folder) if private is None else Path(private))
    elif private is not None:
        release.placements = read_placements(Path(private))
    return release


def licence_of(policy: Policy) -> Licence:
    """What a release of this policy may claim: what the method of the policy may."""
    method = method_of(policy)
    return Licence(enforces=method.enforces, secret=method.secret)


def streams_of(seed: int | None) -> Streams:
    """Random streams from a seed, or from the operating system; a seed is a whole number."""
    if seed is None:
        return Streams()
    if not isinstance(seed, int) or seed < 0:
        raise InputError.at("seed", "must be a whole number, not negative.")
    return Streams(seed)
