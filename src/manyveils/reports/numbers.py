"""Numbers in a page, each with its place in the results, so that anybody can check it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup

from manyveils.plain import readable

Step = str | int
Path = Step | tuple[Step, ...]


@dataclass(frozen=True, repr=False)
class Numbers:
    """The results of all commands as plain values, shown by their place."""

    document: Mapping[str, Any]

    def find(self, *path: Step) -> Any:
        """The value at a place; None where there is none."""
        value: Any = self.document
        for step in path:
            keys = range(len(value)) if isinstance(value, list) else value
            if not isinstance(keys, Mapping | range) or step not in keys:
                return None
            value = value[step]
        return value

    def shown(self, *path: Path) -> Markup:
        """A number as people read it, with its exact value and its place beside it."""
        return self._marked(path, readable)

    def percent(self, *path: Path) -> Markup:
        """A share in percent."""
        return self._marked(path, lambda value: f"{100 * value:.3g} %")

    def _marked(self, path: Sequence[Path], words: Callable[[Any], str]) -> Markup:
        steps = tuple(step for part in path for step in (part if isinstance(part, tuple) else (part,)))
        value = self.find(*steps)
        if not isinstance(value, int | float) or isinstance(value, bool):
            return Markup(escape(readable(value)))
        place = escape(pointer(steps), quote=True)
        return Markup(f'<data value="{value!r}" data-from="{place}">{escape(words(value))}</data>')


def pointer(path: Sequence[Step]) -> str:
    """A place as a JSON pointer (RFC 6901).

    >>> pointer(("audit", "findings", 0, "a/b"))
    '/audit/findings/0/a~1b'
    """
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)
