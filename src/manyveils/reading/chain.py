"""Releases of the same people, one after another: who of a table was seen where before, and whether the chain is whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from manyveils.errors import DataError, PolicyError, Problem
from manyveils.policy import Policy
from manyveils.reading.keys import Ids
from manyveils.release.ledger import Ledger, Link, as_numbers, hashed, read_ledger
from manyveils.release.placements import private_folder
from manyveils.table import Table
from manyveils.table.earlier import Earlier, Held
from manyveils.table.persons import names_of

COLUMNS = ("group", "code", "weight", "expected")
UNTOLD = "A chain of releases needs persons: name the identifiers that tell them apart in data.person."


@dataclass(frozen=True, repr=False)
class Chain:
    """Earlier releases of the same people with their ledgers, oldest first."""

    links: tuple[Link, ...]
    ledgers: tuple[Ledger, ...]
    folders: tuple[Path, ...]

    @property
    def key(self) -> bytes:
        """What persons are hashed with, from the first release to the last."""
        return self.ledgers[0].key

    def beside(self, table: Table, policy: Policy) -> Table:
        """The table with where its persons were seen before; every row then has the number of its person.

        What is said to be constant and is not what earlier releases show of its persons is refused.
        """
        if table.keys is None:
            raise PolicyError.at(f"{policy.name}: data.person", "names no identifiers.", UNTOLD)
        _refuse_sets(policy)
        table = table.of_persons()
        return replace(table, earlier=self._earlier(table, policy))

    def _earlier(self, table: Table, policy: Policy) -> Earlier:
        offsets = np.cumsum([0, *(_n_groups(ledger) for ledger in self.ledgers)])
        sightings = pl.concat(
            ledger.sightings.with_columns(pl.col("group") + int(start))
            for ledger, start in zip(self.ledgers, offsets.tolist(), strict=False)
        )
        numbers, hashes = _numbered(sightings["person"], persons_hashed(table, self.key))
        groups = sightings["group"].to_numpy()
        order = np.argsort(numbers * int(offsets[-1]) + groups)
        release_of = np.repeat(np.arange(len(self.ledgers)), np.diff(offsets))
        shown = [np.arange(_n_groups(ledger)) < ledger.n_shown for ledger in self.ledgers]
        held = self._held(table, policy, offsets)
        self._refuse_new_constants(policy)
        values = self._values(table, policy, _by_hash(hashes), held)
        _refuse_changed(table, values)
        return Earlier(
            hashes,
            numbers[order],
            groups[order],
            release_of,
            np.concatenate(shown),
            held,
            values,
            held_back=_among(hashes[: table.n_persons], self.ledgers[-1].held_back),
        )

    def _refuse_new_constants(self, policy: Policy) -> None:
        """What is constant now must have been so in every release that shows it: nobody knows what people had otherwise."""
        remedy = "Drop constant, or begin a chain of its own."
        sensitive = set(policy.constant) & set(policy.sensitive)
        DataError.refuse(
            Problem(
                f"{policy.name}: attributes.{name}.constant",
                f"it was not when {folder.name} was published.",
                remedy,
            )
            for ledger, folder in zip(self.ledgers, self.folders, strict=False)
            for name in sorted(sensitive & set(ledger.values["attribute"].unique().to_list()))
            if name not in ledger.constants["attribute"]
        )

    def _values(
        self, table: Table, policy: Policy, numbers: pl.DataFrame, held: Mapping[str, Held]
    ) -> Mapping[str, Ids]:
        """The code of each person's value of what does not change, from the last release that knows it."""
        names = [name for name in policy.constant if name in held]
        values = {name: np.full(numbers.height, -1, dtype=np.int64) for name in names}
        for ledger in self.ledgers:
            persons, who = pl.Series(dtype=pl.Binary), np.zeros(0, dtype=np.int64)
            for name in names:
                known = ledger.constants.filter(pl.col("attribute") == name)
                # All attributes of a release are known of the same persons.
                if not known["person"].equals(persons):
                    persons = known["person"]
                    who = _numbers_of(persons, numbers).to_numpy()
                codes = _codes_of(known["value"], (*table[name].texts, *held[name].more))
                values[name][who] = codes
        return values

    def _held(self, table: Table, policy: Policy, offsets: Ids) -> Mapping[str, Held]:
        values = pl.concat(
            ledger.values.with_columns(pl.col("group") + int(start))
            for ledger, start in zip(self.ledgers, offsets.tolist(), strict=False)
        )
        names = [name for name in policy.sensitive if name in table.attributes]
        return {
            name: _held_of(values.filter(pl.col("attribute") == name), table[name].texts) for name in names
        }


def _n_groups(ledger: Ledger) -> int:
    highest = ledger.values["group"].max(), ledger.sightings["group"].max(), ledger.n_shown - 1
    return 1 + max(int(number) for number in highest if isinstance(number, int))


def persons_hashed(table: Table, key: bytes) -> pl.Series:
    """The keyed hash of every person of a table, by her number; missing where her identity is."""
    assert table.keys is not None
    if table.persons is None:
        return hashed(names_of(table.keys), key)
    firsts = np.zeros(table.n_persons, dtype=np.int64)
    firsts[table.persons[::-1]] = np.arange(table.n_rows)[::-1]
    return hashed(names_of(table.keys[firsts]), key)


def _numbered(hashes: pl.Series, own: pl.Series) -> tuple[Ids, pl.Series]:
    """The number of the person of each sighting, and the hash of each number: the table's own, then whoever is gone."""
    here = _numbers_of(hashes, _by_hash(own))
    is_gone = here.is_null()
    gone = hashes.filter(is_gone).unique(maintain_order=True)
    every = pl.concat([own.alias("person"), gone.alias("person")])
    if len(gone):
        here = here.scatter(
            is_gone.arg_true(), len(own) + _numbers_of(hashes.filter(is_gone), _by_hash(gone))
        )
    return here.to_numpy().astype(np.int64), every


def _by_hash(hashes: pl.Series) -> pl.DataFrame:
    """The number of each hash; who has none has no number."""
    return pl.DataFrame({"person": as_numbers(hashes), "number": np.arange(len(hashes))})


def _numbers_of(hashes: pl.Series, numbers: pl.DataFrame) -> pl.Series:
    """The number of each of some hashes; missing where it has none."""
    asked = as_numbers(hashes).alias("person").to_frame()
    return asked.join(numbers.drop_nulls("person"), on="person", how="left", maintain_order="left")["number"]


def _among(own: pl.Series, persons: pl.DataFrame) -> Ids:
    """The numbers of the persons of a table who are listed by their hashes."""
    numbered = pl.DataFrame({"person": own, "number": np.arange(len(own))})
    found: Ids = numbered.join(persons, on="person", how="semi")["number"].to_numpy()
    return np.sort(found)


def _codes_of(values: pl.Series, texts: Sequence[str]) -> Ids:
    """The place of each of some values among all texts."""
    codes = pl.DataFrame({"value": [text or None for text in texts]}, {"value": pl.String})
    codes = codes.with_columns(code=np.arange(len(texts)))
    asked = values.alias("value").to_frame()
    joined = asked.join(codes, on="value", how="left", nulls_equal=True, maintain_order="left")
    return joined["code"].fill_null(-1).to_numpy()


def _held_of(values: pl.DataFrame, texts: Sequence[str]) -> Held:
    """What groups have of one attribute, in the codes of the table; values that it does not have come after."""
    own = pl.DataFrame({"value": pl.Series([text or None for text in texts], dtype=pl.String)})
    own = own.with_columns(code=np.arange(len(texts)))
    more = values.select(pl.col("value").unique()).join(own, on="value", how="anti", nulls_equal=True)
    more = more.sort("value").with_columns(code=len(texts) + np.arange(more.height))
    own = pl.concat([own, more])
    coded = values.join(own, on="value", how="left", nulls_equal=True).sort("group", "code")
    groups, codes, weights, expected = (coded[name].to_numpy() for name in COLUMNS)
    others = tuple(text or "" for text in more["value"].to_list())
    return Held(groups, codes, weights, expected, own.height, others)


def _refuse_sets(policy: Policy) -> None:
    """What several values in a cell tell over several releases is not worked out."""
    what = "is constant and has several values in a cell, and nobody works out what several releases tell of these."
    PolicyError.refuse(
        Problem(f"{policy.name}: attributes.{name}.constant", what, "Drop constant, or multivalued.")
        for name in policy.constant
        if policy.attributes[name].multivalued and policy.attributes[name].role == "sensitive"
    )


def _refuse_changed(table: Table, values: Mapping[str, Ids]) -> None:
    """What is said to be constant must be what it was."""
    assert table.persons is not None
    remedy = "Correct the data, or drop constant: what several releases tell of it is then not promised."
    changed = {
        name: np.unique(
            table.persons[(before[table.persons] >= 0) & (before[table.persons] != table[name].codes)]
        )
        for name, before in values.items()
    }
    DataError.refuse(
        Problem(
            f"attributes.{name}.constant",
            f"{who.size:,} persons had another value in an earlier release.",
            remedy,
        )
        for name, who in changed.items()
        if who.size
    )


def chain_of(folders: Sequence[str | Path]) -> Chain:
    """The chain that some releases make, in whatever order they are named; an error if it is not whole.

    Every release must have been published after all the others before it, with the same key.
    """
    read = [_Read(Path(folder)) for folder in folders]
    read.sort(key=lambda own: len(own.ledger.after))
    problems = [
        problem for number, own in enumerate(read) for problem in own.problems(read[:number], read[0])
    ]
    DataError.refuse(problems)
    links, ledgers = tuple(own.link for own in read), tuple(own.ledger for own in read)
    return Chain(links, ledgers, tuple(own.folder for own in read))


@dataclass(frozen=True, repr=False)
class _Read:
    """One release of a chain, as it is read from its folders."""

    folder: Path

    @cached_property
    def _both(self) -> tuple[Ledger, Link]:
        if not (self.folder / "release.json").is_file():
            remedy = "Name the folder of an earlier release."
            raise DataError.at(str(self.folder), "is no release folder.", remedy)
        return read_ledger(self.folder, private_folder(self.folder))

    @property
    def ledger(self) -> Ledger:
        """Who is where in it."""
        return self._both[0]

    @property
    def link(self) -> Link:
        """What tells it from others."""
        return self._both[1]

    def problems(self, before: Sequence["_Read"], first: "_Read") -> list[Problem]:
        """Why it cannot stand after those before it."""
        known, named = {link.digest for link in self.ledger.after}, {own.link.digest for own in before}
        if self.link.digest in named:
            return [Problem(str(self.folder), "is named twice.", "Name it once.")]
        if self.ledger.key != first.ledger.key:
            what = f"belongs to another chain than {first.folder.name}."
            remedy = "Name releases of one chain; two chains of the same people cannot be made one."
            return [Problem(str(self.folder), what, remedy)]
        missing = [link.name for link in self.ledger.after if link.digest not in named]
        if missing:
            what = f"was published after {', '.join(missing)}, which is not named, or was changed since."
            return [Problem(str(self.folder), what, "Name all earlier releases of the chain.")]
        unknown = [own.folder.name for own in before if own.link.digest not in known]
        if unknown:
            what = f"was published without regard to {', '.join(unknown)}."
            remedy = (
                "What both tell together is not protected. Go on from one of them, and withdraw the other."
            )
            return [Problem(str(self.folder), what, remedy)]
        return []
