"""How likely people of a release are found by their quasi-identifiers: prosecutor, journalist and marketer."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from manyveils.policy.guarantees import exact
from manyveils.reading.candidates import n_candidates
from manyveils.reading.columns import PublishedColumn, read_column
from manyveils.reading.cover import Cover, Floats, Ids
from manyveils.reading.evidence import Evidence
from manyveils.reading.population import covers_of, people_under
from manyveils.release import View
from manyveils.release.bare import BareRelease
from manyveils.table import Attribute
from manyveils.utility.comparison import Comparison, Measures
from manyveils.utility.estimators import dankar, pitman, sample_of, slide_negative_binomial, zayatz

# Whoever is found with a greater chance is at risk, where the policy promises no other bound: groups of fewer than five.
AT_RISK = 0.2
MODELS = {"zayatz": zayatz, "pitman": pitman, "snb": slide_negative_binomial, "dankar": dankar}


def sample_risk(comparison: Comparison) -> Measures:
    """The chance of finding somebody who is known to be in the data: one over the size of her group.

    A marketer looks for everybody, and finds as many as there are groups. The worst view speaks. Where a missing cell
    may be any value, the candidates of a row are its group.
    """
    told = _alike(comparison)
    if not told:
        return {}
    bound = exact(comparison.policy.guarantee.prosecutor_risk or AT_RISK)
    averages = [float((people / sizes).sum() / people.sum()) for people, sizes in told]
    return {
        "prosecutor_risk": {
            "highest": max(1 / int(sizes.min()) for _, sizes in told),
            "average": max(averages),
            "at_risk": max(_beyond(bound, sizes, people) for people, sizes in told),
        },
        "marketer_risk": max(averages),
        "sample_uniques": max(float(people[sizes == 1].sum() / people.sum()) for people, sizes in told),
    }


def _alike(comparison: Comparison) -> list[tuple[Ids, Ids]]:
    """People, and among how many each of them is looked for: by group, or by row where a missing cell may be any value."""
    release, table, policy = comparison.release, comparison.table, comparison.policy
    if isinstance(release, BareRelease):
        candidates = n_candidates(Evidence(release, table, policy), comparison.quasi)
        if candidates is not None:
            return [(np.ones_like(candidates), candidates)]
    return [(own, own) for columns in comparison.groups.values() for own in columns if own.size]


def _beyond(bound: Fraction, alike: Ids | Floats, sizes: Ids) -> float:
    """The share of people who are found with a greater chance than the bound, by how many are alike."""
    return float(sizes[alike * bound.numerator < bound.denominator].sum() / sizes.sum())


def population_risk(comparison: Comparison) -> Measures:
    """The chance of finding somebody of the population that the policy lists: one over the people who look like her group."""
    population = comparison.table.population
    if population is None:
        return {}
    bound = exact(comparison.policy.guarantee.journalist_risk or AT_RISK)
    attributes, counts = population.attributes, population.counts
    risks = [
        _journalist(known.column.counts, people_of(comparison, known, attributes, counts), bound)
        for known in known_columns(comparison)
    ]
    if not risks:
        return {}
    return {"journalist_risk": {key: max(risk[key] for risk in risks) for key in risks[0]}}


def _journalist(sizes: Ids, people: Floats, bound: Fraction) -> dict[str, float]:
    """Highest and average chance, as ARX has them; people who should be in the population and are not count as there."""
    alike = np.maximum(people, 1)
    return {
        "highest": float((1 / alike).max()),
        "average": max(sizes.size / float(alike.sum()), float((sizes / alike).sum() / sizes.sum())),
        "at_risk": _beyond(bound, alike, sizes),
    }


def population_uniques(comparison: Comparison) -> Measures:
    """The share of the population who are the only ones of their kind, as models estimate it from the sizes of groups."""
    n_population = population_size(comparison)
    if n_population is None:
        return {}
    estimates: dict[str, float] = {}
    for columns in comparison.groups.values():
        for sizes in columns:
            if sizes.size and int(sizes.sum()) <= n_population:
                for model, share in _estimated(sizes, n_population):
                    estimates[model] = max(estimates.get(model, 0.0), share)
    return {"population_uniques": estimates} if estimates else {}


def _estimated(sizes: Ids, n_population: int) -> Iterator[tuple[str, float]]:
    """What every model that has a solution says."""
    sample = sample_of(sizes, n_population)
    for model, estimate in MODELS.items():
        uniques = estimate(sample)
        if not math.isnan(uniques):
            yield model, uniques / n_population


def population_size(comparison: Comparison) -> int | None:
    """How many people the population has, by its size, its list or its weights; None where nothing is said."""
    table, said = comparison.table, comparison.policy.population
    if said.size is not None:
        return said.size
    if table.population is not None:
        return table.population.n_people
    return round(float(weights_of(comparison).sum())) if said.weights else None


def individual_risk(comparison: Comparison) -> Measures:
    """The chance of finding each person, estimated from sampling weights (Benedetti and Franconi 1998)."""
    if comparison.policy.population.weights is None or comparison.table.persons is not None:
        return {}
    quasi = {name: comparison.table[name] for name in comparison.quasi}
    weights = weights_of(comparison)
    risks = []
    for known in known_columns(comparison):
        if not any(cover.overlaps for cover in _covers(comparison, known, quasi)):
            sizes = known.column.counts
            estimated = np.maximum(people_of(comparison, known, quasi, weights), sizes)
            risks.append((sizes, benedetti_franconi(sizes, estimated)))
    if not risks:
        return {}
    expected = [float((sizes * own).sum()) for sizes, own in risks]
    return {
        "individual_risk": {
            "highest": max(float(own.max()) for _, own in risks),
            "average": max(sum_ / int(sizes.sum()) for sum_, (sizes, _) in zip(expected, risks, strict=True)),
            "expected_found": max(expected),
        }
    }


def benedetti_franconi(sizes: Ids, estimated: Floats) -> Floats:
    """The individual risk of groups by their sizes in the sample and estimated in the population.

    The population size of a group has a negative binomial distribution given its sample size; of groups of three or
    more the risk is approximated, as in sdcMicro and mu-Argus.
    """
    size = sizes.astype(np.float64)
    share = size / estimated
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = share / (1 - share)
        once = odds * -np.log(share)
        twice = odds - odds**2 * -np.log(share)
        more = share / (size - (1 - share))
    risk = np.where(sizes == 1, once, np.where(sizes == 2, twice, more))
    # Whoever stands for herself alone has nobody else in the population.
    return np.where(share >= 1, 1 / size, risk)


def weights_of(comparison: Comparison) -> Floats:
    """For how many people of the population each row of the original stands."""
    attribute = comparison.table[comparison.policy.population.weights or ""]
    return attribute.numbers[attribute.codes]


@dataclass(frozen=True, repr=False)
class Known:
    """The groups of one published column of a view without buckets, by what is known."""

    view: View
    file: int
    names: tuple[str, ...]
    column: PublishedColumn


def known_columns(comparison: Comparison) -> Iterator[Known]:
    """The columns with something known, of views without buckets: the groups of others are not told by labels."""
    domains = comparison.release.reading.estimate.domains
    for view in comparison.release.views:
        files = () if view.bucketed or view.name not in comparison.groups else view.files
        for place, file in enumerate(files):
            names = tuple(name for name in file.attributes if name in comparison.quasi)
            if names and view.rows:
                yield Known(view, place, names, read_column(comparison.release, view, file, domains, names))


def people_of(
    comparison: Comparison, known: Known, attributes: Mapping[str, Attribute], counts: Ids | Floats
) -> Floats:
    """How many of some people look like each group."""
    column = known.column
    labels = [column.labels[name].astype(np.int64) for name in known.names]
    codes = [attributes[name].codes.astype(np.int64) for name in known.names]
    covers = _covers(comparison, known, attributes)
    return people_under(labels, covers, codes, counts, column.counts.size)


def _covers(comparison: Comparison, known: Known, attributes: Mapping[str, Attribute]) -> list[Cover]:
    texts = {name: known.column.texts[name].to_list() for name in known.names}
    policy = comparison.policy
    is_any = policy.data.missing == "any"
    return covers_of(comparison.release, known.view, policy, attributes, texts, missing_is_any=is_any)
