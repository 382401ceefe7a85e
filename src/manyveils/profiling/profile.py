"""The profile of a table: what each column seems to be, how rows stand out, and a policy to start from."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from manyveils.errors import DataError, InfeasibleError, InputError, Problem
from manyveils.notebook import as_table
from manyveils.policy.check import RESERVED
from manyveils.profiling.facts import Facts, facts_of
from manyveils.profiling.following import Following, following_of
from manyveils.profiling.guesses import guess
from manyveils.profiling.hierarchies import Coarser, coarser
from manyveils.profiling.levels import Diversity, diversity_of, rows_per_group
from manyveils.profiling.markers import markers_in
from manyveils.profiling.policy_text import policy_text
from manyveils.profiling.roles import Decided, decide, name_of
from manyveils.profiling.uniqueness import Uniqueness, uniqueness_of
from manyveils.table import Attribute, take_in

MOST_LISTED = 12


@dataclass(frozen=True, repr=False)
class Profile:
    """What a table seems to hold; counts, shares and names, never a cell."""

    n_rows: int
    facts: Mapping[str, Facts]
    decided: Mapping[str, Decided]
    uniqueness: Uniqueness
    following: tuple[Following, ...]
    markers: Mapping[str, int]
    source: Path | None = None
    delimiter: str | None = None

    def having(self, role: str) -> tuple[str, ...]:
        """The columns of one role, in the order of the table."""
        return tuple(name for name, each in self.decided.items() if each.role == role)

    @property
    def k(self) -> tuple[int, str]:
        """Rows per group, and why."""
        return rows_per_group(self.n_rows)

    @property
    def diversities(self) -> Mapping[str, Diversity]:
        """What can be promised of each sensitive attribute."""
        return {
            name: diversity_of(self.facts[name], self.k[0], self.facts) for name in self.having("sensitive")
        }

    @property
    def coarsenings(self) -> Mapping[str, Coarser]:
        """How each published column could become coarser."""
        return {
            name: coarser(self.facts[name]) for name in (*self.having("quasi"), *self.having("sensitive"))
        }

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
            "dependencies": [asdict(each) for each in self.following],
            "missing_markers": dict(self.markers),
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        header = ["column", "type", "distinct", "missing", "role", "why"]
        rows = [
            [name, each.type, each.distinct, each.missing, self.decided[name].role, self.decided[name].reason]
            for name, each in self.facts.items()
        ]
        return as_table(f"Profile of {self.n_rows:,} rows", header, rows, note=" ".join(self.warnings))

    def __repr__(self) -> str:
        return f"<Profile: {self.n_rows} rows, {len(self.facts)} columns, {len(self.having('sensitive'))} sensitive>"


def _silent(stage: str, share: float) -> None:
    """Report no progress."""


def profile(
    data: object, *, delimiter: str | None = None, progress: Callable[[str, float], None] = _silent
) -> Profile:
    """Look at a table (a path, or pandas, Polars or PyArrow data) and guess a role for every column, with reasons.

    The `delimiter` of a csv file is found by itself if it is one of , ; | and tab.
    """
    path = Path(data) if isinstance(data, str | Path) else None
    _refuse_delimiter(delimiter)
    frame, _ = take_in(data if path is None else path, delimiter=delimiter)
    _refuse(frame, path)
    found = {name: markers_in(frame[name]) for name in frame.columns}
    markers = _united(found.values())
    facts: dict[str, Facts] = {}
    for name in frame.columns:
        progress("looking at columns", len(facts) / frame.width)
        facts[name] = facts_of(frame[name], found[name], tuple(markers))
    progress("looking at combinations", 0.0)
    guesses = {name: guess(each) for name, each in facts.items()}
    telling = [name for name, each in guesses.items() if each.seeming not in ("identifier", "neutral")]
    following = following_of(_columns(facts, telling), frame.height)
    decided = decide(facts, guesses, following)
    known = [name for name, each in decided.items() if each.role == "quasi"]
    _refuse_nothing(decided)
    uniqueness = uniqueness_of(_columns(facts, known), frame.height)
    return Profile(frame.height, facts, decided, uniqueness, following, markers, path, delimiter)


def _columns(facts: Mapping[str, Facts], names: Sequence[str]) -> list[Attribute]:
    return [column for name in names if (column := facts[name].column) is not None]


def _united(found: Iterable[Mapping[str, int]]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for each in found:
        for marker, count in each.items():
            counts[marker] = counts.get(marker, 0) + count
    return counts


def _refuse_delimiter(delimiter: str | None) -> None:
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        what = "must be one character, and neither a quote nor a line end."
        raise InputError([Problem("delimiter", what, "For example ; or ^.")])


def _refuse(frame: pl.DataFrame, path: Path | None) -> None:
    place = "data" if path is None else str(path)
    if frame.height == 0:
        raise DataError([Problem(place, "there is a header but no row.")])
    if RESERVED in frame.columns:
        what = f"a column is called {RESERVED!r}, which is taken by the releases themselves."
        raise DataError([Problem(place, what, "Rename it.")])
    if path is not None:
        _refuse_cells_as_names(frame, place)


def _refuse_cells_as_names(frame: pl.DataFrame, place: str) -> None:
    """Without a header the names are cells, so they are not quoted."""
    numbers = sum(_is_number(name) for name in frame.columns)
    # One name may well be a value too, such as "male".
    cells = sum(_is_cell(name, frame) for name in frame.columns)
    for count, what in ((numbers, "are numbers"), (cells if cells > 1 else 0, "stand among their own cells")):
        if count * 3 > frame.width:
            said = f"{count} of {frame.width} column names {what}, as if the header were missing."
            raise DataError([Problem(place, said, "Write the columns' names into the first line.")])


def _is_cell(name: str, frame: pl.DataFrame) -> bool:
    return frame.schema[name] == pl.String and bool((frame[name] == name).any())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _refuse_nothing(decided: Mapping[str, Decided]) -> None:
    if all(each.role == "identifier" for each in decided.values()):
        problems = [Problem(name, each.reason) for name, each in decided.items()]
        nothing = Problem(
            "data",
            "no column is left to publish.",
            "Write a policy by hand if one of these guesses is wrong.",
        )
        raise InfeasibleError([nothing, *problems])


def _warnings(profile: Profile) -> list[str]:
    said = []
    k = profile.k[0]
    if profile.n_rows < k:
        said.append(f"There are fewer than {k} rows, so nobody can hide among others: it will not publish.")
    if not profile.having("sensitive"):
        said.append("No column seems sensitive, so only k is promised; set the role of those that are.")
    if not profile.having("quasi"):
        said.append("No column seems to be known to outsiders; set the role of those that are.")
    left_out = [name for name in profile.having("identifier") if "Left out" in profile.decided[name].reason]
    if left_out:
        said.append(f"Columns left out for other reasons than naming people: {_listed(left_out)}.")
    return said


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_LISTED
    shown = ", ".join(name_of(name) for name in names[:MOST_LISTED])
    return f"{shown} and {more} more" if more > 0 else shown


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
