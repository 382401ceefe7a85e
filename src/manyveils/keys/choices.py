"""A person's own choice of how her sensitive values are published, and the form of what stands in their place.

Whoever makes such releases, judges them or attacks them reads a policy's options here, so that all agree on them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from manyveils.policy import Policy
from manyveils.table import Attribute

ACTUAL, GENERALIZED, HIDDEN = 1, 2, 3
DEFAULT_CHOICE: Final = 3
DEFAULT_CATEGORIES = 5
PSEUDONYM_LENGTH = 10
PSEUDONYM = re.compile(rf"[A-Z2-7]{{{PSEUDONYM_LENGTH}}}")

MEANINGS = {
    f"{choice}{fraction}": choice for choice in (ACTUAL, GENERALIZED, HIDDEN) for fraction in ("", ".0")
}


@dataclass(frozen=True)
class Choices:
    """What people chose: the attribute that says so, if there is one, and what each of its values means.

    A value is published as it is (ACTUAL), as the pseudonym of its group (GENERALIZED) or as its own (HIDDEN).
    """

    attribute: str | None
    meant: NDArray[np.int64]

    def of(self, codes: Mapping[str, NDArray[Any]], n: int) -> NDArray[np.int64]:
        """What each of n people chose, by their codes."""
        return np.full(n, self.meant[0]) if self.attribute is None else self.meant[codes[self.attribute]]


def choices_of(policy: Policy, attributes: Mapping[str, Attribute]) -> Choices:
    """The choices of a table; the policy's default for a cell that is missing or none, and without the attribute.

    Claim: the choice that a release is made by is the one that its audit and the attacks take for granted.
    Why: all of them call this function with the same policy and table.
    Tested by: tests/claims/test_choices.py
    """
    default = int(policy.publish.options.get("default_choice", DEFAULT_CHOICE))
    name = next((name for name in policy.having("choice") if name in attributes), None)
    texts = ("",) if name is None else attributes[name].texts
    return Choices(name, np.array([MEANINGS.get(text, default) for text in texts], dtype=np.int64))


def is_choice(cell: str) -> bool:
    """Whether a cell of the attribute of choices can be understood; a missing one means the default.

    >>> [is_choice(cell) for cell in ("1", "3.0", "", "4", "one")]
    [True, True, True, False, False]
    """
    return not cell or cell in MEANINGS


def categories_for(name: str, categories: object) -> object:
    """The number of categories of a numeric attribute, or the categories themselves, of those that a policy lists."""
    return categories.get(name, DEFAULT_CATEGORIES) if isinstance(categories, Mapping) else categories


def n_categories(policy: Policy, name: str) -> int:
    """How many categories a policy asks for one numeric attribute."""
    categories = categories_for(name, policy.publish.options.get("categories", DEFAULT_CATEGORIES))
    return categories if isinstance(categories, int) else len(categories)  # type: ignore[arg-type]
