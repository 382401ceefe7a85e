"""What a policy accepts although lint doubts it: codes such as `neutral-unique: weight`."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from manyveils.errors import Problem

SHARED = "identifier-shared"
# What can be accepted; what each means is in docs/lint.md.
KINDS = (
    "neutral-unique",
    "free-text",
    "near-copy",
    "settled",
    "no-quasi",
    "no-sensitive",
    "identifier-repeats",
    SHARED,
)
BETWEEN = " + "


def code_of(kind: str, about: Sequence[str]) -> str:
    """How a doubt is written."""
    return f"{kind}: {BETWEEN.join(about)}"


def parts_of(code: str) -> tuple[str, tuple[str, ...]]:
    """The kind of a doubt and what it is about.

    >>> parts_of("neutral-unique: age + zipcode")
    ('neutral-unique', ('age', 'zipcode'))
    """
    kind, _, about = code.partition(":")
    return kind.strip(), tuple(name.strip() for name in about.split(BETWEEN))


def accept_problems(document: Mapping[str, object]) -> Iterator[Problem]:
    """What is wrong with the list: its shape and unknown kinds; what is about no attribute accepts nothing."""
    codes = document.get("accept", [])
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        yield Problem("accept", "must be a list of texts.", 'For example ["neutral-unique: weight"].')
        return
    for number, code in enumerate(codes, start=1):
        kind, _ = parts_of(code)
        if kind not in KINDS:
            near = get_close_matches(kind, KINDS, n=1)
            remedy = f"Did you mean {near[0]!r}?" if near else f"Known are {', '.join(KINDS)}."
            yield Problem(f"accept[{number}]", "is not a finding of lint.", remedy)
