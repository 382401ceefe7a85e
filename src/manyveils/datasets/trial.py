"""The hospital table's policy, and both written to a folder to try the commands on."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from manyveils.datasets.generate import hospital
from manyveils.policy import Policy


def hospital_policy(**sections: Any) -> Policy:
    """Make the hospital table's policy; a section given here (publish, guarantee, …) replaces its own.

    >>> hospital_policy(publish={"method": "slice", "columns": 3}).publish.options
    {'columns': 3}
    """
    return Policy(**(hospital_sections() | sections))


def hospital_sections(*, whole_cells: bool = False) -> dict[str, Any]:
    """List the sections of the hospital table's policy as plain dictionaries, free to be changed.

    With `whole_cells` a cell of several diagnoses is one value, as methods need it that give every value a code.
    """
    sections = tomllib.loads(_written())
    if whole_cells:
        sections["attributes"]["diagnosis"] = {"role": "sensitive", "insensitive": ["None"]}
    return sections


def write_hospital(folder: str | Path, n: int = 1000, seed: int = 1) -> Path:
    """Write `hospital.csv` and a commented `policy.toml` for it; returns the policy's path."""
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    hospital(n, seed).write_csv(place / "hospital.csv")
    policy = place / "policy.toml"
    policy.write_text(_written(), encoding="utf-8", newline="\n")
    return policy


def _written() -> str:
    return files("manyveils.datasets").joinpath("hospital.toml").read_text(encoding="utf-8")
