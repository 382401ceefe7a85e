"""The tumour registry's policy: a hierarchy for every attribute, sensitive ones included."""

from copy import deepcopy
from typing import Any

from manyveils.datasets.registry import COLUMNS, QUASI, SENSITIVE, TREES
from manyveils.errors import InputError
from manyveils.policy import Policy

WIDTHS = {
    "birth_year": [5, 10, 20, 40],
    "survival_years": [2, 4, 8, 16],
    "age_at_diagnosis": [5, 10, 20, 40],
    "tumor_size": [5, 10, 20, 40, 80],
}
ORDINAL = ("education", "diagnosis_date")


def tumour_policy(n_sensitive: int = 6, **sections: Any) -> Policy:
    """Make the registry's policy; a section given here (publish, guarantee, …) replaces its own.

    >>> tumour_policy(n_sensitive=2).sensitive
    ('tumor_topography', 'histology')
    """
    return Policy(**(tumour_sections(n_sensitive) | sections))


def tumour_sections(n_sensitive: int = 6) -> dict[str, Any]:
    """List the sections of the registry's policy as plain dictionaries, free to be changed.

    The sensitive attributes after the first n_sensitive are not published, as if they were identifiers.
    """
    if n_sensitive not in range(1, len(SENSITIVE) + 1):
        what = f"n_sensitive is {n_sensitive} and must be from 1 to {len(SENSITIVE)}."
        raise InputError.at("tumour_sections", what, "Give a whole number.")
    return {
        "attributes": {name: _attribute(name, n_sensitive) for name in COLUMNS},
        "guarantee": {"k": 10, "l": 3},
        "publish": {"method": "generalize", "recoding": "mondrian"},
    }


def _attribute(name: str, n_sensitive: int) -> dict[str, Any]:
    body: dict[str, Any] = {"role": _role(name, n_sensitive)}
    if name in WIDTHS:
        return body | {"kind": "numeric", "hierarchy": {"widths": list(WIDTHS[name])}}
    if name in TREES:
        kind = "ordinal" if name in ORDINAL else "categorical"
        return body | {"kind": kind, "hierarchy": {"tree": deepcopy(TREES[name])}}
    return body


def _role(name: str, n_sensitive: int) -> str:
    if name in QUASI:
        return "quasi"
    return "sensitive" if name in SENSITIVE[:n_sensitive] else "identifier"
