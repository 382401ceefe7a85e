"""What the publisher is told of a plan: its ratios, its tables, the merges and the frontier, beside the one-table plan."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from manyveils.methods.codip.anonymizers import Anonymized, Names
from manyveils.methods.codip.association import Association, Plan
from manyveils.methods.codip.plans import Merge, Outcome, Search

Entry = dict[str, object]


def notes_of(search: Search, outcome: Outcome, views: Mapping[str, Anonymized]) -> Entry:
    """Everything worth knowing, as plain numbers."""
    one_table = _one_table(search)
    # Tables compare at equal coarseness: that of the limit, or of the one-table plan.
    within = search.limits.discernibility or one_table["discernibility"]
    assert within is None or isinstance(within, int | float)
    tables = [
        _table(search, view, search.names(part), anonymized, within)
        for (view, anonymized), part in zip(views.items(), outcome.plan, strict=True)
    ]
    best = _largest(tables, "best_closeness")
    one_table["best_closeness"] = _best(search, search.work.sensitive, within)
    which = "plans that can be anonymized" if outcome.how == "optimal" else "all plans"
    return {
        "search": "as given" if outcome.how == "given" else outcome.how,
        "plan": [list(search.names(part)) for part in outcome.plan],
        **_ratios(search, outcome.plan),
        "reduction_of_join_threat": _round(1 - float(search.association.exposure(outcome.plan))),
        "closeness": _largest(tables, "closeness"),
        "best_closeness": best,
        "improvement_in_closeness": _improvement(best, one_table["best_closeness"]),
        "compared_within_discernibility": within,
        "one_table": one_table,
        "linkability": _linkability(search, views.values()),
        "tables": tables,
        "merges": [_merge(search, merge) for merge in outcome.merges],
        "frontier": _points(outcome),
        "frontier_of": "" if outcome.frontier is None else which,
        "mutual_information": _pairs(search.association),
    }


def _ratios(search: Search, plan: Plan) -> Entry:
    """What a plan loses, and what it exposes."""
    return {
        "association_loss": _round(float(search.association.loss(plan))),
        "information_exposure": _round(float(search.association.exposure(plan))),
    }


def _one_table(search: Search) -> Entry:
    """The naive plan: one table loses no association and exposes everything."""
    names, anonymizer = search.work.sensitive, search.anonymizer
    anonymized = anonymizer.anonymized(names) if anonymizer.fits(names) else None
    return {
        "can_be_published": anonymized is not None,
        **_ratios(search, (tuple(range(len(names))),)),
        "closeness": anonymized and _round(anonymized.closeness),
        "best_closeness": None,
        "discernibility": anonymized and anonymized.discernibility,
        "linkability": anonymized and _linkability(search, [anonymized])["measured"],
    }


def _table(search: Search, view: str, names: Names, anonymized: Anonymized, within: float | None) -> Entry:
    return {
        "view": view,
        "attributes": list(names),
        "levels": None if anonymized.levels is None else dict(anonymized.levels),
        "classes": int(anonymized.sizes.size),
        "smallest_class": anonymized.smallest,
        "discernibility": anonymized.discernibility,
        "closeness": _round(anonymized.closeness),
        "best_closeness": _best(search, names, within),
    }


def _best(search: Search, names: Names, within: float | None) -> float | None:
    """The least closeness within a coarseness; nothing where there is none to compare at."""
    return None if within is None else _round(search.anonymizer.best_closeness(names, within))


def _largest(tables: Iterable[Entry], key: str) -> float | None:
    values = (table[key] for table in tables)
    return max((value for value in values if isinstance(value, float)), default=None)


def _improvement(ours: object, naive: object) -> float | None:
    """How much closer than the naive plan, as a share of its distance."""
    if not isinstance(ours, float) or not isinstance(naive, float):
        return None
    return _round(1 - ours / naive) if naive else 0.0


def _linkability(search: Search, tables: Iterable[Anonymized]) -> Entry:
    """The confidence with which anyone who knows quasi-identifiers can name a value, over all tables joined.

    A join over several tables multiplies confidences, so the worst single table speaks for all (Theorem 2).
    The bound of a group is (n - l + 1) / n for its own n; the paper's, for the smallest group, is shown beside it:
    larger groups may exceed it. Neither is a bound where somebody has several rows.
    """
    gauged = [gauged for anonymized in tables for gauged in anonymized.gauged.values()]
    smallest = min((anonymized.smallest for anonymized in tables if anonymized.sizes.size), default=0)
    fewest = min((attribute.fewest_values for attribute in gauged), default=0)
    bound_of_smallest = (smallest - fewest + 1) / smallest if gauged and smallest else None
    if search.work.table.persons is not None:
        bound_of_smallest = None
    return {
        "measured": _round(max((attribute.share for attribute in gauged), default=0.0)),
        "bound": _round(max((attribute.bound for attribute in gauged), default=0.0)),
        "bound_of_smallest_class": _round(bound_of_smallest),
    }


def _merge(search: Search, merge: Merge) -> Entry:
    pairs = list(combinations(merge.members, 2))
    average = sum(float(search.association.information[pair]) for pair in pairs) / len(pairs)
    return {
        "tables": len(merge.plan),
        "merged": list(search.names(merge.members)),
        "average_information": _round(average),
        **_ratios(search, merge.plan),
        "refused": merge.refused,
    }


def _points(outcome: Outcome) -> list[Entry]:
    points = [] if outcome.frontier is None else outcome.frontier.points
    return [
        {"association_loss": _round(loss), "information_exposure": _round(exposure), "tables": tables}
        for loss, exposure, tables in points
    ]


def _pairs(association: Association) -> Entry:
    return {
        name: {
            other: _round(float(x)) for other, x in zip(association.names, row, strict=True) if other != name
        }
        for name, row in zip(association.names, association.information, strict=True)
    }


def _round(number: float | None) -> float | None:
    return None if number is None else round(number, 6)
