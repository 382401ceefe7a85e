"""What a report says in words: the measures, the attacks and the terms, each in a sentence."""

MEASURES = {
    "loss": "how much of the detail of quasi-identifiers is gone (0 none, 1 all)",
    "granularity": "how much of it is left",
    "precision": "the share of generalization steps that were not taken",
    "height": "generalization steps, all quasi-identifiers together",
    "non_uniform_entropy": "bits of quasi-identifiers that can no longer be told, as a share",
    "discernibility": "the sum of squared group sizes: lower is finer",
    "average_class_size": "rows in a group, on average",
    "c_avg": "the same over k: 1 is as fine as k allows",
    "suppressed_share": "the share of rows left out",
    "qi_disr": "how far quasi-identifiers are distorted",
    "sa_disr": "how far sensitive values are distorted",
    "t_disr": "both together",
    "distortion_ratio": "distortion, over that of publishing nothing but *",
    "sensitive_replaced": "sensitive cells that show something else than a value",
    "singled_out": "the share of people whose presence the release proves",
    "fake_tuples": "combinations that fit the release and are nobody's",
    "matching_buckets_original": "buckets in which a person's values fit, on average",
    "matching_buckets_fake": "buckets in which nobody's values fit, on average",
    "association_loss": "the share of association between sensitive attributes that stand apart",
    "information_exposure": "what those who know one sensitive value can read off about others, as a share",
    "kl": "how far the distribution that the release implies is from the original's, in nats",
    "kl_unseen": "the share of rows that this distribution takes for impossible",
    "query_error": "how wrong a count over the release is, on average, relative to the true one",
    "query_error_median": "the same for the query in the middle",
}

# What only the owner's page speaks of.
OWNERS = {"attack", "broken", "conditional", "control", "guessing", "interval"}
GLOSSARY = {
    "attack": "What somebody could do to learn about a person; tried here on the release, with the original as the truth.",
    "association": "How strongly two attributes go together (Cramér's V: 0 not at all, 1 one settles the other).",
    "bucket": "Rows of a table that are published together; which value goes with which inside it is not told.",
    "broken": "More is believed about somebody than the promise, or half of the doubt, allows.",
    "conditional": "Read for somebody who knows the person's other sensitive values as well.",
    "control": "What an attack gets of people who are not in the data: general knowledge, not a leak.",
    "group": "Rows that somebody who knows the quasi-identifiers cannot tell apart.",
    "guessing": "What the best guess gets without the release.",
    "interval": "A 95 % interval: where the rate lies if the people are taken as a sample.",
    "k": "The fewest rows in a group.",
    "l": "How many sensitive values stay possible in a group, at least; its kind says how they are counted.",
    "quasi-identifier": "What outsiders may know about a person, such as age and home.",
    "sensitive": "What nobody may learn about a person.",
    "suppressed": "Left out of the release.",
    "t": "How far the shares of values in a group may be from those of the whole table.",
    "view": "A published table; a release has one or more.",
}
