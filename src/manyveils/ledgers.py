"""Ledgers of releases: kept where one is published, started for one that is there, looked at, and forgotten in."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from manyveils.arguments import AnyPolicy, Earlier, Order, listed, read_release
from manyveils.audits import timeline
from manyveils.audits.chain import ledger_of
from manyveils.audits.timeline import Moment, known_after, moments
from manyveils.engines import judge_with_evidence
from manyveils.errors import DataError, InputError, PolicyError, Problem
from manyveils.methods import method_of, refuse_breaks
from manyveils.policy import Policy
from manyveils.reading.chain import UNTOLD, Chain, chain_of
from manyveils.reading.evidence import Evidence
from manyveils.reading.secrets import as_published
from manyveils.release import Release
from manyveils.release.folder import LEDGER
from manyveils.release.ledger import Ledger, Link, hashed, read_ledger, write_ledger
from manyveils.release.placements import private_folder
from manyveils.release.writing import MANIFEST
from manyveils.table import Table
from manyveils.table.persons import names_of

NOBODY = "Name them with --person, or in a file, a person a line."


def ledger_for(evidence: Evidence, chain: Chain | None) -> Ledger | None:
    """The ledger of a release that was judged, where the policy names persons and the method is one that can go on."""
    can_go_on = evidence.table.keys is not None and method_of(evidence.policy).continues
    return made(evidence, chain) if can_go_on else None


def made(evidence: Evidence, chain: Chain | None) -> Ledger:
    """The ledger of a release of some table: the first one of a chain, or one that goes on from others."""
    ledger = ledger_of(evidence)
    return ledger if chain is None else replace(ledger, key=chain.key, after=chain.links)


@dataclass(frozen=True)
class Timeline:
    """A chain of releases, oldest first, and what is wrong with it."""

    moments: tuple[Moment, ...]
    published: Mapping[str, str]
    problems: tuple[Problem, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether a release can be published after these."""
        return not self.problems

    def describe(self) -> dict[str, Any]:
        """The chain as plain values for JSON."""
        told = [own.describe() | {"published": self.published.get(own.release)} for own in self.moments]
        problems = [str(problem) for problem in self.problems]
        return {"whole": self.is_whole, "releases": told, "problems": problems}


def show(folders: Earlier) -> Timeline:
    """A chain release by release, as far as its ledgers can be read, and whether it is whole."""
    paths = listed(folders)
    read, problems = list[tuple[Ledger, Link, Path]](), list[Problem]()
    for folder in dict.fromkeys(paths):
        try:
            read.append((*_read(folder), folder))
        except DataError as error:
            problems += error.problems
    read.sort(key=lambda own: len(own[0].after))
    if not problems:
        try:
            chain_of(paths)
        except DataError as error:
            problems += error.problems
    names = [link.name for _, link, _ in read]
    days = {link.name: _day(folder) for _, link, folder in read}
    return Timeline(tuple(moments(names, [own for own, _, _ in read])), days, tuple(problems))


def _read(folder: Path) -> tuple[Ledger, Link]:
    if not (folder / MANIFEST).is_file():
        raise DataError.at(str(folder), "is no release folder.", "Name the folder of a release.")
    return read_ledger(folder, private_folder(folder))


def _day(folder: Path) -> str:
    """When the files of a release were written, as far as they tell."""
    return datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, tz=UTC).date().isoformat()


def start(
    release: str | Path, data: object, policy: AnyPolicy, *, after: Earlier = (), force: bool = False
) -> Timeline:
    """Write the ledger of a release that is there, from its original, once an audit finds that it keeps its promises.

    With `after`, it is put behind these releases if it keeps them beside these, too.
    """
    [folder] = listed(release)
    order = Order(data, policy, after=after)
    refuse_breaks(order.policy)
    if not order.policy.person:
        raise PolicyError.at(f"{order.policy.name}: data.person", "names no identifiers.", UNTOLD)
    published, private = read_release(folder), private_folder(folder)
    _refuse_another_method(published, order.policy, folder)
    if (private / LEDGER).exists() and not force:
        what = "has a ledger already."
        remedy = (
            "Keep it, or give --force to start a chain of its own, which later releases are then not part of."
        )
        raise InputError.at(str(private), what, remedy)
    table, _ = order.hold()
    verdict, evidence = judge_with_evidence(published, table, order.policy)
    verdict.refuse_broken()
    _write(made(evidence, order.chain), folder)
    return show([*listed(after), folder])


def _refuse_another_method(release: Release, policy: Policy, folder: Path) -> None:
    if release.manifest.method != policy.publish.method:
        what = f"was made with method {release.manifest.method!r}, and the policy names {policy.publish.method!r}."
        raise PolicyError.at(str(folder), what, "Give the policy that it was published under.")


def _write(ledger: Ledger, folder: Path) -> None:
    private = private_folder(folder)
    try:
        private.mkdir(mode=0o700, exist_ok=True)
        write_ledger(ledger, folder, private)
    except OSError as error:
        what = f"cannot be written: {error.strerror or type(error).__name__}."
        raise InputError.at(
            str(private), what, "The ledger is as it was. Check space and permissions."
        ) from None


@dataclass(frozen=True)
class Forgotten:
    """How many persons were to be forgotten, how many were found, and in which releases."""

    asked: int
    found: int
    releases: tuple[str, ...]


def forget(persons: Sequence[str], folders: Earlier) -> Forgotten:
    """Take persons out of the ledgers of a chain, to whom they are new from then on.

    Each is named by what identifies her; where that is several identifiers, as in a line of a csv file.
    """
    if not persons:
        raise InputError.at("--person", "nobody is named.", NOBODY)
    chain = chain_of(listed(folders))
    names = _named(persons)
    codes = names.with_columns(person=hashed(names["name"], chain.key))
    frames = [frame for own in chain.ledgers for frame in (own.sightings, own.held_back)]
    seen = pl.concat([frame.select("person") for frame in frames]).unique()
    found = codes.join(seen, on="person", how="semi")
    if not found.height:
        what = f"none of {len(persons):,} is in these ledgers."
        remedy = "Name persons as the data do, with all identifiers of data.person in their order, by commas."
        raise DataError.at("persons", what, remedy)
    changed = []
    for link, ledger, folder in zip(chain.links, chain.ledgers, chain.folders, strict=True):
        left = ledger.without(found["name"])
        if (left.sightings.height, left.held_back.height) != (
            ledger.sightings.height,
            ledger.held_back.height,
        ):
            _write(left, folder)
            changed.append(link.name)
    return Forgotten(len(persons), found["number"].n_unique(), tuple(changed))


def _named(persons: Sequence[str]) -> pl.DataFrame:
    """What may tell each person apart: her text as one identifier, or as several: number, name."""
    ways = [(number, fields) for number, text in enumerate(persons) for fields in _fields(text)]
    frames = [pl.DataFrame(schema={"number": pl.Int64, "name": pl.String})]
    for width in sorted({len(fields) for _, fields in ways}):
        own = [(number, fields) for number, fields in ways if len(fields) == width]
        columns = {f"key {place}": [fields[place] for _, fields in own] for place in range(width)}
        numbers = pl.Series([number for number, _ in own], dtype=pl.Int64)
        frames.append(pl.DataFrame({"number": numbers, "name": names_of(pl.DataFrame(columns))}))
    return pl.concat(frames).drop_nulls()


def _fields(text: str) -> Iterator[list[str]]:
    """The ways to read what identifies a person."""
    yield [text]
    try:
        fields = next(csv.reader([text]), [])
    except csv.Error:
        return
    if fields != [text] and fields:
        yield fields


def last_moment(release: Release, name: str, chain: Chain | None) -> Moment | None:
    """Who came, went and came back with a release; nothing where it has no ledger."""
    if release.ledger is None:
        return None
    return timeline.last_moment(name, release.ledger, () if chain is None else chain.ledgers)


def timeline_of(release: Release, name: str, table: Table, policy: Policy, chain: Chain) -> Timeline:
    """A chain and a release that was made after it, with what somebody may know who has all of them.

    The table is that of the release, beside the chain. Where nobody can tell who stands where in the release, the chain
    ends before it.
    """
    days = {link.name: _day(folder) for link, folder in zip(chain.links, chain.folders, strict=True)}
    try:
        own = made(Evidence(release, as_published(release, table), policy), chain)
        chain = Chain(
            (*chain.links, Link(own.number, name)), (*chain.ledgers, own), (*chain.folders, Path(name))
        )
    except DataError:
        pass
    told = chain.beside(table, policy)
    assert told.earlier is not None
    known = known_after(told.earlier, told, policy)
    came = moments([link.name for link in chain.links], chain.ledgers)
    return Timeline(tuple(replace(own, known=of) for own, of in zip(came, known, strict=True)), days)
