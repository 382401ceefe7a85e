"""What attacks are called by people who do not know their names."""

from collections.abc import Sequence

WORDS = {
    "linkage": "looking for a person's row by what is known of her",
    "homogeneity": "finding a person's group and seeing what all in it share",
    "skewness": "finding that a value is much more common in a person's group than among all",
    "similarity": "finding that all values of a person's group are of one kind",
    "elimination": "ruling out values that a person is known not to have",
    "background-join": "knowing a person's other sensitive values",
    "intersection": "putting together several sensitive values of a person",
    "proximity": "finding that numbers of a person's group lie close together",
    "divergence": "taking a group's values for those of each of its people",
    "membership": "telling whether a person is in the data at all",
    "minimality": "asking why the release was made coarser here and not there",
    "de-finetti": "learning patterns from the release itself",
    "dependency": "knowing what follows from what",
    "alias-frequency": "guessing what codes stand for by how common they are",
    "known-pairs": "knowing what some codes stand for",
    "counting-grades": "guessing what grades stand for by counting them",
    "quantile-matching": "guessing numbers behind grades by their order",
    "sequential": "laying several releases of the same people side by side",
}


def in_words(names: Sequence[str]) -> str:
    """Attacks in plain words, each with its name.

    >>> in_words(["linkage"])
    "looking for a person's row by what is known of her (linkage)"
    """
    return "; ".join(f"{WORDS[name]} ({name})" if name in WORDS else name for name in names)
