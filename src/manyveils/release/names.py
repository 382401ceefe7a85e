"""Names of files: safe, short and never twice."""

import re
from collections.abc import Iterable

LONGEST = 100


class Names:
    """Hands out file names; a name that is unsafe, long or taken is changed."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, view: str, attributes: Iterable[str] = ()) -> str:
        """A name for a view, or for some attributes of it.

        >>> Names().of("main", ["age", "a/b"])
        'main.age+a_b'
        """
        parts = [_safe(view), "+".join(_safe(name) for name in attributes)]
        return self._fresh(".".join(part for part in parts if part))

    def _fresh(self, name: str) -> str:
        short, number = name[:LONGEST], 1
        while short.lower() in self._taken or (number == 1 and len(name) > LONGEST):
            number += 1
            short = f"{name[: LONGEST - 6]}~{number}"
        self._taken.add(short.lower())
        return short


def _safe(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_=-]", "_", name).strip() or "_"
