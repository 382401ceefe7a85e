"""What the publisher is told of a plan: its ratios, its tables, the merges and the frontier, beside the one-table plan."""

from collections.abc import Iterable, Mapping
from itertools import combinations

from manyveils.methods.codip.anonymized import Anonymized
from manyveils.methods.codip.anonymizer import Names
from manyveils.methods.codip.association import Association, Members
from manyveils.methods.codip.merging import Merge
from manyveils.methods.codip.search import Found, Search

Entry = dict[str, object]


def notes_of(search: Search, found: Found, views: Mapping[str, Anonymized], how: str) -> Entry:
    """Everything worth knowing, as plain numbers."""
    association = search.association
    loss, exposure = float(association.loss(found.plan)), float(association.exposure(found.plan))
    naive = _one_table(search)
    # Tables compare at equal coarseness: that of the limit, or of the one-table plan.
    within = search.limits.discernibility or naive["discernibility"]
    assert within is None or isinstance(within, int | float)
    tables = [
        _table(search, view, _names(search, part), made, within)
        for (view, made), part in zip(views.items(), found.plan, strict=True)
    ]
    best = _largest(tables, "best_closeness")
    naive["best_closeness"] = _best(search, search.work.sensitive, within)
    return {
        "search": how,
        "plan": [list(_names(search, part)) for part in found.plan],
        "association_loss": _round(loss),
        "information_exposure": _round(exposure),
        "reduction_of_join_threat": _round(1 - exposure),
        "closeness": _largest(tables, "closeness"),
        "best_closeness": best,
        "improvement_in_closeness": _improvement(best, naive["best_closeness"]),
        "compared_within_discernibility": within,
        "one_table": naive,
        "linkability": _linkability(views.values()),
        "tables": tables,
        "merges": [_merge(search, merge) for merge in found.merges],
        "frontier": _points(found),
        "frontier_of": ""
        if found.frontier is None
        else ("plans that can be anonymized" if how == "optimal" else "all plans"),
        "mutual_information": _pairs(association),
    }


def _names(search: Search, members: Members) -> Names:
    return tuple(search.work.sensitive[member] for member in members)


def _one_table(search: Search) -> Entry:
    """The naive plan: one table loses no association and exposes everything."""
    names, anonymizer = search.work.sensitive, search.anonymizer
    fits = anonymizer.fits(names)
    made = anonymizer.anonymized(names) if fits else None
    return {
        "can_be_published": fits,
        "association_loss": 0.0,
        "information_exposure": _round(float(search.association.exposure((tuple(range(len(names))),)))),
        "closeness": None if made is None else _round(_worst(made)),
        "best_closeness": None,
        "discernibility": None if made is None else made.discernibility,
        "linkability": None if made is None else _linkability([made])["measured"],
    }


def _table(search: Search, view: str, names: Names, made: Anonymized, within: float | None) -> Entry:
    return {
        "view": view,
        "attributes": list(names),
        "levels": None if made.levels is None else dict(made.levels),
        "classes": int(made.sizes.size),
        "smallest_class": int(made.sizes.min(initial=made.sizes.max(initial=0))),
        "discernibility": made.discernibility,
        "closeness": _round(_worst(made)),
        "best_closeness": _best(search, names, within),
    }


def _best(search: Search, names: Names, within: float | None) -> float | None:
    """The least closeness within a coarseness; nothing where there is none to compare at."""
    return None if within is None else _round(search.anonymizer.best_closeness(names, within))


def _worst(made: Anonymized) -> float:
    return max(made.closeness.values(), default=0.0)


def _largest(tables: Iterable[Entry], key: str) -> float | None:
    values = [table[key] for table in tables]
    return max((value for value in values if isinstance(value, float)), default=None)


def _improvement(ours: object, naive: object) -> float | None:
    """How much closer than the naive plan, as a share of its distance."""
    if not isinstance(ours, float) or not isinstance(naive, float):
        return None
    return _round(1 - ours / naive) if naive else 0.0


def _linkability(tables: Iterable[Anonymized]) -> Entry:
    """The confidence with which anyone who knows quasi-identifiers can name a value, over all tables joined.

    A join over several tables multiplies confidences, so the worst single table speaks for all (Theorem 2).
    The bound of a class is (n - l + 1) / n for its own n; the paper's, for the smallest class, is shown beside it:
    larger classes may exceed it.
    """
    linked = [each for made in tables for each in made.linked.values()]
    smallest = min((int(made.sizes.min()) for made in tables if made.sizes.size), default=0)
    fewest = min((each.fewest_values for each in linked), default=0)
    return {
        "measured": _round(max((each.share for each in linked), default=0.0)),
        "bound": _round(max((each.bound for each in linked), default=0.0)),
        "bound_of_smallest_class": _round((smallest - fewest + 1) / smallest)
        if linked and smallest
        else None,
    }


def _merge(search: Search, merge: Merge) -> Entry:
    pairs = list(combinations(merge.members, 2))
    average = sum(float(search.association.information[pair]) for pair in pairs) / len(pairs)
    names = _names(search, merge.members)
    return {
        "tables": len(merge.plan),
        "merged": list(names),
        "average_information": _round(average),
        "association_loss": _round(float(search.association.loss(merge.plan))),
        "information_exposure": _round(float(search.association.exposure(merge.plan))),
        "refused": merge.refused,
    }


def _points(found: Found) -> list[Entry]:
    if found.frontier is None:
        return []
    keys = ("association_loss", "information_exposure", "tables")
    return [
        dict(zip(keys, (_round(loss), _round(exposure), tables), strict=True))
        for loss, exposure, tables in found.frontier.points
    ]


def _pairs(association: Association) -> Entry:
    return {
        name: {
            other: _round(float(x)) for other, x in zip(association.names, row, strict=True) if other != name
        }
        for name, row in zip(association.names, association.information, strict=True)
    }


def _round(number: float | None) -> float | None:
    return None if number is None else round(float(number), 6)
