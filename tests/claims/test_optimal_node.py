"""The full-domain search finds the cheapest node that keeps every promise."""

from itertools import product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manyveils.errors import InfeasibleError, PolicyError
from manyveils.policy.guarantees import Elimination, exact
from manyveils.run import publish
from manyveils.table import hold, resolve
from tests.kit.oracles import holds, leaks
from tests.kit.reading import levels_of
from tests.kit.strategies import cases


def classes_at(node, table, quasi):
    """The rows of each class at a node, keyed by their labels."""
    groups = {}
    for row in range(table.n_rows):
        key = tuple(
            int(table[name].levels[level].label_of[table[name].codes[row]])
            for name, level in zip(quasi, node, strict=True)
        )
        groups.setdefault(key, []).append(row)
    return groups


def keeps(promise, rows, table, sensitive):
    """Whether the rows of a class keep a promise, by the oracle."""
    if not promise.protects:
        return holds(promise.guarantee, ["" for _ in rows], [])
    if isinstance(promise.guarantee, Elimination):
        names = (*promise.protects, *promise.guarantee.ruled_out)
        cells = [[table[name].texts[table[name].codes[row]] for name in names] for row in rows]
        return not leaks(cells, promise.guarantee.eliminations, promise.insensitive)
    column = table[promise.protects[0]]
    texts = [column.texts[code] for code in column.codes]
    others = [name for name in sensitive if name not in promise.protects]
    units = {}
    for row in rows:
        known = tuple(int(table[name].codes[row]) for name in others) if promise.conditional else ()
        units.setdefault(known, []).append(texts[row])
    return all(
        holds(
            promise.guarantee,
            unit,
            texts,
            insensitive=promise.insensitive,
            domain=column.texts,
            levels=levels_of(column),
        )
        for unit in units.values()
    )


def cost_of(objective, node, fine, lost, table, quasi):
    """The cost of a node by definition."""
    n_lost = sum(len(rows) for rows in lost.values())
    match objective:
        case "height":
            return sum(node)
        case "discernibility":
            return sum(len(rows) ** 2 for rows in fine.values()) + n_lost * table.n_rows
        case "class-size":
            return table.n_rows / len(fine)
        case _:
            levels = [table[name].levels[level] for name, level in zip(quasi, node, strict=True)]
            held = sum(
                len(rows) * level.loss[label]
                for key, rows in fine.items()
                for level, label in zip(levels, key, strict=True)
            )
            return held + n_lost * len(quasi)


def exhaustive(case, objective):
    """The lowest cost over all nodes, by plain enumeration."""
    policy = case.policy
    table, _ = hold(case.frame, policy)
    promises, quasi, sensitive = resolve(policy, table), policy.quasi, policy.sensitive
    limit = int(exact(policy.publish.suppression) * table.n_rows)
    best = None
    for node in product(*(range(len(table[name].levels)) for name in quasi)):
        groups = classes_at(node, table, quasi)
        fine = {
            key: rows
            for key, rows in groups.items()
            if all(keeps(p, rows, table, sensitive) for p in promises)
        }
        lost = {key: rows for key, rows in groups.items() if key not in fine}
        if fine and sum(len(rows) for rows in lost.values()) <= limit:
            cost = cost_of(objective, node, fine, lost, table, quasi)
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("objective", ["loss", "discernibility", "class-size", "height"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_optimum_is_exact(objective, data):
    """The search reaches the cost of the best node of the whole lattice, and refuses only where there is none."""
    case = data.draw(cases({"method": "generalize", "objective": objective}, smallest=2, largest=16))
    try:
        found = publish(case.frame, case.policy, seed=1).notes["cost"]
    except PolicyError:
        return
    except InfeasibleError:
        found = None
    assert (
        found == pytest.approx(exhaustive(case, objective), rel=1e-12)
        if found is not None
        else exhaustive(case, objective) is None
    )
