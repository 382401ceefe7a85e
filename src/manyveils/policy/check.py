"""Find everything that is wrong with a policy document, at once."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isfinite
from typing import Any, get_args

from pydantic import ValidationError

from manyveils.errors import Change, Problem
from manyveils.policy import alpha_beta_k
from manyveils.policy.accepting import accept_problems
from manyveils.policy.persons import NEVER_PUBLISHED, named_persons, person_problems
from manyveils.policy.population import RISKS, key_problems, population_problems
from manyveils.policy.sections import COMPANIONS, LISTS, SECTIONS, AttributeSection, DateUnit, GuaranteeKeys
from manyveils.policy.shape import Keys, list_problems, section_problems, suggest

NOT_OF_RULES = (
    "k",
    *RISKS,
    "known_items",
    "eliminations",
    "pairs",
    "sensitive_order",
    "conditional",
    "everybody",
    "absent",
    "joint",
    "n",
)
TOP_KEYS = (
    "accept",
    "data",
    "attributes",
    "population",
    "guarantee",
    "keys",
    "rules",
    "dependencies",
    "publish",
)
RESERVED = "bucket"
WHOLE_TABLE_KEYS = ("k", *RISKS, "joint", *alpha_beta_k.CROSS)


def check_document(document: Keys) -> Iterator[Problem]:
    """List the problems of a policy: its shape first, then what its sections say of each other."""
    for key in document:
        if key not in TOP_KEYS:
            yield Problem(key, "unknown section.", suggest(key, TOP_KEYS))
    for name, model in SECTIONS.items():
        yield from section_problems(model, document.get(name, {}), name)
    for name, model in LISTS.items():
        yield from list_problems(model, document.get(name, []), name)
    yield from accept_problems(document)
    attributes = document.get("attributes", {})
    if not isinstance(attributes, Mapping) or not attributes:
        remedy = "Add a table [attributes.NAME] with a role per column."
        yield Problem("attributes", "no attribute is described.", remedy)
        return
    for name, attribute in attributes.items():
        yield from section_problems(AttributeSection, attribute, f"attributes.{name}")
    yield from _meaning_problems(document, attributes)


def _meaning_problems(document: Keys, attributes: Keys) -> Iterator[Problem]:
    section = document.get("guarantee", {})
    general = section if isinstance(section, Mapping) else {}
    yield from _guarantee_problems(general, general, "guarantee")
    bodies = {name: body for name, body in attributes.items() if isinstance(body, Mapping)}
    protected = _protected_by_rules(document)
    for name, body in bodies.items():
        yield from _attribute_problems(name, body, general)
        if body.get("insensitive") and body.get("role") != "sensitive" and name not in protected:
            what = "belongs to attributes that are sensitive or that a rule protects."
            remedy = 'Set role = "sensitive" or drop it.'
            yield Problem(f"attributes.{name}.insensitive", what, remedy)
    for where, names in _named_attributes(document, general):
        for name in (name for name in names if name not in attributes):
            yield Problem(where, f"attribute {name!r} is not described.", suggest(name, list(attributes)))
    yield from _role_problems(document, bodies, general)
    yield from person_problems(document, bodies)
    yield from key_problems(_tables(document.get("keys")), bodies)
    yield from population_problems(document.get("population"), bodies, general)
    if len(bodies) == len(attributes) and all(
        body.get("role") in NEVER_PUBLISHED for body in bodies.values()
    ):
        remedy = "Give some attribute the role quasi, sensitive or neutral."
        yield Problem("attributes", "nothing is left to publish.", remedy)
    yield from _elimination_problems(document, bodies, general)
    if general.get("known_items") and not any(body.get("multivalued") for body in bodies.values()):
        what = "is about attributes with several values in a cell, and there is none."
        yield Problem("guarantee.known_items", what, "Set multivalued of an attribute, or drop it.")


def _protected_by_rules(document: Keys) -> set[str]:
    """What rules protect, and what tells of it by a dependency, which is then protected like it."""
    names = set()
    for section, key in (("rules", "protect"), ("dependencies", "from")) if document.get("rules") else ():
        entries = document.get(section)
        for entry in entries if isinstance(entries, list) else ():
            named = entry.get(key) if isinstance(entry, Mapping) else None
            names |= {
                name for name in (named if isinstance(named, list) else [named]) if isinstance(name, str)
            }
    return names


def _attribute_problems(name: str, attribute: Keys, general: Keys) -> Iterator[Problem]:
    where = f"attributes.{name}"
    if name == RESERVED:
        what = f"the name {RESERVED!r} is taken by the releases themselves."
        yield Problem(where, what, "Rename the column.")
    if isinstance(attribute.get("hierarchy"), Mapping):
        yield from _hierarchy_problems(attribute["hierarchy"], f"{where}.hierarchy")
        if attribute["hierarchy"].get("known") and attribute.get("multivalued"):
            what = "is for attributes with one value in a cell."
            yield Problem(f"{where}.hierarchy.known", what, "Use a file or a tree.")
    for key in ("multivalued", "guarantee"):
        if attribute.get(key) and attribute.get("role") != "sensitive":
            what = "belongs to sensitive attributes only."
            yield Problem(f"{where}.{key}", what, 'Set role = "sensitive" or drop it.')
    if attribute.get("level") is not None and not attribute.get("multivalued"):
        what = "goes with multivalued, which is not set."
        yield Problem(f"{where}.level", what, "Drop it: methods choose the levels of other attributes.")
    if attribute.get("order") is not None and attribute.get("kind") != "ordinal":
        yield Problem(f"{where}.order", 'goes with kind = "ordinal".', "Set the kind or drop the order.")
    own = attribute.get("guarantee")
    if isinstance(own, Mapping) and own.get("known_items") and not attribute.get("multivalued"):
        what = "is about attributes with several values in a cell."
        yield Problem(f"{where}.guarantee.known_items", what, "Set multivalued, or drop it.")
    if isinstance(own, Mapping):
        for key in (key for key in WHOLE_TABLE_KEYS if key in own):
            what = "holds for the whole table."
            yield Problem(f"{where}.guarantee.{key}", what, "Move it to [guarantee].")
        yield from _terms_problems(attribute, own, where)
        merged = {**general, **own}
        if merged != general:
            yield from _guarantee_problems(merged, own, f"{where}.guarantee")


def _terms_problems(attribute: Keys, own: Keys, where: str) -> Iterator[Problem]:
    """What l cannot count of an attribute."""
    if attribute.get("multivalued") and own.get("l_level"):
        what = "a multi-valued attribute is protected value by value, and l counts no labels there."
        yield Problem(f"{where}.guarantee.l_level", what, "Drop it, or list coarser values in the cells.")
    l_of = own.get("l_of")
    if isinstance(l_of, Mapping) and not own.get("l_level"):
        n_spared = len({*l_of} & {*_texts(attribute.get("insensitive"))})
        if n_spared:
            what = f"{n_spared} of {len(l_of)} values need no protection."
            yield Problem(f"{where}.guarantee.l_of", what, "Drop them here, or from insensitive.")


def _hierarchy_problems(hierarchy: Keys, where: str) -> Iterator[Problem]:
    if len(hierarchy) != 1:
        yield Problem(where, "needs exactly one of file, widths, mask, tree, dates, known.")
    widths, dates = hierarchy.get("widths"), hierarchy.get("dates")
    if isinstance(widths, list) and not _is_nested(widths):
        what = "each width must be a larger multiple of the one before."
        yield Problem(f"{where}.widths", what, "For example [5, 10, 20].")
    if isinstance(dates, list) and not _is_coarsening(dates):
        what = "each part must be coarser than the one before."
        yield Problem(f"{where}.dates", what, 'For example ["month", "quarter", "year"].')


def _is_nested(widths: list[Any]) -> bool:
    numbers = [width for width in widths if isinstance(width, int | float) and not isinstance(width, bool)]
    return all(width > 0 and isfinite(width) for width in numbers) and all(
        big > small and abs(big / small - round(big / small)) < 1e-9 for small, big in pairwise(numbers)
    )


def _is_coarsening(units: list[Any]) -> bool:
    """Whether known parts of the calendar stand in their order; unknown ones are told elsewhere."""
    known = get_args(DateUnit)
    ranks = [known.index(unit) for unit in units if unit in known]
    return all(coarse > fine for fine, coarse in pairwise(ranks))


def _changes(where: str, **values: int) -> tuple[Change, ...]:
    """Keys of a section of promises; of a rule's there are none, because it has no name."""
    name = where.removeprefix("attributes.").removesuffix(".guarantee") if where != "guarantee" else ""
    is_named = where == "guarantee" or where.startswith("attributes.")
    return tuple(Change("guarantee", key, value, name) for key, value in values.items()) if is_named else ()


def _guarantee_problems(keys: Keys, own: Keys, where: str) -> Iterator[Problem]:
    """Contradictions in what is said in effect; `own` is the part of it that stands in this section."""
    guarantee = _readable_part(keys)
    if guarantee.k and guarantee.l and guarantee.l > guarantee.k:
        yield Problem(
            f"{where}.l",
            f"l = {guarantee.l} is above k = {guarantee.k}.",
            f"A group of k rows has at most k values: raise k to {guarantee.l} or lower l.",
            _changes(where, k=guarantee.l, l=guarantee.k),
        )
    for number, l in enumerate(_ls(guarantee), start=1):
        if guarantee.k and l > guarantee.k:
            what = f"value {number} asks for l = {l}, which is above k = {guarantee.k}."
            yield Problem(f"{where}.l_of", what, f"Raise k to {l} or lower it.")
    if guarantee.l_kind == "recursive" and "c" not in keys:
        yield Problem(f"{where}.c", "is missing: recursive diversity needs it.", "Set c, for example c = 3.")
    if "c" in own and keys.get("l_kind", "distinct") in ("distinct", "frequency", "entropy"):
        yield Problem(f"{where}.c", 'goes with l_kind = "recursive".', "Set the kind or drop c.")
    if (guarantee.epsilon is None) != (guarantee.m is None):
        yield Problem(where, "epsilon and m go together.", "Give both or neither.")
    for key, needed in COMPANIONS:
        if key in own and getattr(guarantee, key) is not None and needed not in keys:
            yield Problem(f"{where}.{key}", f"goes with {needed}, which is not set.")


def _ls(guarantee: GuaranteeKeys) -> list[int]:
    return list((guarantee.l_of or {}).values())


def _readable_part(section: Keys) -> GuaranteeKeys:
    """The keys that are fine by themselves, so that one bad key does not hide another problem."""
    keys = dict(section)
    while True:
        try:
            return GuaranteeKeys.model_validate(keys)
        except ValidationError as error:
            for entry in error.errors(include_input=False, include_url=False):
                keys.pop(str(entry["loc"][0]), None)


def _named_attributes(document: Keys, general: Keys) -> Iterator[tuple[str, list[str]]]:
    for number, rule in enumerate(_tables(document.get("rules")), start=1):
        yield f"rules[{number}]", [*_texts(rule.get("given")), *_protected_of(rule)]
    for number, dependency in enumerate(_tables(document.get("dependencies")), start=1):
        yield f"dependencies[{number}]", [*_texts(dependency.get("from")), *_texts([dependency.get("to")])]
    for number, key in enumerate(_tables(document.get("keys")), start=1):
        yield f"keys[{number}]", _texts(key.get("attributes"))
    for joint in _joints(general):
        yield "guarantee.joint", joint
    data = document.get("data")
    yield "data.person", list(named_persons(data.get("person")) or ()) if isinstance(data, Mapping) else []


def _joints(general: Keys) -> list[list[str]]:
    joints = general.get("joint")
    return [_texts(joint) for joint in joints if isinstance(joint, list)] if isinstance(joints, list) else []


def _tables(value: object) -> list[Keys]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _texts(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _role_problems(document: Keys, bodies: Keys, general: Keys) -> Iterator[Problem]:
    roles = {name: str(body.get("role")) for name, body in bodies.items()}
    for key in ("l_level", "l_of"):
        if general.get(key) and "sensitive" not in roles.values():
            what = "speaks of sensitive attributes, and there are none; rules count values, all alike."
            yield Problem(f"guarantee.{key}", what, "Drop it.")
    n_choices = [*roles.values()].count("choice")
    if n_choices > 1:
        yield Problem("attributes", f"{n_choices} attributes have the role choice.", "One at most.")
    for joint in _joints(general):
        for name in joint:
            if name in roles and roles[name] != "sensitive":
                what = f"{name!r} is not sensitive."
                yield Problem("guarantee.joint", what, 'Set its role to "sensitive".')
        if len(set(joint)) < 2:
            yield Problem("guarantee.joint", "a combination needs two attributes or more.")
    for number, rule in enumerate(_tables(document.get("rules")), start=1):
        if not {*_protected_of(rule)}.isdisjoint(_texts(rule.get("given"))):
            what = "protects an attribute that it gives."
            yield Problem(f"rules[{number}]", what, "Take it out of `given`.")
        yield from _rule_problems(rule, f"rules[{number}]")
        for name in [*_texts(rule.get("given")), *_protected_of(rule)]:
            if roles.get(name) in NEVER_PUBLISHED:
                yield Problem(f"rules[{number}]", f"{name!r} is never published.", "Drop it from the rule.")


def _protected_of(rule: Keys) -> list[str]:
    """What a rule protects: an attribute, or a combination of several."""
    protect = rule.get("protect")
    return _texts(protect if isinstance(protect, list) else [protect])


def _rule_problems(rule: Keys, where: str) -> Iterator[Problem]:
    """What is wrong with the guarantee of a rule: it speaks of one attribute against those who know what is given."""
    if rule.get("protect") == []:
        yield Problem(f"{where}.protect", "names no attribute.", "Name one, or several.")
    own = rule.get("guarantee")
    keys = own if isinstance(own, Mapping) else {}
    yield from _guarantee_problems(keys, keys, f"{where}.guarantee")
    for key in (key for key in NOT_OF_RULES if keys.get(key)):
        yield Problem(f"{where}.guarantee.{key}", "is no promise of a rule.", "Set it in [guarantee].")
    if keys and len(_protected_of(rule)) > 1:
        what = "speaks of one attribute, and the rule protects a combination."
        yield Problem(
            f"{where}.guarantee", what, "Drop it, or protect one attribute; l holds for combinations."
        )


def _elimination_problems(document: Keys, bodies: Keys, general: Keys) -> Iterator[Problem]:
    """What is wrong with promises that look at several sensitive attributes at once."""
    sensitive = [name for name, body in bodies.items() if body.get("role") == "sensitive"]
    yield from alpha_beta_k.order_problems(general, sensitive, "guarantee")
    owns = {name: own for name in sensitive if isinstance(own := bodies[name].get("guarantee"), Mapping)}
    asking = {"guarantee": general, **{f"attributes.{name}.guarantee": own for name, own in owns.items()}}
    askers = [where for where, keys in asking.items() if keys.get("eliminations") is not None]
    for key in alpha_beta_k.CROSS:
        if general.get(key) is not None and not askers:
            yield Problem(f"guarantee.{key}", "goes with eliminations, which is not set.")
    for where in askers:
        if len(sensitive) < 2:
            what = f"rules out values of other sensitive attributes, and there are {len(sensitive)} in all."
            yield Problem(f"{where}.eliminations", what, "Ask for l instead.")
    publish = document.get("publish")
    keys = alpha_beta_k.keys_of(publish) if isinstance(publish, Mapping) else None
    if keys is not None:
        yield from section_problems(alpha_beta_k.AlphaBetaK, keys, "publish")
        yield from alpha_beta_k.keys_problems(keys, sensitive, general)
        several = [name for name in sensitive if bodies[name].get("multivalued") is not None]
        for name in several if keys.get("alpha_reading") == "paper" else ():
            what = "may have several values in a cell, of which the paper's α does not speak."
            yield Problem(f"attributes.{name}.multivalued", what, 'Drop alpha_reading = "paper".')
