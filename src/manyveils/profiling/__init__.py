"""Before a policy: what a table seems to hold, how rows stand out, and a commented policy to start from."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path

import polars as pl

from manyveils.errors import DataError, InputError, Problem
from manyveils.plain import as_table
from manyveils.policy.check import RESERVED
from manyveils.policy.sections import Data
from manyveils.policy.shape import section_problems
from manyveils.profiling.beside import hierarchies_beside
from manyveils.profiling.facts import Facts, facts_of, markers_in
from manyveils.profiling.guesses import guess
from manyveils.profiling.hierarchies import Coarser, Diversity, coarser, diversity_of, rows_per_group
from manyveils.profiling.persons import Whose, of_persons, whose
from manyveils.profiling.policy_text import policy_text
from manyveils.profiling.roles import MERE_GUESS, SELDOM_ALONE, Guesses, decide, name_of
from manyveils.profiling.uniqueness import FoundDependency, Uniqueness, dependencies_of, uniqueness_of
from manyveils.table import Attribute, take_in
from manyveils.table.foreign import is_address
from manyveils.wording import counted

__all__ = ["Profile", "profile"]

MOST_LISTED = 12
UNPUBLISHED = ("identifier", "drop", "?")


@dataclass(frozen=True, repr=False)
class Profile:
    """What a table seems to hold; counts, shares and names, never a cell."""

    n_rows: int
    facts: Mapping[str, Facts]
    decided: Guesses
    uniqueness: Uniqueness
    dependencies: tuple[FoundDependency, ...]
    markers: Mapping[str, int]
    whose: Whose | None = None
    source: Path | None = None
    form: Data = field(default_factory=Data)
    # The files beside the data that hold hierarchies.
    beside: Mapping[str, str] = field(default_factory=dict)

    def having(self, role: str) -> tuple[str, ...]:
        """The columns of one role, in the order of the table."""
        return tuple(name for name, decided in self.decided.items() if decided.role == role)

    @property
    def k(self) -> tuple[int, str]:
        """Persons per group, and why."""
        return rows_per_group(self.n_persons, self._among)

    @property
    def n_persons(self) -> int:
        """How many persons the rows seem to be about."""
        return self.n_rows if self.whose is None else self.whose.n_persons

    @property
    def _among(self) -> str:
        """What shares are of: persons where some have several rows."""
        return "rows" if self.whose is None or self.whose.persons is None else "persons"

    @cached_property
    def diversities(self) -> Mapping[str, Diversity]:
        """What can be promised of each sensitive attribute."""
        names = self.having("sensitive")
        persons = None if self.whose is None else self.whose.persons
        counted = {
            name: self.facts[name] if persons is None else of_persons(self.facts[name], persons)
            for name in names
        }
        return {name: diversity_of(counted[name], self.k[0], self.facts, self._among) for name in names}

    @property
    def coarsenings(self) -> Mapping[str, Coarser]:
        """How each published column could become coarser."""
        names = (*self.having("quasi"), *self.having("sensitive"))
        return {name: coarser(self.facts[name]) for name in names}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What only the holder of the data can decide."""
        return tuple(_warnings(self))

    def policy_text(self, source: str | None = None) -> str:
        """A commented policy; `source` is where the data are, seen from the policy."""
        return policy_text(self, source if source is not None or self.source is None else str(self.source))

    def describe(self) -> dict[str, object]:
        """The profile as plain values."""
        return {
            "rows": self.n_rows,
            "columns": [_described(self, name) for name in self.facts],
            "uniqueness": asdict(self.uniqueness) | {"together": self.uniqueness.together},
            "dependencies": [asdict(dependency) for dependency in self.dependencies],
            "missing_markers": dict(self.markers),
            "person": None if self.whose is None else self.whose.describe(),
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        header = ["column", "type", "distinct", "missing", "role", "why"]
        rows = [
            [name, facts.type, facts.distinct, facts.missing, decided.role, decided.reason]
            for (name, facts), decided in zip(self.facts.items(), self.decided.values(), strict=True)
        ]
        return as_table(f"Profile of {self.n_rows:,} rows", header, rows, note=" ".join(self.warnings))

    def __repr__(self) -> str:
        return f"<Profile: {self.n_rows} rows, {len(self.facts)} columns, {len(self.having('sensitive'))} sensitive>"


def _silent(stage: str, share: float) -> None:
    """Report no progress."""


def profile(
    data: object,
    *,
    delimiter: str | None = None,
    form: Mapping[str, str] | None = None,
    progress: Callable[[str, float], None] = _silent,
) -> Profile:
    """Look at a table (a path, or pandas, Polars or PyArrow data) and guess a role for every column, with reasons.

    The `delimiter` of a csv file is found by itself if it is one of , ; | and tab. `form` says how else data are
    written, by keys of [data]: encoding, decimal, thousands, dates, sheet, table, query.
    """
    path = Path(data) if isinstance(data, str | Path) and not is_address(data) else None
    _refuse_delimiter(delimiter)
    keys = {
        key: value for key, value in {"delimiter": delimiter, **(form or {})}.items() if value is not None
    }
    InputError.refuse(section_problems(Data, keys, "form"))
    written = Data.model_validate(keys)
    frame, _ = take_in(data if path is None else path, written)
    _refuse(frame, path)
    markers = {name: markers_in(frame[name]) for name in frame.columns}
    all_markers = sum(map(Counter, markers.values()), Counter())
    facts: dict[str, Facts] = {}
    for name in frame.columns:
        progress("looking at columns", len(facts) / frame.width)
        facts[name] = facts_of(frame[name], markers[name], tuple(all_markers))
    progress("looking at combinations", 0.0)
    guesses = {name: guess(facts[name]) for name in facts}
    telling = [name for name in facts if guesses[name].role not in (*UNPUBLISHED, "neutral")]
    dependencies = dependencies_of(_attributes(facts, telling), frame.height)
    decided = decide(facts, guesses, dependencies)
    _refuse_nothing(decided)
    known = [name for name in facts if decided[name].role == "quasi"]
    uniqueness = uniqueness_of(_attributes(facts, known), frame.height)
    persons = whose(frame, facts, decided, tuple(all_markers))
    return Profile(
        frame.height,
        facts,
        decided,
        uniqueness,
        dependencies,
        all_markers,
        persons,
        path,
        written,
        {} if path is None else hierarchies_beside(path, facts),
    )


def _attributes(facts: Mapping[str, Facts], names: Sequence[str]) -> list[Attribute]:
    return [attribute for name in names if (attribute := facts[name].attribute) is not None]


def _refuse_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        what = "must be one character, and neither a quote nor a line end."
        raise InputError.at("delimiter", what, "For example ; or ^.")


def _refuse(frame: pl.DataFrame, path: Path | None) -> None:
    place = "data" if path is None else str(path)
    if frame.height == 0:
        raise DataError.at(place, "there is a header but no row.", "Give data with rows.")
    if RESERVED in frame.columns:
        what = f"a column is called {RESERVED!r}, a name that releases use themselves."
        raise DataError.at(place, what, "Rename it.")
    if path is not None:
        _refuse_cells_as_names(frame, place)


def _refuse_cells_as_names(frame: pl.DataFrame, place: str) -> None:
    """Without a header the names are cells, so they are not quoted."""
    numbers = pl.Series(frame.columns).str.strip_chars().cast(pl.Float64, strict=False).count()
    texts = (name for name in frame.columns if frame.schema[name] == pl.String)
    cells = sum(bool((frame[name] == name).any()) for name in texts)
    # One name may well be a value too, such as "male".
    for count, what in ((numbers, "are numbers"), (cells if cells > 1 else 0, "stand among their own cells")):
        if count * 3 > frame.width:
            problem = f"{count} of {frame.width} column names {what}, as if the header were missing."
            raise DataError.at(place, problem, "Write the columns' names into the first line.")


def _refuse_nothing(decided: Guesses) -> None:
    if all(column.role in ("identifier", "drop") for column in decided.values()):
        remedy = "Write a policy by hand if one of these guesses is wrong."
        reasons = [Problem(name, column.reason) for name, column in decided.items()]
        raise DataError([Problem("data", "no column is left to publish.", remedy), *reasons])


def _warnings(profile: Profile) -> Iterator[str]:
    k = profile.k[0]
    if profile.n_persons < k:
        of = "rows" if profile.n_persons == profile.n_rows else "persons"
        yield f"There are fewer than {k} {of}, so nobody can hide among others: publishing will refuse."
    if not profile.having("sensitive"):
        yield "No column seems sensitive, so only k is promised; set the role of those that are."
    if not profile.having("quasi"):
        yield "No column seems to be known to an adversary; set the role of those that are."
    yield from _warnings_of_spelling(profile)
    yield from _warnings_of_persons(profile)
    if undecided := profile.having("?"):
        yield f'role = "?" in {_listed(undecided)}: publish asks for a role in its place.'
    if guessed := [name for name, guess in profile.decided.items() if guess.reason.startswith(MERE_GUESS)]:
        yield f"Nothing but a guess makes {_listed(guessed)} sensitive."
    telling = [name for name in profile.having("sensitive") if profile.facts[name].alone > SELDOM_ALONE]
    if telling:
        yield f"Sensitive values are published as they are, and those of {_listed(telling)} tell rows apart."
    if left_out := profile.having("drop"):
        yield f"Columns left out for other reasons than naming people: {_listed(left_out)}."


def _warnings_of_spelling(profile: Profile) -> Iterator[str]:
    """What was taken for texts, and is something else if one says how it is written."""
    forms = {name: facts.form for name, facts in profile.facts.items()}
    if commas := [name for name, form in forms.items() if form.has_decimal_comma]:
        yield f"Cells of {_listed(commas)} seem to be numbers with a decimal comma: --decimal , reads them (with --thousands . if these have points)."
    if days := [name for name, form in forms.items() if form.year_last and not form.is_date]:
        yield f"Dates of {_listed(days)} end with the year: --dates dmy, or mdy if the month is first, reads them."


def _listed(names: Sequence[str]) -> str:
    """Names in a sentence, the first of many."""
    more = len(names) - MOST_LISTED
    return ", ".join(map(name_of, names[:MOST_LISTED])) + (f" and {more} more" if more > 0 else "")


def _warnings_of_persons(profile: Profile) -> Iterator[str]:
    if profile.whose is None:
        return
    if profile.whose.name is None:
        yield f"Every row is taken as a person of its own. {profile.whose.reason}."
        return
    told = f"{counted(profile.whose.n_persons, 'person')} in {counted(profile.n_rows, 'row')}"
    yield f"Persons are told apart by {name_of(profile.whose.name)} ({told}), so that promises count persons."
    if doubt := profile.whose.doubt:
        yield f"Persons share values of {_listed(doubt)}, which may tell them apart instead: publish asks which is right."


def _described(profile: Profile, name: str) -> dict[str, object]:
    facts, decided = profile.facts[name], profile.decided[name]
    suits = profile.coarsenings.get(name)
    return {
        "name": name,
        "type": facts.type,
        "distinct": facts.distinct,
        "missing": facts.missing,
        "missing_share": facts.missing / facts.n_rows,
        "missing_markers": dict(facts.markers),
        "commonest_share": facts.commonest,
        "alone_share": facts.alone,
        "alone_without_share": profile.uniqueness.without.get(name),
        "role": decided.role,
        "reason": decided.reason,
        "kind": suits.kind if suits else None,
        "hierarchy": suits.hierarchy if suits and decided.role == "quasi" else None,
    }
