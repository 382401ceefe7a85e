"""A profile written as a policy: every setting has its reason in a comment above it."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from manyveils.policy.rules import Dependency, PrivacyRule, breaking, tellers
from manyveils.profiling.facts import Facts
from manyveils.profiling.following import Following
from manyveils.profiling.guesses import percent
from manyveils.profiling.levels import Diversity, weakest
from manyveils.profiling.roles import SELDOM_ALONE, name_of

if TYPE_CHECKING:
    from manyveils.profiling.profile import Profile

MOST_COMMENTED = 20


def policy_text(profile: "Profile", source: str | None) -> str:
    """The whole policy file."""
    parts = [
        _head(profile),
        _data(profile, source),
        *(_attribute(profile, name) for name in profile.facts),
        _guarantee(profile),
        *_dependencies(profile),
        _publish(profile),
    ]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _head(profile: "Profile") -> list[str]:
    return [
        f"# A policy to start from, for {profile.n_rows:,} rows and {len(profile.facts)} columns.",
        "# Every guess has its reason above it. Read them: only you know what outsiders know and what hurts.",
        *(f"# Decide: {warning}" for warning in profile.warnings),
        *_standing_out(profile),
    ]


def _standing_out(profile: "Profile") -> Iterator[str]:
    measured = profile.uniqueness
    if not measured.growing:
        return
    rows = f"in a sample of {measured.n_rows:,} rows" if measured.is_sample else "in all rows"
    yield f"# How many rows stand alone for someone who knows these quasi-identifiers ({rows}):"
    for step in measured.growing:
        yield f"#   {'' if len(step.names) == 1 else 'and '}{name_of(step.names[-1])}: {percent(step.alone)}"
    for title, best in (("pair", measured.pairs[:1]), ("three", measured.threes[:1])):
        for each in best:
            yield f"# The most telling {title}: {', '.join(map(name_of, each.names))}: {percent(each.alone)}"


def _data(profile: "Profile", source: str | None) -> list[str]:
    lines = ["[data]"]
    if source is not None:
        lines += ["# The data, seen from this file.", f"source = {quoted(source)}"]
    if profile.delimiter is not None:
        lines += ["# What stands between fields.", f"delimiter = {quoted(profile.delimiter)}"]
    lacking = sum(each.missing > 0 for each in profile.facts.values())
    said = f"Cells are missing in {lacking} of the columns" if lacking else "No cell is missing"
    lines += [f"# {said}; a missing cell counts as a value of its own.", 'missing = "category"']
    if profile.markers:
        counts = ", ".join(f"{quoted(marker)} {count:,} times" for marker, count in profile.markers.items())
        listed = ", ".join(quoted(marker) for marker in profile.markers)
        lines += [f"# Texts that usually mean a missing cell: {counts}.", f"missing_markers = [{listed}]"]
    return lines


def _attribute(profile: "Profile", name: str) -> list[str]:
    decided, suits = profile.decided[name], profile.coarsenings.get(name)
    lines = [f"[attributes.{key(name)}]", f"# {_summary(profile.facts[name])}"]
    lines += [f"# {decided.reason}{_adds(profile, name)}", f'role = "{decided.role}"']
    if suits is None:
        return lines
    if suits.kind:
        lines += [f"# {suits.kind_reason}.", f'kind = "{suits.kind}"']
    if decided.role == "quasi":
        lines += [f"# {suits.reason}."] + ([f"hierarchy = {suits.hierarchy}"] if suits.hierarchy else [])
    return [*lines, *_own_guarantee(profile, name)]


def _adds(profile: "Profile", name: str) -> str:
    """What knowing the column adds to knowing all other quasi-identifiers, or that a sensitive one tells rows apart."""
    alone = profile.facts[name].alone
    if profile.decided[name].role == "sensitive" and alone > SELDOM_ALONE:
        return f" It is not made coarser: whoever knows the value of one of the {percent(alone)} of rows that stand alone by it finds the row."
    without = profile.uniqueness.without.get(name)
    if without is None:
        return ""
    together = percent(profile.uniqueness.together)
    return f" By the others {percent(without)} of the rows stand alone, with it {together}."


def _summary(facts: Facts) -> str:
    missing = (
        f"{facts.missing:,} missing ({percent(facts.missing / facts.n_rows)})"
        if facts.missing
        else "none missing"
    )
    return f"{facts.type.capitalize()}, {facts.distinct:,} different, {missing}.{_nearly_numbers(facts)}"


def _nearly_numbers(facts: Facts) -> str:
    if facts.form.has_decimal_comma:
        return " Numbers with a decimal comma are texts here: with a point they would be numeric."
    if not facts.form.words_among_numbers:
        return ""
    return f" Numbers but for {facts.form.words_among_numbers} texts: in missing_markers they would make it numeric."


def _own_guarantee(profile: "Profile", name: str) -> Iterator[str]:
    levels = profile.diversities
    if name not in levels:
        return
    own, seen = levels[name], profile.facts[name].form.separator
    if seen and not own.separator:
        yield f"# Cells seem to hold several values, parted by {seen}, but each cell counts as one value here:"
        yield f"# multivalued = {quoted(seen)} would protect each, and one of them is too common, or they are too many."
    if own.separator:
        yield f"# Cells hold several values, parted by {own.separator}."
        yield f"multivalued = {quoted(own.separator)}"
    if own.strength > weakest(levels)[1].strength:
        yield ""
        yield f"[attributes.{key(name)}.guarantee]"
        yield from _diversity(own)


def _diversity(level: Diversity, whose: str = "") -> Iterator[str]:
    within = (
        f"no value may fill more than one in {level.l} rows of a group"
        if level.kind == "frequency"
        else f"every group has at least {level.l} values"
    )
    yield f"# {whose}{level.reason}: {within}."
    yield f"l = {level.l}"
    yield '# "frequency" limits the share of the commonest value in a group, "distinct" counts values.'
    yield f'l_kind = "{level.kind}"'


def _guarantee(profile: "Profile") -> list[str]:
    k, reason = profile.k
    lines = ["[guarantee]", f"# {reason}.", f"k = {k}"]
    levels = profile.diversities
    if not levels:
        return lines
    name, least = weakest(levels)
    if any(each.strength > least.strength for each in levels.values()):
        lines.append("# For every sensitive attribute; those that allow more have a guarantee of their own.")
    return [*lines, *_diversity(least, f"{name_of(name)}: ")]


def _dependencies(profile: "Profile") -> Iterator[list[str]]:
    """What follows from what: as it stands if publishing accepts it, otherwise in a comment."""
    known = [
        each
        for each in profile.following
        if each.is_solid and _is_published(profile, (*each.left, each.right))
    ]
    declared: list[Dependency] = []
    commented: list[Following] = []
    for each in known:
        candidate = [*declared, Dependency(frozenset(each.left), each.right)]
        if _accepted(profile, candidate):
            declared = candidate
            yield _declared(each)
        else:
            commented.append(each)
    if commented:
        yield _undeclared(commented)


def _is_published(profile: "Profile", names: Sequence[str]) -> bool:
    return all(profile.decided[name].role != "identifier" for name in names)


def _accepted(profile: "Profile", dependencies: Sequence[Dependency]) -> bool:
    quasi = frozenset(profile.having("quasi"))
    asked = [PrivacyRule(quasi, name) for name in profile.having("sensitive")]
    return not any(breaking(rule, dependencies) or tellers(rule, dependencies) for rule in asked)


def _declared(each: Following) -> list[str]:
    return [
        "[[dependencies]]",
        f"# Holds in all rows; {each.repeated:,} left sides that stand in several rows show it.",
        f"from = [{', '.join(map(quoted, each.left))}]",
        f"to = {quoted(each.right)}",
    ]


def _undeclared(found: Sequence[Following]) -> list[str]:
    shown = [
        f"#   {', '.join(map(name_of, each.left))} -> {name_of(each.right)} ({each.repeated:,} left sides)"
        for each in found[:MOST_COMMENTED]
    ]
    rest = len(found) - len(shown)
    return [
        "# These hold in all rows too, and tie sensitive attributes to published ones.",
        '# The method below would refuse them as [[dependencies]]; if outsiders know one, use method = "guardian".',
        *shown,
        *([f"#   and {rest} more: manyveils plan --find-dependencies lists them"] if rest else []),
    ]


def _publish(profile: "Profile") -> list[str]:
    sensitive = len(profile.having("sensitive"))
    if sensitive < 2:
        why = "One sensitive attribute" if sensitive else "No sensitive attribute"
        return [
            "[publish]",
            f"# {why}: rows can stay whole, with coarser quasi-identifiers.",
            'method = "generalize"',
            "# Every group by itself loses least, and nobody is left out.",
            'recoding = "mondrian"',
        ]
    return [
        "[publish]",
        f"# {sensitive} sensitive attributes: the links between columns are broken, so that one tells little of another.",
        "# It writes ranges and sets; the hierarchies above serve methods such as generalize and codip.",
        'method = "slice"',
        "# What stands in fewer rows than this is generalized.",
        f"column_k = {profile.k[0]}",
    ]


def key(name: str) -> str:
    """A name as a key of a TOML file."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(text: str) -> str:
    """A text as a TOML string.

    >>> quoted('a "b"')
    '"a \\\\"b\\\\""'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
