"""A profile written as a policy: every setting has its reason in a comment above it."""

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from manyveils.plain import toml_key, toml_text
from manyveils.policy.accepting import SHARED, code_of
from manyveils.policy.rules import Dependency, PrivacyRule, breaking, tellers
from manyveils.profiling.facts import Facts
from manyveils.profiling.guesses import percent
from manyveils.profiling.hierarchies import Diversity, weakest
from manyveils.profiling.roles import SELDOM_ALONE, name_of
from manyveils.profiling.uniqueness import FoundDependency

if TYPE_CHECKING:
    from manyveils.profiling import Profile

MOST_COMMENTED = 20
Lines = Iterator[str]


def policy_text(profile: "Profile", source: str | None) -> str:
    """The whole policy file."""
    sections = [
        _head(profile),
        _data(profile, source),
        *(_attribute(profile, name, source) for name in profile.facts),
        _guarantee(profile),
        *_dependencies(profile),
        _publish(profile),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _head(profile: "Profile") -> Lines:
    yield f"# A policy to start from, for {profile.n_rows:,} rows and {len(profile.facts)} columns."
    yield "# Every guess has its reason above it. Read them: only you know what an adversary may know and what does harm."
    for warning in profile.warnings:
        yield f"# Decide: {warning}"
    yield from _uniqueness(profile)
    if profile.whose is not None and profile.whose.beside:
        yield "# Several persons have the same of these, and by their names they tell no persons apart. If one does, name it as"
        yield "# person and take it out of here."
        codes = (toml_text(code_of(SHARED, (name,))) for name in profile.whose.beside)
        yield f"accept = [{', '.join(codes)}]"


def _uniqueness(profile: "Profile") -> Lines:
    measured = profile.uniqueness
    if not measured.growing:
        return
    rows = f"in a sample of {measured.n_rows:,} rows" if measured.is_sample else "of all rows"
    yield f"# How many rows are unique to someone who knows these quasi-identifiers ({rows}):"
    for step in measured.growing:
        yield f"#   {'' if len(step.names) == 1 else 'and '}{name_of(step.names[-1])}: {percent(step.alone)}"
    for title, best in (("pair", measured.pairs[:1]), ("three", measured.threes[:1])):
        for telling in best:
            yield f"# The most telling {title}: {', '.join(map(name_of, telling.names))}: {percent(telling.alone)}"


FORM = {
    "delimiter": "What stands between fields.",
    "encoding": "How letters are written as bytes.",
    "decimal": "What stands before decimals.",
    "thousands": "What stands between thousands.",
    "dates": "The order of day, month and year.",
    "sheet": "The sheet of the file.",
    "table": "The table of the database.",
    "query": "What the database is asked.",
}


def _data(profile: "Profile", source: str | None) -> Lines:
    yield "[data]"
    if source is not None:
        yield "# The data, seen from this file."
        yield f"source = {toml_text(source)}"
    for key, value in profile.form.model_dump(exclude_unset=True).items():
        yield f"# {FORM[key]}"
        yield f"{key} = {toml_text(value)}"
    yield from _person(profile)
    lacking = sum(facts.missing > 0 for facts in profile.facts.values())
    missing = f"Cells are missing in {lacking} of the columns" if lacking else "No cell is missing"
    yield f"# {missing}; a missing cell counts as a value of its own."
    yield 'missing = "category"'
    if profile.markers:
        counts = ", ".join(
            f"{toml_text(marker)} {count:,} times" for marker, count in profile.markers.items()
        )
        yield f"# Texts that usually mean a missing cell: {counts}."
        yield f"missing_markers = [{', '.join(map(toml_text, profile.markers))}]"


def _person(profile: "Profile") -> Lines:
    whose = profile.whose
    if whose is None:
        return
    if whose.name is None:
        yield f"# {whose.reason}."
        yield "# So every row is taken as a person of its own; name what tells them apart if some have several rows."
        yield 'person = "row"'
        return
    yield f"# {whose.reason}."
    yield f"# So rows are taken for those of {whose.n_persons:,} persons, {whose.n_several:,} of them with several; promises count persons."
    yield '# If every row is a person of its own, write "row".'
    yield f"person = {toml_text(whose.name)}"


def _attribute(profile: "Profile", name: str, source: str | None) -> Lines:
    decided, suits = profile.decided[name], profile.coarsenings.get(name)
    yield f"[attributes.{toml_key(name)}]"
    yield f"# {_summary(profile.facts[name])}"
    yield f"# {decided.reason}{_adds(profile, name)}"
    if decided.role == "?":
        yield '# Decide: "identifier" or "drop" if it tells people or records apart, "quasi" if somebody may know it of'
        yield '# a person, "sensitive" if nobody may learn it.'
        yield "# If it tells persons apart and some have several rows, name it as person in [data] too."
    yield f'role = "{decided.role}"'
    if suits is None:
        return
    if suits.kind:
        yield f"# {suits.kind_reason}."
        yield f'kind = "{suits.kind}"'
    if decided.role in ("quasi", "sensitive") and name in profile.beside and source is not None:
        yield "# A hierarchy lies beside the data, and lists every value."
        file = (PurePosixPath(source).parent / profile.beside[name]).as_posix()
        yield f"hierarchy = {{ file = {toml_text(file)} }}"
    elif decided.role == "quasi":
        yield f"# {suits.reason}."
    if decided.role == "quasi" and suits.hierarchy and name not in profile.beside:
        yield f"hierarchy = {suits.hierarchy}"
    if profile.whose is not None and name in profile.whose.constants:
        yield f"# None of the {profile.whose.n_several:,} persons with several rows has two values."
        yield "constant = true"
    if decided.role == "sensitive":
        yield from _own_guarantee(profile, name)


def _adds(profile: "Profile", name: str) -> str:
    """What knowing the column adds to knowing all other quasi-identifiers, or that a sensitive one tells rows apart."""
    alone = profile.facts[name].alone
    if profile.decided[name].role == "sensitive" and alone > SELDOM_ALONE:
        return f" It is not made coarser: {percent(alone)} of the rows are unique by it, and whoever knows their value finds the row."
    without = profile.uniqueness.without.get(name)
    if without is None:
        return ""
    together = percent(profile.uniqueness.together)
    return f" By the others {percent(without)} of the rows are unique, with it {together}."


def _summary(facts: Facts) -> str:
    share = percent(facts.missing / facts.n_rows)
    missing = f"{facts.missing:,} missing ({share})" if facts.missing else "none missing"
    return f"{facts.type.capitalize()}, {facts.distinct:,} different, {missing}.{_nearly_numbers(facts)}"


def _nearly_numbers(facts: Facts) -> str:
    if facts.form.has_decimal_comma:
        return ' Numbers with a decimal comma are texts here: decimal = "," in [data] makes them numeric, kind = "categorical" keeps them.'
    if not facts.form.words_among_numbers:
        return ""
    return f" Numbers but for {facts.form.words_among_numbers} texts: in missing_markers they would make it numeric."


def _own_guarantee(profile: "Profile", name: str) -> Lines:
    own, separator = profile.diversities[name], profile.facts[name].form.separator
    if own.separator:
        yield f"# Cells hold several values, separated by {own.separator}."
        yield f"multivalued = {toml_text(own.separator)}"
    elif separator:
        yield f"# Cells seem to hold several values, separated by {separator}, but each cell counts as one value here:"
        yield f"# multivalued = {toml_text(separator)} would protect each value, but one is too common, or there are too many."
    if own.strength > weakest(profile.diversities)[1].strength:
        yield ""
        yield f"[attributes.{toml_key(name)}.guarantee]"
        yield from _diversity(own)


def _diversity(level: Diversity, whose: str = "") -> Lines:
    verb = "fill" if level.among == "rows" else "be that of"
    within = (
        f"no value may {verb} more than one in {level.l} {level.among} of a group"
        if level.kind == "frequency"
        else f"every group has at least {level.l} values"
    )
    yield f"# {whose}{level.reason}: {within}."
    yield f"l = {level.l}"
    yield '# "frequency" limits the share of the commonest value in a group, "distinct" counts values.'
    yield f'l_kind = "{level.kind}"'


def _guarantee(profile: "Profile") -> Lines:
    k, reason = profile.k
    yield "[guarantee]"
    if profile.having("quasi") or profile.having("?"):
        yield f"# {reason}."
        yield f"k = {k}"
    else:
        yield "# No k: no attribute is quasi, so that nobody would be hidden among others by it."
    levels = profile.diversities
    if not levels:
        return
    name, least = weakest(levels)
    if any(level.strength > least.strength for level in levels.values()):
        yield "# For every sensitive attribute; those that allow more have a guarantee of their own."
    yield from _diversity(least, f"{name_of(name)}: ")


def _dependencies(profile: "Profile") -> Iterator[Lines]:
    """What follows from what: as it stands if publishing accepts it, otherwise in a comment."""
    declared: list[Dependency] = []
    refused: list[FoundDependency] = []
    unpublished = {name for role in ("identifier", "drop", "?") for name in profile.having(role)}
    for dependency in profile.dependencies:
        if not dependency.is_solid or unpublished & {*dependency.left, dependency.right}:
            continue
        candidate = [*declared, Dependency(frozenset(dependency.left), dependency.right)]
        if _is_accepted(profile, candidate):
            declared = candidate
            yield _declared(dependency)
        else:
            refused.append(dependency)
    if refused:
        yield _undeclared(refused)


def _is_accepted(profile: "Profile", dependencies: Sequence[Dependency]) -> bool:
    quasi = frozenset(profile.having("quasi"))
    rules = [PrivacyRule(quasi, name) for name in profile.having("sensitive")]
    return not any(breaking(rule, dependencies) or tellers(rule, dependencies) for rule in rules)


def _declared(dependency: FoundDependency) -> Lines:
    yield "[[dependencies]]"
    yield f"# Holds in all rows; {dependency.repeated:,} left sides occur in several rows and show it."
    yield f"from = [{', '.join(map(toml_text, dependency.left))}]"
    yield f"to = {toml_text(dependency.right)}"


def _undeclared(dependencies: Sequence[FoundDependency]) -> Lines:
    yield "# These hold in all rows too, and tie sensitive attributes to published ones. The method below would"
    yield '# refuse them as [[dependencies]]; if an adversary knows one, use method = "guardian".'
    for dependency in dependencies[:MOST_COMMENTED]:
        left = ", ".join(map(name_of, dependency.left))
        yield f"#   {left} -> {name_of(dependency.right)} ({dependency.repeated:,} left sides)"
    if len(dependencies) > MOST_COMMENTED:
        more = len(dependencies) - MOST_COMMENTED
        yield f"#   and {more} more: manyveils plan --find-dependencies lists them"


def _publish(profile: "Profile") -> Lines:
    sensitive = len(profile.having("sensitive"))
    yield "[publish]"
    if sensitive < 2:
        yield f"# {'One' if sensitive else 'No'} sensitive attribute: rows can stay whole, with coarser quasi-identifiers."
        yield 'method = "generalize"'
        yield "# Recoding each group by itself loses least, and leaves nobody out."
        yield 'recoding = "mondrian"'
    elif profile.whose is not None and profile.whose.constants:
        yield f"# {sensitive} sensitive attributes: the links between columns are broken, so that one tells little of another."
        yield "# All rows of a person share a bucket, so that of what does not change several rows tell no more than one."
        yield "# Quasi-identifiers stay as they are; the hierarchies above serve methods such as generalize and codip."
        yield 'method = "anatomize"'
    else:
        yield f"# {sensitive} sensitive attributes: the links between columns are broken, so that one tells little of another."
        yield "# It writes ranges and sets; the hierarchies above serve methods such as generalize and codip."
        yield 'method = "slice"'
        yield "# Combinations in fewer rows than this are generalized."
        yield f"column_k = {profile.k[0]}"
