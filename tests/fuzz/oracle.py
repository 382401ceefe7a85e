"""The judge of the fuzz: every promise of a policy, derived from the release folder and the table of the case alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from tests.fuzz.folder import Columns, Folder, Published, read
from tests.fuzz.guarantees import Crowd, Setting, exact, judge, leaks
from tests.fuzz.populations import People, Untold
from tests.fuzz.slices import crowds_of_slices
from tests.fuzz.values import levels_of, order_of, originals, spelled, text
from tests.fuzz.worlds import crowds_of_worlds

Keys = Mapping[str, Any]


@dataclass
class Judged:
    """What the oracle found: promises that are broken, how many it confirmed, and how many it could not judge."""

    broken: set[str] = field(default_factory=set)
    n_confirmed: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Group:
    """Rows that nobody can tell apart, with the person of each."""

    rows: Sequence[Mapping[str, str]]
    persons: Sequence[Any]

    def members(self, *names: str) -> list[tuple[Any, str]]:
        """The value of each row with its person; of several attributes together."""
        values = (row[names[0]] if len(names) == 1 else str([row[n] for n in names]) for row in self.rows)
        return list(zip(self.persons, values, strict=True))

    @property
    def n_persons(self) -> int:
        """How many different people."""
        return len(set(self.persons))


def judged(
    out: Path, private: Path, rows: Sequence[Keys], sections: Keys, people: Sequence[Keys] | None = None
) -> Judged:
    """Judge a release folder by the policy, the table that it was made from, and the population."""
    judge = _Judge(read(out, private), rows, sections)
    told = judge.run()
    if people is not None:
        judge.look_alikes(people)
    return told


class _Judge:
    def __init__(self, folder: Folder, rows: Sequence[Keys], sections: Keys) -> None:
        self.folder, self.sections, self.told = folder, sections, Judged()
        self.attributes: Keys = sections["attributes"]
        self.guarantee: Keys = sections.get("guarantee", {})
        self.derived: Mapping[str, Sequence[str]] = folder.manifest.get("derived", {})
        self.bit_of = {bit: name for name, bits in self.derived.items() for bit in bits}
        n_rows = folder.manifest["rows"] + folder.manifest["suppressed"]
        self.rows = originals(rows, sections, n_rows) or []
        if len(self.rows) != n_rows:
            self.told.broken.add("rows: published and suppressed rows are not those of the table")
        for row in self.rows:
            for bit in self.bit_of:
                row.setdefault(bit, "0")
        self.numeric = {name for name, kind in folder.manifest.get("kinds", {}).items() if kind == "numeric"}
        self._respell()
        self.person = self._person()
        ids = [row.get(self.person, "") if self.person else "" for row in self.rows]
        self.whose = [name.strip() or f"row {place}" for place, name in enumerate(ids)]
        self.several = self.person is not None and len(set(self.whose)) < len(self.rows)

    def _respell(self) -> None:
        """Write every number in one way, in the table and in the release."""
        lines = [row for view in self.folder.views for columns in view.columns for row in columns.rows]
        for row in (*self.rows, *lines):
            for name in self.numeric & set(row):
                row[name] = spelled(row[name])

    def _person(self) -> str | None:
        person = self.sections.get("data", {}).get("person")
        return (person[0] if isinstance(person, list) else person) if person not in (None, "row") else None

    def names(self, *roles: str) -> list[str]:
        """Published attributes of these roles, several values as 0/1."""
        named = [name for name, keys in self.attributes.items() if keys["role"] in roles]
        return [bit for name in named for bit in self.derived.get(name, [name])]

    def run(self) -> Judged:
        """Everything that can be judged."""
        if self.folder.unlisted:
            self.told.broken.add("folder: files are listed and missing, or there and not listed")
        self._suppression()
        for view in self.folder.views:
            self._content(view)
            self._sizes(view)
            for name in self.names("sensitive"):
                if name in view.attributes:
                    self._protected(view, name)
            self._joint(view)
            self._known_items(view)
        return self.told

    def _suppression(self) -> None:
        allowed = int(exact(self.sections["publish"].get("suppression", 0)) * len(set(self.whose)))
        if not self.several and self.folder.manifest["suppressed"] > allowed:
            self.told.broken.add("suppression")

    def _content(self, view: Published) -> None:
        """Nothing that must not be published, buckets that agree, and rows that are rows of the table."""
        allowed = set(self.names("quasi", "sensitive", "neutral"))
        counts = [Counter(columns.buckets) for columns in view.columns]
        if not view.attributes <= allowed or any(count != counts[0] for count in counts):
            self.told.broken.add("content: attributes or buckets")
        for columns in view.columns:
            shown = [name for name in columns.attributes if name not in view.recoded]
            fields = set(columns.rows[0]) - {"bucket"} if columns.rows else set(columns.attributes)
            published = Counter(tuple(spelled(row[name]) for name in shown) for row in columns.rows)
            held = Counter(tuple(spelled(row[name]) for name in shown) for row in self.rows)
            if fields != set(columns.attributes) or published - held:
                self.told.broken.add("content: rows that are not in the table")
            if len(columns.rows) != self.folder.manifest["rows"]:
                self.told.broken.add("content: not all rows")

    def _known(self, view: Published) -> list[str]:
        return [name for name in self.names("quasi") if name in view.attributes]

    def _groups(self, view: Published, columns: Columns, known: Sequence[str]) -> list[Group] | None:
        """Groups of one column of a view for someone who knows attributes; None if not told from the files."""
        split = [name for name in known if name in columns.attributes]
        is_found = any(name in view.attributes for name in known)
        if not self.several:
            numbered = enumerate(zip(columns.rows, columns.buckets, strict=True))
            return self._grouped(
                ((n, row, bucket, row) for n, (row, bucket) in numbered), split, is_found=is_found
            )
        if view.placements is None or (view.bucketed and split and view.recoded & set(columns.attributes)):
            return None
        placed = [(n, place) for n, place in enumerate(view.placements) if place is not None and place >= 0]
        if view.bucketed:
            rows = ((self.whose[n], self.rows[n], place, self.rows[n]) for n, place in placed)
        else:
            rows = ((self.whose[n], self.rows[n], 0, columns.rows[place]) for n, place in placed)
        return self._grouped(rows, split, is_found=is_found)

    def _grouped(self, rows: Any, split: Sequence[str], *, is_found: bool) -> list[Group]:
        grouped: dict[Any, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
        for person, row, bucket, line in rows:
            texts, persons = grouped[(bucket if is_found else 0, *(line[name] for name in split))]
            texts.append(row)
            persons.append(person)
        return [Group(*group) for group in grouped.values()]

    def _is_spread(self, view: Published, known: Sequence[str]) -> bool:
        return (
            view.bucketed and sum(bool(set(columns.attributes) & set(known)) for columns in view.columns) > 1
        )

    def _sizes(self, view: Published) -> None:
        """Promise k and what it stands for, in columns that show something sensitive, or known where none does."""
        if len(view.attributes) < 2:
            return
        known, sensitive = self._known(view), set(self.names("sensitive"))
        about = sensitive if sensitive & view.attributes else set(known)
        k, risk = self.guarantee.get("k"), self.guarantee.get("prosecutor_risk")
        for columns in view.columns:
            if not about & set(columns.attributes):
                continue
            if self._is_spread(view, known):
                self.told.unjudged["k in slices"] += 1
                continue
            groups = self._groups(view, columns, known)
            for group in groups or ():
                if k is not None:
                    self._tell("k", group.n_persons >= k)
                if risk is not None:
                    self._tell("prosecutor_risk", group.n_persons * exact(risk) >= 1)
            if groups and self.guarantee.get("marketer_risk") is not None and not view.bucketed:
                mean = Fraction(len(groups), sum(group.n_persons for group in groups))
                self._tell("marketer_risk", mean <= exact(self.guarantee["marketer_risk"]))
            for key in self.sections.get("keys", ()) if not view.bucketed else ():
                some = [name for name in key["attributes"] if name in view.attributes]
                for group in (self._groups(view, columns, some) if some else None) or ():
                    self._tell("keys", group.n_persons >= key["k"])

    def look_alikes(self, people: Sequence[Keys]) -> None:
        """Promises about how many people of a list look like a row; of buckets nothing is promised to be kept."""
        k, risk = self.guarantee.get("k_map"), self.guarantee.get("journalist_risk")
        for view in self.folder.views:
            known = self._known(view)
            if view.bucketed or not known or len(view.attributes) < 2:
                continue
            alike = People(people, self.attributes, known, self.numeric)
            if self.sections.get("data", {}).get("missing") in ("drop", "error"):
                alike.without_gaps()
            lines = {tuple(row[name] for name in known): row for row in view.columns[0].rows}
            try:
                sizes = [alike.alike(line, view.recoded) for line in lines.values()]
            except Untold:
                self.told.unjudged["labels that a population is looked up by"] += 1
                continue
            for size in sizes:
                if k is not None:
                    self._tell("k_map", size >= k)
                if risk is not None:
                    self._tell("journalist_risk", size * exact(risk) >= 1)

    def _tell(self, what: str, is_kept: bool) -> None:
        self.told.n_confirmed += is_kept
        if not is_kept:
            self.told.broken.add(what)

    def _setting(self, name: str) -> Setting:
        whole, keys = self.bit_of.get(name, name), self.attributes[self.bit_of.get(name, name)]
        table = Crowd.of([(who, row[name]) for who, row in zip(self.whose, self.rows, strict=True)])
        kind = keys.get("kind") or self.folder.manifest.get("kinds", {}).get(whole, "")
        ground = {"numeric": "ordered", "ordinal": "ordered", "categorical": "equal"}.get(kind)
        harmless, is_bit = frozenset(self._listed(whole, keys.get("insensitive", ()))), whole != name
        values = sorted(table.shares)
        order = order_of(keys, kind, values)
        levels = None if is_bit else levels_of(keys, values)
        return Setting(table, harmless, order, levels, ground, is_bit, name[len(whole) + 1 :])

    def _listed(self, name: str, values: Iterable[Any]) -> list[str]:
        """Values that a policy lists, as texts."""
        texts = map(text, values)
        return [spelled(value) for value in texts] if name in self.numeric else list(texts)

    def _asked(self, name: str) -> Keys:
        """The guarantee of an attribute, with values as they are spelled here."""
        keys = {**self.guarantee, **(self.attributes[name].get("guarantee") or {})}
        if keys.get("l_of"):
            keys["l_of"] = dict(zip(self._listed(name, keys["l_of"]), keys["l_of"].values(), strict=True))
        if keys.get("alpha_values"):
            keys["alpha_values"] = self._listed(name, keys["alpha_values"])
        return keys

    def _protected(self, view: Published, name: str) -> None:
        """All promises about the values of one attribute, in one view."""
        whole = self.bit_of.get(name, name)
        keys = self._asked(whole)
        shown = [columns for columns in view.columns if name in columns.attributes]
        if name in view.recoded:
            self.told.unjudged["labels in place of sensitive values"] += 1
            return
        setting, others = (
            self._setting(name),
            [n for n in self.names("sensitive") if self.bit_of.get(n, n) != whole],
        )
        for columns in shown:
            for known in self._readings(view, others, keys):
                self._values(view, columns, name, known, keys, setting)
            self._eliminated(view, columns, name, others, keys)
            if keys.get("everybody") and not self.several and self._is_spread(view, self._known(view)):
                self._of_everybody(view, columns, name, keys, setting)

    def _of_everybody(
        self, view: Published, columns: Columns, name: str, keys: Keys, setting: Setting
    ) -> None:
        """What someone believes who knows what identifies everybody."""
        known = self._known(view)
        crowds = (
            None if set(known) & view.recoded else crowds_of_worlds(view, columns, name, known, self.rows)
        )
        if crowds is None:
            self.told.unjudged["worlds of labels, or of too many"] += 1
            return
        for crowd in crowds:
            verdict = judge(keys, crowd, setting)
            self.told.broken |= {f"everybody: {what}" for what in verdict.broken}
            self.told.n_confirmed += not verdict.broken

    def _readings(self, view: Published, others: Sequence[str], keys: Keys) -> Iterator[list[str]]:
        yield self._known(view)
        if keys.get("conditional") and others and not view.bucketed:
            yield self._known(view) + [other for other in others if other in view.attributes]

    def _values(
        self, view: Published, columns: Columns, name: str, known: Sequence[str], keys: Keys, setting: Setting
    ) -> None:
        if self._is_spread(view, known):
            if self.several or set(known) & view.recoded:
                self.told.unjudged["slices of persons, or of labels"] += 1
                return
            crowds: Any = crowds_of_slices(view, columns, name, known, self.rows)
        else:
            groups = self._groups(view, columns, known)
            if groups is None:
                self.told.unjudged["persons without placements"] += 1
                return
            crowds = [Crowd.of(group.members(name)) for group in groups]
        for crowd in crowds:
            if set(crowd.shares) - set(setting.table.shares):
                self.told.unjudged["values that are written otherwise"] += 1
                continue
            verdict = judge(keys, crowd, setting)
            self.told.broken |= set(verdict.broken)
            self.told.unjudged.update(verdict.unjudged)
            self.told.n_confirmed += not verdict.broken

    def _eliminated(
        self, view: Published, columns: Columns, name: str, others: Sequence[str], keys: Keys
    ) -> None:
        most = keys.get("eliminations")
        known = self._known(view)
        beside = [other for other in others if other in columns.attributes]
        if most is None or self.several or view.recoded & {name, *beside} or self._is_spread(view, known):
            return
        if keys.get("pairs") == "consecutive":
            order = keys.get("sensitive_order") or [
                n for n, k in self.attributes.items() if k["role"] == "sensitive"
            ]
            place = order.index(self.bit_of.get(name, name))
            if place == 0:  # Before it stands nothing, and nothing is promised of it.
                return
            before = order[place - 1]
            beside = [other for other in beside if self.bit_of.get(other, other) == before]
        setting = self._setting(name)
        for group in self._groups(view, columns, known) or ():
            is_leaking = leaks(
                group.rows,
                name,
                beside,
                most,
                is_harmless=lambda value: not setting.sensitive([value]),
                is_bit=lambda other: other in self.bit_of,
            )
            self._tell("eliminations", not is_leaking)

    def _joint(self, view: Published) -> None:
        """Combinations whose parts stand in one column."""
        keys = {
            key: self.guarantee[key]
            for key in ("l", "l_kind", "c", "t", "n", "alpha", "beta", "delta", "epsilon_link")
            if key in self.guarantee
        }
        for combination in self.guarantee.get("joint", ()):
            for columns in view.columns:
                if not set(combination) <= set(columns.attributes) - view.recoded or self._is_spread(
                    view, self._known(view)
                ):
                    continue
                pairs = (str([row[n] for n in combination]) for row in self.rows)
                setting = Setting(Crowd.of(list(zip(self.whose, pairs, strict=True))), ground="equal")
                if self.guarantee.get("l_level") or self.guarantee.get("alpha_values"):
                    continue
                for group in self._groups(view, columns, self._known(view)) or ():
                    verdict = judge(
                        {**keys, "ground": "equal"}, Crowd.of(group.members(*combination)), setting
                    )
                    self.told.broken |= {f"joint {key}" for key in verdict.broken}

    def _known_items(self, view: Published) -> None:
        most, k, known = self.guarantee.get("known_items"), self.guarantee.get("k"), self._known(view)
        if most is None or k is None or self.several or len(view.attributes) < 2:
            return
        for columns in view.columns:
            for bits in self.derived.values():
                if not set(bits) <= set(columns.attributes) or self._is_spread(view, known):
                    continue
                for group in self._groups(view, columns, known) or ():
                    self._tell("known_items", _fewest(group.rows, bits, most) >= k)


def _fewest(rows: Sequence[Mapping[str, str]], bits: Sequence[str], most: int) -> int:
    shown = {
        some
        for row in rows
        for size in range(most + 1)
        for some in combinations([bit for bit in bits if row[bit] == "1"], size)
    }
    return min(
        (sum(all(row[bit] in ("1", "*") for bit in some) for row in rows) for some in shown),
        default=len(rows),
    )
