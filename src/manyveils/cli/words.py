"""What each number on the screen is, and which way is good, in one line."""

from collections.abc import Iterable, Mapping

LESS, MORE = "less is better", "more is better"
MEASURES: Mapping[str, str] = {
    "loss": f"detail lost in quasi-identifiers, 0 none to 1 all; {LESS}",
    "granularity": f"detail kept, 1 - loss; {MORE}",
    "precision": f"how low in their hierarchies labels stay, 0 to 1; {MORE}",
    "height": f"levels climbed, summed over quasi-identifiers; {LESS}",
    "non_uniform_entropy": f"bits lost about values, 0 none to 1 all; {LESS}",
    "suppressed_share": f"share of people left out, 0 to 1; {LESS}",
    "qi_disr": f"share of its domain that a quasi-identifier's cell covers, 0 to 1; {LESS}",
    "sa_disr": f"the same of sensitive cells, 0 to 1; {LESS}",
    "t_disr": f"qi_disr + sa_disr, 0 to 2; {LESS}",
    "distortion_ratio": f"the same beside all cells being *, 0 to 1; {LESS}",
    "sensitive_replaced": f"sensitive cells that are not published as they are; {LESS}",
    "discernibility": f"squared sizes of groups, summed; {LESS}",
    "average_class_size": f"people in a group, on average; {LESS}, for detail",
    "c_avg": f"average group over the k promised, 1 at best; {LESS}",
    "singled_out": f"share of people whose presence is proven, 0 to 1; {LESS}",
    "fake_tuples": f"combinations that fit a bucket and are nobody's; {MORE}, for privacy",
    "matching_buckets_original": f"buckets that fit a person, on average; {MORE}, for privacy",
    "matching_buckets_fake": "the same for combinations that are nobody's; near a person's is good",
    "prosecutor_risk": f"chance of finding someone known to be in the data, by group; {LESS}",
    "journalist_risk": f"chance of finding someone of the population, by those alike; {LESS}",
    "marketer_risk": f"share found if all are looked for; {LESS}",
    "sample_uniques": f"share of people alone in their group; {LESS}",
    "population_uniques": f"share of the population alone of its kind, estimated by models of a random sample; {LESS}",
    "individual_risk": f"chance of finding each, estimated by a model from sampling weights; {LESS}",
    "special_uniques": f"people whom few attributes single out, and SUDA's scores; {LESS}",
    "association_loss": f"association between sensitive attributes lost, 0 to 1; {LESS}",
    "information_exposure": f"what one sensitive value tells of others, 0 to 1; {LESS}, for privacy",
    "relations": f"associations between attributes kept, 0 to 1; {MORE}",
    "kl": f"distance from the original's distribution, in nats; {LESS}",
    "kl_unseen": f"share of rows that the release calls impossible; {LESS}",
    "query_error": f"relative error of a count, on average: 0.1 is 10 % off; {LESS}",
    "query_error_median": f"relative error that half of the counts stay below; {LESS}",
    "learning": f"share kept of what models learn over guessing, 1 all; {MORE}",
    "learning_original": f"accuracy of models of the original, 0 to 1; {MORE}",
    "learning_release": f"accuracy of models of the release, 0 to 1; {MORE}",
    "learning_baseline": "accuracy of guessing the commonest value, 0 to 1",
}
PROMISES: Mapping[str, str] = {
    "k-anonymity": f"people in the smallest group; {MORE}",
    "key-k-anonymity": f"people alike in some quasi-identifiers, at least; {MORE}",
    "prosecutor-risk": f"one over the smallest group; {LESS}",
    "marketer-risk": f"groups over people; {LESS}",
    "k-map": f"people of the population who look like a group, at least; {MORE}",
    "journalist-risk": f"one over the fewest people of the population who look like a group; {LESS}",
    "k-m-anonymity": f"people behind the rarest set of known values; {MORE}",
    "distinct-l-diversity": f"different values in the group that has fewest; {MORE}",
    "frequency-l-diversity": f"people of a group for each with its commonest value, at worst; {MORE}",
    "entropy-l-diversity": f"equally common values a group is worth, at worst; {MORE}",
    "recursive-c-l-diversity": f"the commonest value over the rare ones, at worst; {LESS}",
    "t-closeness": f"distance of a group from the whole table, 0 to 1, at worst; {LESS}",
    "n-t-closeness": f"distance of a group from a large part of the table, 0 to 1, at worst; {LESS}",
    "alpha-k-anonymity": f"share of a group that has one value, at worst; {LESS}",
    "beta-likeness": f"relative gain of a value's share in a group, at worst; {LESS}",
    "delta-disclosure": f"log ratio of a value's share in a group to the table's, at worst; {LESS}",
    "k-e-anonymity": f"range of the numbers in a group, at worst; {MORE}",
    "epsilon-m-anonymity": f"people of a group for each that is nearly alike, at worst; {MORE}",
    "linkability": f"confidence in one value of a person, at worst; {LESS}",
}


def measure_means(key: str) -> str:
    """What a measure is and which way is good; of parts of it, what the whole is."""
    name = key.partition(":")[0].removesuffix("_by_attribute")
    return MEASURES.get(name, "")


def promises_mean(kinds: Iterable[str]) -> list[str]:
    """A line for each kind of promise: what is measured, and which way is good."""
    return [f"{kind}: measured is {PROMISES[kind]}." for kind in dict.fromkeys(kinds) if kind in PROMISES]
