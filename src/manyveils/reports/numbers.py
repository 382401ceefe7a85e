"""Numbers in a page: each says where in the results it stands, so that anybody can check it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from manyveils.plain import readable

Step = str | int
Path = Step | tuple[Step, ...]


@dataclass(frozen=True, repr=False)
class Numbers:
    """The results of all commands as plain values, shown by where they stand."""

    document: Mapping[str, Any]

    def find(self, *path: Step) -> Any:
        """The value at a place; None where there is none."""
        value: Any = self.document
        for step in path:
            places = range(len(value)) if isinstance(value, list) else value
            if not isinstance(places, Mapping | range) or step not in places:
                return None
            value = value[step]
        return value

    def shown(self, *path: Path) -> Markup:
        """A number as people read it, with its exact value and its place beside it."""
        return self._marked(_flat(path), readable(self.find(*_flat(path))))

    def percent(self, *path: Path) -> Markup:
        """A share in percent."""
        value = self.find(*_flat(path))
        return self._marked(_flat(path), f"{100 * value:.3g} %" if _is_number(value) else readable(value))

    def _marked(self, path: tuple[Step, ...], words: str) -> Markup:
        value = self.find(*path)
        if not _is_number(value):
            return Markup(escape(words))
        place = escape(pointer(path), quote=True)
        return Markup(f'<data value="{value!r}" data-from="{place}">{escape(words)}</data>')


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flat(path: Sequence[Path]) -> tuple[Step, ...]:
    return tuple(step for part in path for step in (part if isinstance(part, tuple) else (part,)))


def pointer(path: Sequence[Step]) -> str:
    """A place as a JSON pointer (RFC 6901).

    >>> pointer(("audit", "findings", 0, "a/b"))
    '/audit/findings/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
