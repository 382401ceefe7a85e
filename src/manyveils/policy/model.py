"""A policy: what the columns are, what is promised of them, and how to publish."""

import json
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from manyveils.errors import PolicyError, Problem
from manyveils.plain import as_table
from manyveils.policy.accepting import parts_of
from manyveils.policy.check import check_document
from manyveils.policy.hierarchies import Lines, line_problems, read_lines, tree_lines
from manyveils.policy.persons import NEVER_PUBLISHED, named_persons
from manyveils.policy.rules import protecting_one
from manyveils.policy.sections import (
    AttributeSection,
    Data,
    Dependency,
    GuaranteeKeys,
    Key,
    Population,
    Publish,
    Role,
    Rule,
)


class Policy(BaseModel):
    """What is promised about a table, as read from `policy.toml`, from JSON or given as keywords."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accept: list[str] = Field(
        default=[], description="findings of lint that are accepted, such as `neutral-unique: weight`"
    )
    data: Data = Data()
    attributes: dict[str, AttributeSection]
    population: Population = Population()
    guarantee: GuaranteeKeys = GuaranteeKeys()
    keys: list[Key] = Field(default=[])
    rules: list[Rule] = Field(default=[])
    dependencies: list[Dependency] = Field(default=[])
    publish: Publish = Publish()

    _folder: Path = PrivateAttr(default_factory=Path)
    _name: str = PrivateAttr(default="policy")
    _lines: dict[str, Lines] = PrivateAttr(default_factory=dict)

    def __init__(self, **sections: Any) -> None:
        folder = sections.pop("_folder", Path())
        name = sections.pop("_name", "policy")
        document = {key: _plain(value) for key, value in sections.items()}
        problems = list(check_document(document))
        lines = _written_hierarchies(document, folder, problems)
        PolicyError.refuse(problem.within(name) for problem in problems)
        if "rules" in document:
            document["rules"] = protecting_one(document["rules"])
        super().__init__(**document)
        self._folder, self._name, self._lines = folder, name, lines

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file, TOML or JSON by its ending; paths in it are relative to it."""
        path = Path(path)
        return cls(**read_document(path), _folder=path.parent, _name=path.name)

    @property
    def source(self) -> Path | str | None:
        """Where the policy says the data are: a path, or the address of a database."""
        source = self.data.source
        if source is None or "://" in source:
            return source
        return self._folder / source if source else None

    @property
    def population_source(self) -> Path | None:
        """The file that lists the population, if there is one."""
        return self._folder / self.population.source if self.population.source else None

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return self._name

    def lines(self, attribute: str) -> Lines | None:
        """The attribute's hierarchy as written in a file or a tree, if it has such a one."""
        return self._lines.get(attribute)

    def having(self, role: Role) -> tuple[str, ...]:
        """The attributes of one role, in the order of the policy."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.role == role)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return self.having("quasi")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes."""
        return self.having("sensitive")

    @property
    def person(self) -> tuple[str, ...] | None:
        """The identifiers that tell persons apart; none where every row is a person, None where nothing is said."""
        return named_persons(self.data.person)

    @property
    def accepted(self) -> frozenset[tuple[str, tuple[str, ...]]]:
        """What is accepted although lint doubts it: a kind of finding, and what it is about."""
        return frozenset(map(parts_of, self.accept))

    @property
    def constant(self) -> tuple[str, ...]:
        """The attributes that do not change from row to row of a person."""
        return tuple(name for name, attribute in self.attributes.items() if attribute.constant)

    @property
    def published(self) -> tuple[str, ...]:
        """The attributes that may appear in a release, in the order of the policy."""
        return tuple(name for name, body in self.attributes.items() if body.role not in NEVER_PUBLISHED)

    @property
    def held(self) -> tuple[str, ...]:
        """The attributes whose values are read, in the order of the policy; identifiers only tell persons apart."""
        unread, weights = ("identifier", "drop"), self.population.weights
        return tuple(
            name for name, body in self.attributes.items() if body.role not in unread or name == weights
        )

    def replaced(self, **sections: Any) -> "Policy":
        """The same policy with some sections replaced; hierarchy files are found where they were."""
        document = self.model_dump(by_alias=True, exclude_unset=True) | sections
        return Policy(**document, _folder=self._folder, _name=self._name)

    def _repr_html_(self) -> str:
        rows = [
            [name, body.role, body.kind or "as found", _asked(body.guarantee)]
            for name, body in self.attributes.items()
        ]
        note = f"Promised: {_asked(self.guarantee) or 'nothing for all'}; {len(self.rules)} rules. Method: {self.publish.method}."
        return as_table("Policy", ["attribute", "role", "kind", "of its own"], rows, note=note)

    def __repr__(self) -> str:
        return f"<Policy {self._name}: {len(self.attributes)} attributes, method {self.publish.method!r}>"

    __str__ = __repr__


def _asked(guarantee: GuaranteeKeys | None) -> str:
    """The keys of a guarantee that were set."""
    keys = guarantee.model_dump(exclude_unset=True) if guarantee else {}
    return ", ".join(f"{key} = {value}" for key, value in keys.items())


def read_document(path: Path) -> dict[str, Any]:
    """Read the sections of a policy file without judging them."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise PolicyError.at(str(path), "there is no such policy file.", "Check the path.") from None
    except (OSError, ValueError) as error:
        raise PolicyError.at(str(path), f"cannot be read as UTF-8 text ({type(error).__name__}).") from None
    is_json = path.suffix.lower() == ".json"
    try:
        document = json.loads(text, object_pairs_hook=_each_key_once) if is_json else tomllib.loads(text)
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as error:
        raise PolicyError.at(path.name, f"is not valid {'JSON' if is_json else 'TOML'}: {error}.") from None
    except PolicyError as error:
        raise PolicyError(problem.within(path.name) for problem in error.problems) from None
    except RecursionError:
        raise PolicyError.at(path.name, "has tables inside tables without end.") from None
    except ValueError:
        raise PolicyError.at(path.name, "has a number that is too long.", "Shorten it.") from None
    if not isinstance(document, dict):
        raise PolicyError.at(path.name, "must be a table of sections.")
    # Sections that begin with an underline are the policy's own, and no file may set them.
    private = [f"{path.name}: {key}" for key in document if key.startswith("_")]
    PolicyError.refuse(Problem(where, "is not a section.", "Leave it out.") for where in private)
    return document


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table of a JSON file without repeated keys; TOML refuses those by itself."""
    counts = Counter(key for key, _ in pairs)
    PolicyError.refuse(Problem(key, "is there twice.", "Keep one.") for key, n in counts.items() if n > 1)
    return dict(pairs)


def _plain(value: Any) -> Any:
    """Models given from Python become the plain tables that a file would hold."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def _written_hierarchies(
    document: Mapping[str, Any], folder: Path, problems: list[Problem]
) -> dict[str, Lines]:
    written: dict[str, Lines] = {}
    attributes = document.get("attributes", {})
    for name, attribute in attributes.items() if isinstance(attributes, Mapping) else ():
        hierarchy = attribute.get("hierarchy") if isinstance(attribute, Mapping) else None
        if not isinstance(hierarchy, Mapping):
            continue
        where = f"attributes.{name}.hierarchy"
        try:
            lines = _lines_of(hierarchy, folder)
        except PolicyError as error:
            problems += [problem.within(where) for problem in error.problems]
            continue
        if lines is not None:
            problems += [problem.within(where) for problem in line_problems(lines)]
            written[name] = lines
    return written


def _lines_of(hierarchy: Mapping[str, Any], folder: Path) -> Lines | None:
    if isinstance(hierarchy.get("file"), str):
        return read_lines(folder / hierarchy["file"])
    tree = hierarchy.get("tree")
    return tree_lines(tree) if isinstance(tree, Mapping) and tree else None
