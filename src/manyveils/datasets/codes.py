"""Hospital encounters and diagnosis histories, generated: codes by the hundred, in blocks and chapters, and sets of them."""

from typing import Any

import numpy as np
import polars as pl

from manyveils.datasets.draws import Numbers, Weights, dealt, draw_once, facts, near, record_numbers, words
from manyveils.errors import InputError
from manyveils.policy import Policy

FACTS = facts("codes_facts.toml")
CHAPTERS: dict[str, list[int]] = FACTS.chapters
WORLD = 24  # Codes and how common they are are the same for every seed; only the people differ.
FIRST_CODES, OTHER_CODES, SPECIALTIES, DISCHARGES, SOURCES = 717, 749, 75, 26, 17
MOST_DAYS = 14
SEPARATOR = "|"
# Blocks of ten codes.
BLOCK = 10
FROM_V = 1000
ENCOUNTER_ROLES = {
    "encounter": "identifier",
    "patient": "identifier",
    "age": "quasi",
    "race": "quasi",
    "gender": "quasi",
    "admission_type": "quasi",
    "discharge": "quasi",
    "source": "quasi",
    "days": "quasi",
    "diagnosis": "sensitive",
    "second_diagnosis": "sensitive",
    "specialty": "sensitive",
    "a1c": "sensitive",
    "readmitted": "sensitive",
}
HISTORY_ROLES = {
    "person": "identifier",
    "age": "quasi",
    "gender": "quasi",
    "district": "quasi",
    "marital": "quasi",
    "diagnoses": "sensitive",
    "specialty": "sensitive",
    "insurance": "sensitive",
}


def encounters(n: int = 101_766, seed: int = 1) -> pl.DataFrame:
    """Generate n encounters of about seven patients to every ten; the same seed gives the same on any machine.

    What is known of patients stays the same from encounter to encounter, and their diagnoses lie near each other. With
    the default n, the sensitive attributes have 717, 749, 75, 4 and 3 values, the rarest of them in a few rows.

    >>> encounters(2).select("race", "diagnosis", "readmitted").rows()
    [('Caucasian', '747', '>30'), ('Caucasian', '407', 'no')]
    """
    _refuse_size("encounters", n)
    rng = np.random.Generator(np.random.PCG64(seed))
    # Patients are drawn as if each had one encounter; some are then not seen, and others several times.
    patient = _patients(n, rng)
    illness = rng.random(n)
    now = near(illness[patient], 0.1, 0.8, rng)
    age = dealt(near(_ages_of(illness), 0.25, 0.85, rng), _shares("ages"), rng)[patient]
    numbers = {
        "race": dealt(rng.random(n), _shares("race"), rng)[patient],
        "gender": dealt(near(7 * illness, 0.3, 0.7, rng), _shares("gender"), rng)[patient],
        "admission_type": dealt(near(3 * now, 0.2, 0.7, rng), _shares("admission_type"), rng),
        "a1c": dealt(near(2 * illness[patient], 0.3, 0.6, rng), _shares("a1c"), rng),
        "readmitted": dealt(near(5 * now, 0.4, 0.5, rng), _shares("readmitted"), rng),
    }
    texts = {name: words(tuple(FACTS.values[name]), codes) for name, codes in numbers.items()}
    return pl.DataFrame(
        {
            "encounter": record_numbers(n, rng),
            "patient": pl.Series(rng.permutation(n)[patient] + 1).cast(pl.String).str.zfill(7),
            "age": 5 * age,
            **texts,
            "discharge": _numbered("D", dealt(near(now, 0.3, 0.5, rng), _falling(DISCHARGES), rng)),
            "source": _numbered("S", dealt(near(2 * now, 0.3, 0.5, rng), _falling(SOURCES), rng)),
            "days": 1 + dealt(near(4 * now, 0.3, 0.6, rng), _falling(MOST_DAYS), rng),
            "diagnosis": words(_codes(FIRST_CODES), dealt(now, _of_codes(FIRST_CODES), rng)),
            "second_diagnosis": words(
                _codes(OTHER_CODES), dealt(near(now, 0.08, 0.6, rng), _of_codes(OTHER_CODES), rng)
            ),
            "specialty": _numbered("P", dealt(near(now, 0.05, 0.7, rng), _falling(SPECIALTIES), rng)),
        }
    ).select(*ENCOUNTER_ROLES)


def encounter_policy(**sections: Any) -> Policy:
    """Make the policy of encounters; a section given here (publish, guarantee, …) replaces its own.

    >>> encounter_policy().sensitive
    ('diagnosis', 'second_diagnosis', 'specialty', 'a1c', 'readmitted')
    """
    attributes: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in ENCOUNTER_ROLES.items()}
    attributes["diagnosis"] |= {"hierarchy": {"tree": code_tree(FIRST_CODES)}}
    attributes["second_diagnosis"] |= {"hierarchy": {"tree": code_tree(OTHER_CODES)}}
    return Policy(**{"data": {"person": "patient"}} | _sections(attributes) | sections)


def histories(n: int = 33_961, seed: int = 1) -> pl.DataFrame:
    """Generate n people, each with a set of one to twenty of 717 diagnosis codes, which lie near each other.

    >>> histories(2).select("gender", "diagnoses").rows()
    [('Female', '424|438'), ('Male', '500|535|563|724|908|937|V77')]
    """
    _refuse_size("histories", n)
    rng = np.random.Generator(np.random.PCG64(seed))
    illness = rng.random(n)
    age = dealt(near(_ages_of(illness), 0.25, 0.85, rng), _shares("ages"), rng)
    numbers = {
        "gender": dealt(near(7 * illness, 0.3, 0.7, rng), _shares("gender"), rng),
        "marital": dealt(near(age / 20, 0.3, 0.8, rng), _shares("marital"), rng),
        "insurance": dealt(near(2 * age / 20, 0.4, 0.5, rng), _shares("insurance"), rng),
    }
    texts = {name: words(tuple(FACTS.values[name]), codes) for name, codes in numbers.items()}
    return pl.DataFrame(
        {
            "person": record_numbers(n, rng),
            "age": np.minimum(5 * age + rng.integers(5, size=n), 99),
            **texts,
            "district": pl.Series(47900 + dealt(rng.random(n), _falling(60), rng)).cast(pl.String),
            "diagnoses": _sets(illness, rng),
            "specialty": _numbered("P", dealt(near(illness, 0.05, 0.7, rng), _falling(SPECIALTIES), rng)),
        }
    ).select(*HISTORY_ROLES)


def history_policy(**sections: Any) -> Policy:
    """Make the policy of histories; a section given here (publish, guarantee, …) replaces its own.

    >>> history_policy().attributes["diagnoses"].multivalued
    '|'
    """
    attributes: dict[str, dict[str, Any]] = {name: {"role": role} for name, role in HISTORY_ROLES.items()}
    attributes["diagnoses"] |= {"multivalued": SEPARATOR, "hierarchy": {"tree": code_tree(FIRST_CODES)}}
    attributes["district"] |= {"hierarchy": {"mask": "right"}}
    return Policy(**{"data": {"person": "person"}} | _sections(attributes) | sections)


def code_tree(n_codes: int = FIRST_CODES) -> dict[str, dict[str, list[str]]]:
    """List the codes in blocks of ten, in 18 chapters.

    >>> code_tree()["Blood"]["280 to 289"][:3]
    ['280', '281', '283']
    """
    tree: dict[str, dict[str, list[str]]] = {}
    for number in _code_numbers(n_codes).tolist():
        chapter = next(name for name, (first, last, *_) in CHAPTERS.items() if first <= number <= last)
        start = number // BLOCK * BLOCK
        block = f"{_code(start)} to {_code(start + BLOCK - 1)}"
        # A block that reaches into the next chapter has a part in each.
        name = block if start >= CHAPTERS[chapter][0] else f"{block}, {chapter}"
        tree.setdefault(chapter, {}).setdefault(name, []).append(_code(number))
    return tree


def _sections(attributes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    attributes["age"] |= {"kind": "numeric", "hierarchy": {"widths": [10, 20, 40]}}
    return {
        "attributes": attributes,
        "guarantee": {"k": 5, "l": 2},
        "publish": {"method": "anatomize", "suppression": 0.02},
    }


def _refuse_size(name: str, n: int) -> None:
    if not isinstance(n, int) or n < 0:
        raise InputError.at(name, f"n is {n} and must be 0 or more.", "Give a whole number.")


def _patients(n: int, rng: np.random.Generator) -> Numbers:
    """Number the patient of every encounter; most have one, few have ten."""
    visits = 1 + draw_once(np.array(FACTS.weights["encounters"], dtype=np.float64), n, rng)
    return rng.permutation(np.repeat(np.arange(n), visits)[:n])


def _ages_of(illness: Weights) -> Weights:
    """The spot of each illness on the line of ages: that of its chapter."""
    ends = np.cumsum(_of_codes(FIRST_CODES))
    chapter = _chapters_of(_code_numbers(FIRST_CODES))[
        np.minimum(np.searchsorted(ends, illness), FIRST_CODES - 1)
    ]
    tenths = np.array([age for *_, age in CHAPTERS.values()])
    return tenths[chapter] / 10


def _sets(illness: Weights, rng: np.random.Generator) -> pl.Series:
    """The cells of all people: some codes near their illness, and some anywhere, in order."""
    sizes = 1 + draw_once(np.array(FACTS.weights["diagnoses"], dtype=np.float64), illness.size, rng)
    people = np.repeat(np.arange(illness.size), sizes)
    spots = near(illness[people], 0.06, 0.7, rng)
    ends = np.cumsum(_of_codes(FIRST_CODES))
    codes = np.minimum(np.searchsorted(ends, spots), FIRST_CODES - 1)
    texts = words(_codes(FIRST_CODES), codes)
    listed = pl.DataFrame({"person": people, "code": texts}).unique().sort("person", "code")
    return listed.group_by("person", maintain_order=True).agg(pl.col("code").str.join(SEPARATOR))["code"]


def _shares(name: str) -> Weights:
    weights = np.array(FACTS.weights[name], dtype=np.float64)
    return weights / np.cumsum(weights)[-1]


def _falling(n_values: int) -> Weights:
    """Shares that fall with the square of the rank, as those of codes do."""
    weights = 1.0 / (np.arange(n_values) + 3.0) ** 2
    return weights / np.cumsum(weights)[-1]


def _code_numbers(n_codes: int) -> Numbers:
    """The numbers that are in use: of every chapter about as large a part."""
    numbers = np.concatenate([np.arange(first, last + 1) for first, last, *_ in CHAPTERS.values()])
    return numbers[np.arange(n_codes) * numbers.size // n_codes]


def _chapters_of(numbers: Numbers) -> Numbers:
    return np.searchsorted([last for _, last, *_ in CHAPTERS.values()], numbers)


def _of_codes(n_codes: int) -> Weights:
    """The share of each code: that of its chapter, by rank in it; ranks are in no order.

    A fiftieth is spread evenly, so that the rarest has some rows of a hundred thousand.
    """
    world = np.random.Generator(np.random.PCG64(WORLD))
    chapters = _chapters_of(_code_numbers(n_codes))
    commonness = np.array([share for _, _, share, _ in CHAPTERS.values()], dtype=np.float64)
    sizes = np.bincount(chapters)
    weights = np.concatenate([world.permutation(_falling(size)) for size in sizes.tolist()])
    weights *= commonness[chapters]
    return 0.98 * weights / np.cumsum(weights)[-1] + 0.02 / n_codes


def _code(number: int) -> str:
    return f"{number:03}" if number < FROM_V else f"V{number - FROM_V:02}"


def _codes(n_codes: int) -> tuple[str, ...]:
    return tuple(_code(number) for number in _code_numbers(n_codes).tolist())


def _numbered(letter: str, numbers: Numbers) -> pl.Series:
    return pl.Series(numbers).cast(pl.String).str.zfill(2).str.replace("^", letter)
