"""Random policies of the whole grammar, as dicts, for given columns."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

from tests.fuzz.columns import Column
from tests.fuzz.values import text

METHODS = (
    "generalize",
    "generalize",
    "anatomize",
    "anatomize",
    "slice",
    "slice",
    "codip",
    "guardian",
    "guardian",
    "alpha-beta-k",
    "grade",
    "multi-sa",
    "separate",
)
Keys = dict[str, Any]


def sections(rng: Random, columns: Sequence[Column], rows: Sequence[Keys], *, has_persons: bool) -> Keys:
    """A policy for the columns; most of them can be kept, some contradict themselves."""
    named = {role: [column.name for column in columns if column.role == role] for role in _ROLES}
    numeric = [c.name for c in columns if c.role == "sensitive" and c.what in ("whole", "decimal")]
    described = {column.name: _attribute(rng, column, rows, has_persons=has_persons) for column in columns}
    data: Keys = {"missing": rng.choices(("category", "drop", "error"), (8, 2, 0.4))[0]}
    if has_persons:
        data["person"] = rng.choice(("id", ["id"]))
    elif rng.random() < 0.1:
        data["person"] = "row"
    told: Keys = {
        "data": data,
        "attributes": described,
        "guarantee": {},
        "publish": _publish(rng, columns, named),
        "accept": _accepted(columns, named),
    }
    publish = told["publish"]
    if publish["method"] != "grade" or "then" in publish or rng.random() < 0.05:
        told["guarantee"] = _guarantee(rng, columns, rows, numeric)
    if publish["method"] == "alpha-beta-k" and rng.random() < 0.95:
        for key in ("alpha", "alpha_values", "beta"):
            told["guarantee"].pop(key, None)
    if rng.random() < 0.08 and len(named["quasi"]) > 1:
        told["keys"] = [
            {
                "attributes": rng.sample(named["quasi"], rng.randrange(1, len(named["quasi"]))),
                "k": rng.randrange(1, 6),
            }
        ]
    published = named["quasi"] + named["sensitive"] + named["neutral"]
    may_rule = told["publish"]["method"] in ("guardian", "multi-sa", "separate") or rng.random() < 0.02
    if may_rule and len(published) > 1 and rng.random() < 0.5:
        told["rules"] = [_rule(rng, published) for _ in range(rng.choice((1, 1, 2, 3)))]
    if len(published) > 1 and rng.random() < (0.12 if may_rule else 0.02):
        *left, right = rng.sample(published, rng.choice((2, 2, min(3, len(published)))))
        told["dependencies"] = [{"from": left, "to": right}]
    return told


_ROLES = ("identifier", "quasi", "sensitive", "neutral", "choice", "drop")


def _accepted(columns: Sequence[Column], named: Keys) -> list[str]:
    """Every doubt that lint could have."""
    sensitive, neutral = named["sensitive"], named["neutral"]
    both = [
        f"{kind}: {one} + {other}"
        for kind in ("near-copy", "settled")
        for one in neutral
        for other in sensitive
    ]
    texts = [f"free-text: {name}" for name in neutral + sensitive]
    none = [f"{kind}: {key}" for kind in ("no-quasi", "no-sensitive") for key in ALL_KEYS]
    return [*(f"neutral-unique: {name}" for name in neutral), *both, *texts, *none]


def _rule(rng: Random, published: Sequence[str]) -> Keys:
    protect, *others = rng.sample(published, len(published))
    rule = {"given": others[: rng.randrange(1, len(others) + 1)], "protect": protect}
    return rule | ({"l": rng.choice((1, 2, 2, 3))} if rng.random() < 0.6 else {})


def _attribute(rng: Random, column: Column, rows: Sequence[Keys], *, has_persons: bool) -> Keys:
    keys: Keys = {"role": column.role}
    if column.role in ("identifier", "choice", "drop"):
        return keys
    if column.what == "several":
        keys["multivalued"] = "|"
    elif column.what in ("whole", "decimal") and rng.random() < 0.4:
        keys["kind"] = rng.choice(("numeric", "numeric", "ordinal", "categorical"))
    elif rng.random() < 0.25:
        keys["kind"] = rng.choice(("ordinal", "categorical"))
    values = [text(value) for value in _held(column, rows).values]
    if keys.get("kind") == "ordinal" and rng.random() < 0.5:
        keys["order"] = rng.sample(values, len(values))
    if rng.random() < 0.45 and column.role != "neutral":
        keys["hierarchy"] = _hierarchy(rng, column, keys.get("kind"))
    if column.role == "sensitive" and rng.random() < 0.15:
        keys["insensitive"] = rng.sample([*values, ""], 1)
    if has_persons and column.what != "several" and rng.random() < 0.25:
        keys["constant"] = True
    if column.role == "sensitive" and rng.random() < 0.15:
        own = _about_values(
            rng, [column.name], is_numeric=column.what in ("whole", "decimal"), columns=[_held(column, rows)]
        )
        keys["guarantee"] = own
    return keys


def _hierarchy(rng: Random, column: Column, kind: str | None) -> Keys:
    if kind in (None, "numeric") and column.what in ("whole", "decimal") and rng.random() < 0.9:
        width = rng.choice((1, 5, 10, 2.5))
        return rng.choice(
            ({"widths": [width, width * 4]}, {"widths": [width]}, {"known": "ages"}, {"mask": "right"})
        )
    if column.what == "date" and rng.random() < 0.8:
        return {"dates": rng.choice((["month", "year"], ["quarter"], ["day", "decade"]))}
    if column.what != "several" and rng.random() < 0.3:
        return {"mask": rng.choice(("right", "left"))}
    return {"tree": _tree(rng, [text(value) for value in column.values])}


def _tree(rng: Random, values: list[str]) -> Keys:
    """Groups of values, or groups of groups; now and then a label reads like a value."""
    n_groups = rng.randrange(1, len(values) + 1)
    labels = [f"group {number}" for number in range(n_groups)]
    if rng.random() < 0.07:
        labels[0] = rng.choice((values[-1], "*", "[1, 2]", "{a, b}", values[0]))
    groups = {label: values[number::n_groups] for number, label in enumerate(labels)}
    if rng.random() < 0.3:
        half = dict(list(groups.items())[: (n_groups + 1) // 2])
        rest = {label: group for label, group in groups.items() if label not in half}
        return {"upper": half} | ({"lower": rest} if rest else {})
    return groups


ALL_KEYS = (
    "k",
    "prosecutor_risk",
    "marketer_risk",
    "keys",
    "l",
    "t",
    "alpha",
    "beta",
    "delta",
    "e",
    "epsilon",
    "epsilon_link",
    "m",
    "n",
    "eliminations",
    "known_items",
    "conditional",
    "joint",
)


def _guarantee(rng: Random, columns: Sequence[Column], rows: Sequence[Keys], numeric: list[str]) -> Keys:
    keys: Keys = {}
    sensitive = [column.name for column in columns if column.role == "sensitive"]
    if rng.random() < 0.6:
        keys["k"] = min(rng.choice((1, 2, 2, 3, 3, 4, 6)), len(rows) + (rng.random() < 0.05)) or 1
    if rng.random() < 0.06:
        keys["prosecutor_risk"] = rng.choice((0.3, 0.5, 1e-3, 1))
    if rng.random() < 0.06:
        keys["marketer_risk"] = rng.choice((0.2, 0.4, 1))
    if sensitive and (rng.random() < 0.8 or not keys):
        is_numeric = len(numeric) == len(sensitive) or rng.random() < 0.02
        protected = [_held(column, rows) for column in columns if column.name in sensitive]
        keys |= _about_values(rng, sensitive, is_numeric=is_numeric, columns=protected)
    if len(sensitive) > 1:
        if rng.random() < 0.15:
            keys["conditional"] = True
        if rng.random() < 0.12:
            keys["joint"] = [rng.sample(sensitive, 2)]
        if rng.random() < 0.15:
            keys["eliminations"] = rng.choice((1, 1, 2, 3))
            if rng.random() < 0.4:
                keys |= {"pairs": "consecutive", "sensitive_order": rng.sample(sensitive, len(sensitive))}
    has_several = any(column.what == "several" for column in columns)
    if "k" in keys and rng.random() < (0.25 if has_several else 0.005):
        keys["known_items"] = rng.choice((1, 2, 3))
    return keys


def _held(column: Column, rows: Sequence[Keys]) -> Column:
    """The column with the values that occur."""
    cells = [text(row[column.name]) for row in rows]
    held = [value for cell in cells for value in (cell.split("|") if column.what == "several" else [cell])]
    return replace(column, values=tuple(dict.fromkeys(filter(None, held))) or ("none",))


def _about_values(rng: Random, names: Sequence[str], *, is_numeric: bool, columns: Sequence[Column]) -> Keys:
    keys: Keys = {}
    values = [text(value) for column in columns for value in column.values]
    for kind in rng.sample(
        ("l", "t", "alpha", "beta", "delta", "link", "e", "m"), rng.choice((1, 1, 1, 2, 3))
    ):
        match kind:
            case "l":
                keys["l"] = rng.choice((1, 2, 2, 2, 2, 3, 4))
                keys["l_kind"] = rng.choice(("distinct", "frequency", "entropy", "recursive"))
                if keys["l_kind"] == "recursive":
                    keys["c"] = rng.choice((0.5, 1, 1.5, 3, 3, 3, 3, 1e-9))
                if rng.random() < 0.12:
                    keys["l_level"] = rng.choice((0, 1, 1, 2))
                elif rng.random() < 0.12:
                    keys["l_of"] = {rng.choice(values): rng.choice((2, 3))}
            case "t":
                keys["t"] = rng.choice((0, 0.1, 0.2, 0.35, 0.5, 0.8, 1))
                if rng.random() < 0.6:
                    keys["ground"] = rng.choice(("equal", "equal", "ordered", "hierarchical"))
                if rng.random() < 0.2:
                    keys["n"] = rng.choice((1, 2, 5, 8))
            case "alpha":
                keys["alpha"] = rng.choice((0.34, 0.5, 0.5, 0.75, 0.75, 0.9, 1, 1e-9))
                if rng.random() < 0.4:
                    keys["alpha_values"] = [rng.choice(values)]
            case "beta":
                keys["beta"] = rng.choice((0.3, 1, 2, 5, 5, 5, 1e-9))
            case "delta":
                keys["delta"] = rng.choice((0.3, 1, 2, 5, 5, 5, 1e-9))
            case "link":
                keys["epsilon_link"] = rng.choice((0.34, 0.5, 0.5, 0.8, 0.8, 0.9, 1, 1e-9))
            case "e" if is_numeric:
                keys["e"] = rng.choice((0.5, 3, 10, 1000))
            case "m" if is_numeric:
                keys |= {"epsilon": rng.choice((0, 0.5, 3)), "m": rng.choice((1, 2, 3))}
    return keys


def _publish(rng: Random, columns: Sequence[Column], named: Keys) -> Keys:
    method = rng.choice(METHODS)
    keys: Keys = {"method": method}
    if not named["sensitive"] and method in ("anatomize", "grade", "alpha-beta-k") and rng.random() < 0.95:
        method = keys["method"] = "generalize"
    if rng.random() < 0.5:
        keys["suppression"] = rng.choice((0.05, 0.1, 0.3, 0.5, 0.5, 1))
    if rng.random() < 0.1:
        keys["leaving"] = rng.choice((0, 0.1, 0.5))
    return keys | _options(rng, method, columns, named)


def _options(rng: Random, method: str, columns: Sequence[Column], named: Keys) -> Keys:
    published = named["quasi"] + named["sensitive"] + named["neutral"]

    def some(**choices: Sequence[Any]) -> Keys:
        return {key: rng.choice(list(values)) for key, values in choices.items() if rng.random() < 0.4}

    match method:
        case "generalize":
            return some(
                recoding=("full-domain", "mondrian", "mondrian"),
                objective=("loss", "discernibility", "class-size", "height"),
                labels=("auto", "ranges", "sets", "hierarchy"),
                cuts=("strict", "relaxed"),
                check_limit=(1, 10, 1000),
            )
        case "anatomize":
            pairs = list(combinations(named["sensitive"], 2))
            return some(link=[[list(pair)] for pair in pairs]) if pairs else {}
        case "slice":
            return some(
                columns=("auto", 1, 2, 3, _parted(rng, published)),
                discretize=("equal-width", "cluster"),
                bins=(2, 5),
                column_k=(1, 2, 3),
                joint=(False, True),
                partition=("mondrian", "random", "membership"),
                bucket=(1, 2, 3, 5, 100),
                **({"overlap": [[name] for name in published]} if rng.random() < 0.15 else {}),
            )
        case "codip":
            return some(
                alpha=(0, 0.3, 1),
                beta=(0, 0.3, 1),
                discernibility=(1, 50, 5000),
                anonymizer=("full-domain", "mondrian"),
                search=("greedy", "patient", "optimal"),
                **({"plan": [_parted(rng, named["sensitive"])]} if rng.random() < 0.2 else {}),
            )
        case "guardian":
            return some(decompose=("uad", "gd"), anonymizer=("anatomize", "slice", "generalize"))
        case "alpha-beta-k":
            return some(
                beta=(2, 3),
                eliminations=(1, 2),
                pairs=("all", "consecutive"),
                repair=("best", "rule", "merge"),
                climb=("parent", "cover"),
                labels=("auto", "ranges", "sets", "hierarchy"),
                cuts=("strict", "relaxed"),
            )
        case "grade":
            then = rng.choice(("generalize", "anatomize", "slice", "separate", "codip"))
            inner = {"method": then, **_options(rng, then, columns, named)}
            return some(
                categories=(1, 2, 5),
                spacing=("equal-width", "quantile"),
                default_choice=(1, 2, 3),
                then=(then, inner),
            )
    return {}


def _parted(rng: Random, names: list[str]) -> list[list[str]]:
    """The names in one to three parts."""
    n_parts, mixed = rng.choice((1, 2, 3)), rng.sample(names, len(names))
    return [part for place in range(n_parts) if (part := mixed[place::n_parts])]


def angelized(rng: Random, policy: Keys) -> Keys:
    """The policy, and of some that anatomize one with angelize in its place; drawn apart, so that all other cases stay."""
    publish = policy["publish"]
    if publish["method"] != "anatomize" or "known_items" in policy["guarantee"] or rng.random() < 0.5:
        return policy
    choices = {
        "group_k": (1, 2, 3, 5),
        "batches": ("own", "groups"),
        "labels": ("auto", "ranges", "sets", "hierarchy"),
    }
    more = {key: rng.choice(values) for key, values in choices.items() if rng.random() < 0.5}
    return policy | {"publish": publish | {"method": "angelize", **more}}
