"""The publications whose bytes are kept: every method, its main options, on one small table of odd cells."""

import random
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "releases"
SEED = 20_261_116
N_ROWS = 96

ILLNESSES = ("flu", "asthma", "bronchitis, chronic", "ulcer", "gastritis", "migraine", "épilepsie")
FAMILIES = {
    "lungs": ["flu", "asthma", "bronchitis, chronic"],
    "stomach": ["ulcer", "gastritis"],
    "head": ["migraine", "épilepsie"],
}
JOBS = ("clerk", "nurse", "miner", "teacher", "cook")
TRADES = {"office": ["clerk", "teacher"], "care": ["nurse", "cook"], "pit": ["miner"]}


def table() -> str:
    """Write the table as csv: names, three quasi-identifiers, four sensitive attributes, a neutral one, choices."""
    draw = random.Random(5)
    lines = ["name,age,zip,job,ill,income,drugs,blood,stay,choice"]
    for number in range(N_ROWS):
        age = str(draw.randint(18, 67)) if number % 19 else ""
        code = f"47{draw.choice('0139')}{draw.choice('0256')}{number % 7}"
        ill = ILLNESSES[min(draw.randrange(9), 6)]
        income = f"{draw.randint(12, 60) * 500}" if number % 23 else ""
        drugs = "|".join(sorted(draw.sample(["aspirin", "insulin", "statin", "none"], draw.randint(1, 2))))
        cells = [
            f"person {number}",
            age,
            code,
            draw.choice(JOBS),
            f'"{ill}"' if "," in ill else ill,
            income,
            drugs,
            draw.choice(["A", "B", "AB", "0"]),
            str(draw.randint(1, 9) / 2),
            str(draw.randint(1, 3)),
        ]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def attributes(*sensitive: str) -> dict[str, Any]:
    """List the roles; sensitive attributes that are not named are neutral, and so is nothing else but `stay`."""
    quasi: dict[str, Any] = {
        "age": {"role": "quasi", "kind": "numeric", "hierarchy": {"widths": [5, 10, 20]}},
        "zip": {"role": "quasi", "kind": "categorical", "hierarchy": {"mask": "right"}},
        "job": {"role": "quasi", "hierarchy": {"tree": TRADES}},
    }
    secrets: dict[str, Any] = {
        "ill": {"role": "sensitive", "hierarchy": {"tree": FAMILIES}},
        "income": {"role": "sensitive", "kind": "numeric"},
        "drugs": {"role": "sensitive", "multivalued": "|", "insensitive": ["none"]},
        "blood": {"role": "sensitive"},
    }
    hidden = {name: {"role": "identifier"} for name in secrets if name not in sensitive}
    return {
        "name": {"role": "identifier"},
        **quasi,
        **{name: body for name, body in secrets.items() if name in sensitive},
        **hidden,
        "stay": {"role": "neutral"},
        "choice": {"role": "identifier"},
    }


def _case(guarantee: dict[str, Any], publish: dict[str, Any], *sensitive: str, **more: Any) -> dict[str, Any]:
    roles = {**attributes(*sensitive), **more.pop("attributes", {})}
    return {
        "data": {"source": "people.csv", "person": "name"},
        "accept": [f"identifier-shared: {name}" for name, of in roles.items() if of["role"] == "identifier"],
        "attributes": roles,
        "guarantee": guarantee,
        "publish": publish,
        **more,
    }


CHOICE = {"choice": {"role": "choice"}}
RULES = [
    {"given": ["age", "job"], "protect": "zip", "l": 2},
    {"given": ["zip"], "protect": "ill", "l": 2},
    {"given": ["blood"], "protect": "job", "l": 2},
]
NEUTRAL = {name: {"role": "neutral"} for name in ("age", "zip", "job", "ill", "blood", "stay")}

CASES: dict[str, dict[str, Any]] = {
    "generalize": _case({"k": 4, "l": 2}, {"method": "generalize"}, "ill", "blood"),
    "generalize-suppressed": _case(
        {"k": 3, "l": 2, "l_kind": "frequency"},
        {"method": "generalize", "suppression": 0.1, "objective": "discernibility"},
        "ill",
        "drugs",
    ),
    "generalize-closeness": _case(
        {"k": 2, "t": 0.5}, {"method": "generalize", "objective": "class-size"}, "ill", "income"
    ),
    "mondrian": _case({"k": 3, "l": 2}, {"method": "generalize", "recoding": "mondrian"}, "ill", "income"),
    "mondrian-sets": _case(
        {"k": 3, "l": 2, "l_kind": "entropy"},
        {"method": "generalize", "recoding": "mondrian", "labels": "sets", "cuts": "strict"},
        "ill",
    ),
    "mondrian-hierarchy": _case(
        {"k": 3, "conditional": True, "l": 2},
        {"method": "generalize", "recoding": "mondrian", "labels": "hierarchy"},
        "ill",
        "blood",
    ),
    "mondrian-ranges": _case(
        {"k": 5, "beta": 3.0}, {"method": "generalize", "recoding": "mondrian", "labels": "ranges"}, "ill"
    ),
    "anatomize": _case({"k": 4, "l": 3}, {"method": "anatomize"}, "ill"),
    "anatomize-several": _case(
        {"k": 4, "l": 2}, {"method": "anatomize", "suppression": 0.05}, "ill", "income", "drugs", "blood"
    ),
    "anatomize-linked": _case(
        {"l": 2, "joint": [["ill", "blood"]]},
        {"method": "anatomize", "link": [["income", "blood"]]},
        "ill",
        "income",
        "blood",
    ),
    "anatomize-frequency": _case(
        {"l": 3, "l_kind": "frequency", "k": 6}, {"method": "anatomize", "suppression": 0.2}, "blood"
    ),
    "angelize": _case({"l": 2}, {"method": "angelize", "group_k": 3}, "ill", "income"),
    "angelize-groups": _case({"k": 4, "l": 2}, {"method": "angelize", "batches": "groups"}, "ill", "blood"),
    "slice": _case({"l": 2}, {"method": "slice"}, "ill", "blood"),
    "slice-columns": _case(
        {"k": 2, "l": 2},
        {"method": "slice", "columns": 3, "column_k": 2, "discretize": "cluster", "bins": 4},
        "ill",
        "income",
    ),
    "slice-random": _case({"l": 2}, {"method": "slice", "partition": "random", "bucket": 12}, "ill"),
    "slice-membership": _case(
        {"l": 2}, {"method": "slice", "partition": "membership", "bucket": 16}, "ill", "blood"
    ),
    "codip": _case({"k": 3, "l": 2}, {"method": "codip"}, "ill", "blood", "drugs"),
    "codip-mondrian": _case(
        {"k": 3, "t": 0.5},
        {"method": "codip", "anonymizer": "mondrian", "search": "optimal", "beta": 1},
        "ill",
        "blood",
        "income",
    ),
    "guardian": _case({"k": 2, "l": 2}, {"method": "guardian"}, "ill", "blood"),
    "guardian-rules": _case(
        {},
        {"method": "guardian", "decompose": "gd"},
        rules=RULES,
        dependencies=[{"from": ["zip"], "to": "stay"}],
        attributes=NEUTRAL,
    ),
    "guardian-generalize": _case(
        {"l": 2}, {"method": "guardian", "anonymizer": "generalize", "decompose": "gd"}, "ill", "blood"
    ),
    "guardian-slice": _case(
        {}, {"method": "guardian", "anonymizer": "slice"}, rules=RULES, attributes=NEUTRAL
    ),
    "alpha-beta-k": _case({"k": 3}, {"method": "alpha-beta-k"}, "ill", "blood", "income"),
    "alpha-beta-k-rule": _case(
        {"k": 2},
        {
            "method": "alpha-beta-k",
            "pairs": "consecutive",
            "repair": "rule",
            "cuts": "strict",
            "labels": "hierarchy",
        },
        "ill",
        "blood",
    ),
    "grade": _case({"k": 1}, {"method": "grade"}, "ill", "income", attributes=CHOICE),
    "grade-anatomize": _case(
        {"k": 3, "l": 2},
        {"method": "grade", "then": "anatomize", "spacing": "quantile", "categories": 3},
        "ill",
        "income",
        attributes=CHOICE,
    ),
    "grade-generalize": _case(
        {"k": 3, "l": 2}, {"method": "grade", "then": "generalize", "default_choice": 2}, "ill", "income"
    ),
    "multi-sa": _case({"l": 2}, {"method": "multi-sa", "suppression": 0.05}, "ill", "blood"),
    "slice-overlap": _case(
        {"l": 2},
        {"method": "slice", "columns": [["age", "job", "stay"], ["zip", "job", "ill"]], "overlap": ["job"]},
        "ill",
    ),
    "anatomize-suppressed": _case(
        {"l": 4, "l_kind": "frequency"}, {"method": "anatomize", "suppression": 0.3}, "ill"
    ),
    "separate": _case({"k": 4, "l": 2}, {"method": "separate"}, "ill", "income", "drugs"),
}
