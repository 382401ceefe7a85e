"""Tables in which persons have several rows, and drafts of them judged in plain Python."""

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
from hypothesis import strategies as st

from manyveils.errors import PolicyError
from manyveils.methods import drafts_of, method_of, work_of
from manyveils.policy import Policy, Promise
from manyveils.policy import guarantees as kinds
from manyveils.policy.guarantees import Elimination
from manyveils.promises.work import Work
from manyveils.release.draft import Draft, Drafts
from manyveils.table import Streams, Table, hold
from tests.kit import persons as oracle
from tests.kit.strategies import ILLS, Case, cases


@st.composite
def people(draw: st.DrawFn, publish: dict[str, Any], **more: Any) -> tuple[Case, list[int]]:
    """A case, and whose each of its rows is: persons are numbered in the order in which they come."""
    case = draw(cases(publish, **more))
    raw = draw(
        st.lists(st.integers(0, case.frame.height), min_size=case.frame.height, max_size=case.frame.height)
    )
    numbers = {person: number for number, person in enumerate(dict.fromkeys(raw))}
    return case, [numbers[person] for person in raw]


def unchanging(case: Case, whose: list[int]) -> Case:
    """The same with an illness that does not change from row to row of a person."""
    ills: dict[int, str] = {}
    own = [ills.setdefault(person, ill) for person, ill in zip(whose, case.frame["ill"], strict=True)]
    sections = {**case.sections, "attributes": {**case.sections["attributes"]}}
    sections["attributes"]["ill"] = {**sections["attributes"]["ill"], "constant": True}
    sections["data"] = {"person": "name"}
    return Case(case.frame.with_columns(ill=pl.Series(own, dtype=pl.String)), sections)


def held_by(frame: Any, policy: Policy, whose: Sequence[Any]) -> Table:
    """The table with the person of each row, numbered without gaps."""
    numbers = np.unique(np.asarray(whose), return_inverse=True)[1].astype(np.int64)
    return replace(hold(frame, policy)[0], persons=numbers)


def told(
    work: Work, groups: dict[Any, list[int]], others: tuple[str, ...] | None = None
) -> list[tuple[int, Promise]]:
    """The persons of whom several groups tell together what none may tell, and the promise that breaks.

    `others` are the sensitive attributes that stand beside the illness; without it all do.
    """
    others = work.sensitive if others is None else others
    table = work.table
    if table.persons is None:
        return []
    values, unsafe = texts_of(table, "ill"), []
    reference = list(zip(table.persons.tolist(), values, strict=True))
    for promise in work.promises:
        if promise.protects != ("ill",) or isinstance(promise.guarantee, Elimination):
            continue
        known = [texts_of(table, name) for name in others if name != "ill"] if promise.conditional else []
        parts: dict[Any, list[int]] = {}
        for group, member in groups.items():
            for row in member:
                parts.setdefault((group, *(column[row] for column in known)), []).append(row)
        seen: dict[int, list[Any]] = {}
        for member in parts.values():
            for person in dict.fromkeys(table.persons[member].tolist()):
                seen.setdefault(person, []).append([reference[row] for row in member])
        for person, own in seen.items():
            if len(own) > 1:
                b = oracle.seen(own, reference)
                if not remains(promise, b, oracle.distribution(reference), table["ill"].texts, Fraction(0)):
                    unsafe.append((person, promise))
    return unsafe


def guarantees() -> st.SearchStrategy[dict[str, Any]]:
    """Guarantee sections that the oracle for persons speaks of."""
    l = st.integers(2, 3)
    return st.one_of(
        st.fixed_dictionaries({"k": st.integers(2, 4)}),
        st.fixed_dictionaries({"k": st.just(3), "l": l}),
        st.fixed_dictionaries({"l": l, "l_kind": st.sampled_from(["distinct", "frequency", "entropy"])}),
        st.fixed_dictionaries(
            {"l": l, "l_kind": st.just("recursive"), "c": st.sampled_from([0.5, 1.5, 3.0])}
        ),
        st.fixed_dictionaries({"t": st.sampled_from([0.2, 0.5]), "ground": st.just("equal")}),
        st.fixed_dictionaries({"k": st.just(2), "alpha": st.sampled_from([0.5, 0.75])}),
        st.fixed_dictionaries({"beta": st.sampled_from([0.5, 1.0, 2.0])}),
        st.fixed_dictionaries({"delta": st.sampled_from([1.0, 2.0])}),
        st.fixed_dictionaries({"epsilon_link": st.sampled_from([0.4, 0.6])}),
        st.fixed_dictionaries({"l": st.just(2), "conditional": st.just(True)}),
    )


def work_for(policy: Policy, frame: Any, whose: list[int]) -> Work | None:
    """What is to be made of a table with these persons; nothing where the policy asks too much of its values."""
    table = held_by(frame, policy, whose)
    try:
        return work_of(
            policy, table if table.n_persons < table.n_rows else replace(table, persons=None), Streams(1)
        )
    except PolicyError:
        return None


def drafted(work: Work) -> Drafts:
    """The drafts of the policy's method."""
    return drafts_of(work, method_of(work.policy).plan(work))


def groups_of(draft: Draft, work: Work) -> dict[Any, list[int]]:
    """The rows of every group of a draft in one column: those whose quasi-identifiers read alike."""
    columns = []
    for name in work.quasi:
        recoding = draft.recodings.get(name)
        attribute = work.table[name]
        texts = attribute.texts if recoding is None else [text or "" for text in recoding.values.to_list()]
        codes = attribute.codes[draft.rows] if recoding is None else recoding.codes
        columns.append([texts[code] for code in codes])
    groups: dict[Any, list[int]] = {}
    for place, row in enumerate(draft.rows.tolist()):
        groups.setdefault(tuple(column[place] for column in columns), []).append(row)
    return groups


def texts_of(table: Table, name: str) -> list[str]:
    """The values of an attribute, row by row."""
    return [table[name].texts[code] for code in table[name].codes]


def keeps(promise: Promise, member: list[int], table: Table, sensitive: tuple[str, ...]) -> bool:
    """Whether the rows of a group keep a promise, by the oracle."""
    whose = list(range(table.n_rows)) if table.persons is None else table.persons.tolist()
    if not promise.protects:
        return oracle.keeps(promise.guarantee, [(whose[row], "") for row in member], [], [])
    values = texts_of(table, promise.protects[0])
    if isinstance(promise.guarantee, Elimination):
        others = [texts_of(table, name) for name in promise.guarantee.ruled_out if name in sensitive]
        rows = [(whose[row], values[row], [other[row] for other in others]) for row in member]
        return oracle.withstands(rows, promise.guarantee.eliminations, promise.insensitive)
    known = [texts_of(table, name) for name in sensitive if name not in promise.protects]
    parts: dict[Any, list[int]] = {}
    for row in member:
        parts.setdefault(tuple(k[row] for k in known) if promise.conditional else (), []).append(row)
    reference = list(zip(whose, values, strict=True))
    return all(
        oracle.keeps(
            promise.guarantee,
            [(whose[row], values[row]) for row in rows],
            reference,
            table[promise.protects[0]].texts,
            promise.insensitive,
        )
        for rows in parts.values()
    )


def broken(work: Work, draft: Draft) -> list[tuple[Any, Promise]]:
    """The groups of a draft, and the promises that they break."""
    return [
        (group, promise)
        for group, member in groups_of(draft, work).items()
        for promise in work.promises
        if set(promise.protects) <= set(draft.attributes)
        and not keeps(promise, member, work.table, tuple(set(work.sensitive) & set(draft.attributes)))
    ]


def is_whole(work: Work, draft: Draft) -> bool:
    """Whether everybody is in a draft with all her rows or with none, and no more are left out than may be."""
    table = work.table
    if table.persons is None:
        return table.n_rows - draft.rows.size <= work.limit
    there = set(table.persons[draft.rows].tolist())
    rows = [row for row, person in enumerate(table.persons.tolist()) if person in there]
    return sorted(draft.rows.tolist()) == rows and table.n_persons - len(there) <= work.limit


def remains(
    promise: Promise, b: oracle.Distribution, p: oracle.Distribution, domain: Sequence[str], slack: Fraction
) -> bool:
    """Whether beliefs keep a promise, with its bound tightened a little."""
    guarantee, harmless = promise.guarantee, promise.insensitive
    sensitive = {value: share for value, share in b.items() if value not in harmless}
    if guarantee.level:
        label = {leaf: branch for branch, leaves in ILLS.items() for leaf in leaves}
        possible = {label[value] for value in b}
        # A label needs protection if some value under it does.
        return len(possible) >= guarantee.required or not any(
            label[value] in possible and value not in harmless for value in domain
        )
    match guarantee:
        case kinds.DistinctDiversity(l=l):
            return len(b) >= l or not sensitive
        case kinds.FrequencyDiversity(l=l):
            return all(share + slack <= Fraction(1, l) for share in sensitive.values())
        case kinds.CappedShare(alpha=alpha, values=values):
            return all(share + slack <= alpha for v, share in sensitive.items() if not values or v in values)
        case kinds.Linkability(epsilon=epsilon):
            return all(share + slack <= epsilon for share in sensitive.values())
        case kinds.Likeness(beta=beta):
            return all(
                share + slack <= p[v] * (1 + min(float(beta), -math.log(p[v]))) + 1e-9
                or share + slack <= p[v]
                for v, share in sensitive.items()
            )
        case kinds.EntropyDiversity(l=l):
            entropy = -sum(float(share) * math.log(share) for share in b.values())
            return entropy >= math.log(l) - 1e-9 + float(slack) or not sensitive
        case kinds.RecursiveDiversity(c=c, l=l):
            shares = sorted(b.values(), reverse=True)
            return shares[0] + slack < c * sum(shares[l - 1 :], Fraction(0)) or not sensitive
        case kinds.Closeness(t=t, ground=ground) | kinds.SupersetCloseness(t=t, ground=ground):
            return oracle.distance(b, p, domain, is_ordered=ground == "ordered") + slack <= t
        case kinds.Disclosure(delta=delta):
            return all(
                v in b and abs(math.log(b[v] / p[v])) + float(slack) < float(delta)
                for v in set(p) - set(harmless)
            )
        case kinds.NumericSpread(e=e):
            numbers = [float(value) for value in b if value]
            return bool(numbers) and max(numbers) - min(numbers) >= e
        case kinds.Proximity(epsilon=epsilon, m=m):
            return all(
                sum(share for other, share in b.items() if _near(value, other, float(epsilon))) + slack
                <= Fraction(1, m)
                for value in b
            )
    raise AssertionError(guarantee)


def _near(value: str, other: str, epsilon: float) -> bool:
    return value == other if not value or not other else abs(float(value) - float(other)) <= epsilon
