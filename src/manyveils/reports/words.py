"""What a report says in words: the measures, the attacks and the terms, each in a sentence."""

MEASURES = {
    "loss": "how much of the detail of quasi-identifiers is gone (0 none, 1 all)",
    "granularity": "how much of the detail is left: 1 minus loss",
    "precision": "the share of generalization steps that were not taken",
    "height": "generalization steps, all quasi-identifiers together",
    "non_uniform_entropy": "the share of the information in quasi-identifiers that is lost",
    "discernibility": "the sum of squared group sizes: lower is finer",
    "average_class_size": "rows in a group, on average",
    "c_avg": "rows per group divided by k: 1 is as fine as k allows",
    "suppressed_share": "the share of rows left out",
    "qi_disr": "how far quasi-identifiers are distorted",
    "sa_disr": "how far sensitive values are distorted",
    "t_disr": "the sum of qi_disr and sa_disr",
    "distortion_ratio": "distortion, divided by that of publishing nothing but *",
    "sensitive_replaced": "sensitive cells that show something other than a value of the original",
    "singled_out": "the share of people whose presence the release proves",
    "fake_tuples": "combinations of values that fit the release, but are nobody's",
    "matching_buckets_original": "buckets that match a person's values, on average",
    "matching_buckets_fake": "buckets that match a fake tuple, on average",
    "association_loss": "the share of the association between sensitive attributes that the release breaks up",
    "information_exposure": "what those who know one sensitive value can read off about others, as a share",
    "kl": "how far the distribution that the release implies is from the original's, in nats",
    "kl_unseen": "the share of original rows that the release takes for impossible",
    "query_error": "how wrong a count over the release is, on average, relative to the true one",
    "query_error_median": "the same error, at the median instead of the mean",
}

# What only the owner's page speaks of.
OWNERS = {"attack", "broken", "conditional", "control", "guessing", "interval"}
GLOSSARY = {
    "attack": "What somebody could do to learn about a person; tried here on the release, with the original as the truth.",
    "association": "How strongly two attributes go together (Cramér's V: 0 if they are unrelated, 1 if one determines the other).",
    "bucket": "Rows that are published together; which value of one column goes with which of another inside it is not told.",
    "broken": "Somebody's true value is believed more than the promise allows; without a promise, more than halfway from guessing to certainty.",
    "conditional": "Checked against somebody who knows the person's other sensitive values as well.",
    "control": "What the same attack gets right about people who are not in the data: general knowledge, not a leak.",
    "group": "Rows that somebody who knows the quasi-identifiers cannot tell apart.",
    "guessing": "What the best guess gets right without the release.",
    "interval": "Where the rate lies with 95 % confidence, if the people who were attacked are taken as a sample.",
    "k": "The fewest rows in a group.",
    "l": "The fewest sensitive values that stay possible in a group; its kind says how they are counted.",
    "quasi-identifier": "What an adversary may know about a person, such as age and home.",
    "sensitive": "What nobody may learn about a person.",
    "suppressed": "Left out of the release.",
    "t": "How far the shares of values in a group may be from those of the whole table.",
    "view": "A published table; a release has one or more.",
}
