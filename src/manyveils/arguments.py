"""What callers may give: policies, releases and seeds, read or refused."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field, replace
from pathlib import Path
from typing import Any

from manyveils.audits import Audit, Licence
from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.methods import Options, method_of, method_problems, read_options, refuse_breaks
from manyveils.policy import Policy
from manyveils.policy.model import read_document
from manyveils.promises.work import silent
from manyveils.reading.bare import Alone, read_alone, read_beside
from manyveils.reading.chain import UNTOLD, Chain, chain_of
from manyveils.release import Release
from manyveils.release.bare import BareRelease
from manyveils.release.ledger import Link, links_of
from manyveils.release.placements import private_folder, read_digest, read_placements
from manyveils.release.wrong_paths import refuse_no_release
from manyveils.streaming.room import Memory, Room, read_size
from manyveils.table import Restore, Streams, Table, hold
from manyveils.table.door import is_sparks
from manyveils.table.parts import is_folder_of_parts, take_in_parts

AnyPolicy = Policy | str | Path | Mapping[str, Any]
AnyRelease = Release | str | Path
# The same, or a table of whatever origin: a file, a folder of parts or a dataframe.
AnyPublished = Any
# The folders of earlier releases, in any order; one may stand by itself.
Earlier = Sequence[str | Path] | str | Path
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
    after: Earlier = ()
    # How much memory may be used; without it, as much as all rows take.
    memory: InitVar[Memory] = None
    room: Room | None = field(init=False)
    policy: Policy = field(init=False)
    options: Options = field(init=False)
    # The earlier releases that this one is to go on from.
    chain: Chain | None = field(init=False)

    def __post_init__(self, asked: AnyPolicy, memory: Memory) -> None:
        object.__setattr__(self, "room", None if memory is None else read_size(memory))
        policy = read_policy(asked)
        if policy.data.missing == "any":
            what = "any is for judging tables that are published already."
            raise PolicyError.at(f"{policy.name}: data.missing", what, 'Publish with "category".')
        object.__setattr__(self, "policy", policy)
        object.__setattr__(self, "options", read_options(policy))
        if listed(self.after):
            refuse_breaks(policy)
        object.__setattr__(self, "chain", chain_for(self.after, policy))

    def hold(self) -> tuple[Table, Restore]:
        """The table, beside what earlier releases say of its persons, and how to hand frames back."""
        table, restore = hold(self.data, self.policy)
        return beside(self.chain, table, self.policy), restore


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
        private = private_folder(folder) if private is None else private
    if private is not None:
        release.placements = read_placements(Path(private))
        release.published_as = read_digest(Path(private))
    return release


def is_bare(release: object) -> bool:
    """Whether something is a table of whatever origin, and no release: a file, a folder of parts or a dataframe."""
    if isinstance(release, str | Path):
        return Path(release).is_file() or is_folder_of_parts(Path(release))
    return not isinstance(release, Release) and not is_sparks(release)


def refuse_wrong_path(release: AnyPublished) -> None:
    """Refuse a path at which there is neither a release nor a table, before anybody looks for the data."""
    if isinstance(release, str | Path) and not is_bare(release):
        refuse_no_release(Path(release))


def refuse_for_bare(given: Mapping[str, object]) -> None:
    """Refuse what only a release of ours has."""
    InputError.refuse(
        Problem(name, "goes with a release folder, and this is a table.", "Leave it out.")
        for name, value in given.items()
        if value is not None
    )


def read_bare(frame: object, policy: Policy) -> Alone:
    """A table that something else published, by itself."""
    return read_alone(*take_in_parts(frame, policy.data), policy)


def read_bare_beside(frame: object, policy: Policy, table: Table) -> BareRelease:
    """A table that something else published, beside its original."""
    return read_beside(*take_in_parts(frame, policy.data), policy, table)


def read_published(
    release: AnyPublished, policy: Policy, table: Table, private: str | Path | None = None
) -> Release:
    """A release, or a table that something else published as one, read beside its original."""
    if isinstance(release, Release) or not is_bare(release):
        return read_release(release, private)
    return read_bare_beside(release, policy, table)


def listed(after: Earlier) -> tuple[Path, ...]:
    """The folders of earlier releases; one that is not in a folder cannot be told from others."""
    several = (after,) if isinstance(after, str | Path | Release) else tuple(after)
    if any(not isinstance(folder, str | Path) for folder in several):
        what = "earlier releases are named by their folders, which have their ledgers beside them."
        raise InputError.at("after", what, "Save the release, and name where it is.")
    # "." and ".." have no name to look beside.
    return tuple(path if path.name not in ("", "..") else path.resolve() for path in map(Path, several))


def chain_for(after: Earlier, policy: Policy) -> Chain | None:
    """The chain of earlier releases, if any are named; an error if it is not whole, or does not fit the policy."""
    folders = listed(after)
    if not folders:
        return None
    if not policy.person:
        raise PolicyError.at(f"{policy.name}: data.person", "names no identifiers.", UNTOLD)
    chain = chain_of(folders)
    PolicyError.refuse(_unheld(chain, policy))
    return chain


def _unheld(chain: Chain, policy: Policy) -> Iterator[Problem]:
    """Attributes that must not be learnt now, and that an earlier release shows without saying how often groups have them."""
    for name in sorted({rule.protect for rule in policy.rules} & {*policy.constant} - {*policy.sensitive}):
        what = "a rule protects it, and ledgers say nothing of attributes that are not sensitive."
        yield Problem(
            f"{policy.name}: attributes.{name}.constant",
            what,
            "Give it the role sensitive, or drop constant.",
        )
    binding = {name for name in policy.constant if policy.attributes[name].role == "sensitive"}
    for folder, ledger in zip(chain.folders, chain.ledgers, strict=True):
        manifest = Release.outline(folder).manifest
        shown = {name for view in manifest.views for name in view.attributes} | {*manifest.derived}
        for name in sorted(binding & shown - {*ledger.values["attribute"].unique()}):
            what = f"was not sensitive when {folder.name} was published, which shows it."
            remedy = "What both tell of it together is not protected. Give it the role it had, or publish on its own."
            yield Problem(f"{policy.name}: attributes.{name}", what, remedy)


def beside(chain: Chain | None, table: Table, policy: Policy) -> Table:
    """The table with where its persons were seen before; as it is where there is no chain."""
    if chain is None:
        return table
    told = chain.beside(table, policy)
    assert told.earlier is not None
    if not (told.earlier.persons < told.n_persons).any():
        what = f"nobody in it was seen in {', '.join(link.name for link in chain.links)}."
        remedy = (
            "Name the identifiers in data.person that earlier releases were made with, or publish on its own."
        )
        raise DataError.at("data", what, remedy)
    return told


def told_beside(verdict: Audit, chain: Chain | None, links: Sequence[Link] = ()) -> Audit:
    """The audit with the earlier releases that were looked at, and those of `links` that were not."""
    judged = () if chain is None else chain.links
    known = {link.digest for link in judged}
    missing = tuple(link.name for link in links if link.digest not in known)
    return replace(verdict, after=tuple(link.name for link in judged), without=missing)


def published_after(release: AnyRelease, private: str | Path | None = None) -> tuple[Link, ...]:
    """The releases that one was published after, as its own ledger says."""
    if isinstance(release, Release):
        return () if release.ledger is None else release.ledger.after
    return links_of(private_folder(Path(release)) if private is None else Path(private))


def refuse_itself(release: AnyRelease, chain: Chain | None) -> None:
    """A release does not come after itself."""
    if chain is None or not isinstance(release, str | Path):
        return
    if Path(release).resolve() in {folder.resolve() for folder in chain.folders}:
        what = "is named as an earlier release, too."
        raise DataError.at(str(release), what, "Name only those that were published before it.")


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
