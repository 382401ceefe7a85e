"""A survey, generated: as many questions as wanted, each with a hierarchy of its answers, and three sensitive ones."""

from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import Weights, dealt, near
from manyveils.errors import InputError
from manyveils.policy import Policy

# How many answers the questions have, in turn.
ANSWERS = (2, 3, 5, 8, 12, 4, 20, 6, 2, 36)
SENSITIVE = {"income": 25, "illness": 60, "party": 9}
N_TEMPERS = 4
TURNS = 3


def survey(n: int = 20_000, n_questions: int = 37, seed: int = 1) -> pl.DataFrame:
    """Generate n answered forms; the same seed gives the same forms on any machine.

    Answers go with one of four tempers of the person who gives them, common ones by far the most often.

    >>> survey(2, n_questions=3).columns
    ['q01', 'q02', 'q03', 'income', 'illness', 'party']
    """
    if not isinstance(n, int) or n < 0:
        raise InputError.at("survey", f"n is {n} and must be 0 or more.", "Give a whole number.")
    rng = np.random.Generator(np.random.PCG64(seed))
    tempers = [rng.random(n) for _ in range(N_TEMPERS)]
    columns = {}
    for turn, (name, size) in enumerate(_sizes(n_questions).items()):
        spot = near((1 + turn // N_TEMPERS % TURNS) * tempers[turn % N_TEMPERS], 0.25, 0.7, rng)
        columns[name] = pl.Series(_answers(size)).gather(dealt(spot, _common(size), rng))
    return pl.DataFrame(columns)


def survey_policy(n_questions: int = 37, **sections: Any) -> Policy:
    """Make the survey's policy; a section given here (publish, guarantee, …) replaces its own.

    >>> len(survey_policy(n_questions=5).quasi)
    5
    """
    sizes = _sizes(n_questions)
    known = {
        name: {"role": "quasi", "hierarchy": {"tree": _tree(sizes[name])}}
        for name in sizes
        if name not in SENSITIVE
    }
    own = {
        "attributes": known | {name: {"role": "sensitive"} for name in SENSITIVE},
        "guarantee": {"k": 5, "l": 2},
        "publish": {"method": "generalize", "suppression": 0.05},
    }
    return Policy(**own | sections)


def _sizes(n_questions: int) -> dict[str, int]:
    """How many answers each question has."""
    width = max(2, len(str(n_questions)))
    asked = {f"q{turn + 1:0{width}}": ANSWERS[turn % len(ANSWERS)] for turn in range(n_questions)}
    return asked | SENSITIVE


def _common(size: int) -> Weights:
    weights = 1.0 / (np.arange(size) + 1.0)
    return weights / np.cumsum(weights)[-1]


def _answers(size: int) -> list[str]:
    return [f"a{number:02}" for number in range(size)]


def _tree(size: int) -> dict[str, Any]:
    """Answers in threes, and threes in threes, as long as there are more than three."""
    level: dict[str, Any] | list[str] = _answers(size)
    depth = 0
    while len(level) > TURNS or depth == 0:
        depth += 1
        names = list(level)
        parts = [names[start : start + TURNS] for start in range(0, len(names), TURNS)]
        level = {
            f"{part[0]} and on, {depth}": part
            if isinstance(level, list)
            else {name: level[name] for name in part}
            for part in parts
        }
    assert isinstance(level, dict)
    return level
