"""The paper's α: how many values of an attribute do not stand beside a value of another one that occurs more than once."""

import numpy as np

from manyveils.compiling import kernel

NO_LEAK = -1


@kernel
def find_difference(
    codes: np.ndarray,
    times: np.ndarray,
    rows: np.ndarray,
    subject: int,
    others: np.ndarray,
    harmless: np.ndarray,
    attributes: np.ndarray,
    values: np.ndarray,
) -> int:
    """The one value of the subject that does not stand beside some value of another attribute; -1 if there is none.

    Row r counts `times[r]` times. The other value occurs more than once; it is written to `attributes` and `values`.

    Claim: a value is found whenever α = nS - nS' is 1 for some value of some other attribute.
    Why: sorted pairs of the other value and the subject's list every nS' once.
    Tested by: tests/claims/test_differences.py
    """
    subjects = codes[subject][rows]
    own = np.unique(subjects)
    n_codes = np.int64(own[own.size - 1]) + 1
    for other in others:
        pairs = codes[other][rows] * n_codes + subjects
        order = np.argsort(pairs)
        first = 0
        while first < order.size:
            value, n_rows, n_beside = pairs[order[first]] // n_codes, 0, 0
            last, before = first, -1
            while last < order.size and pairs[order[last]] // n_codes == value:
                pair = pairs[order[last]]
                n_rows += times[rows[order[last]]]
                n_beside += pair != before
                before = pair
                last += 1
            if n_rows > 1 and own.size - n_beside == 1:
                missing = own[own.size - 1]
                beside = np.unique(pairs[order[first:last]] % n_codes)
                for place in range(beside.size):
                    if beside[place] != own[place]:
                        missing = own[place]
                        break
                if not harmless[missing]:
                    attributes[0], values[0] = other, value
                    return missing
            first = last
    return NO_LEAK


@kernel
def no_difference_of_one(
    codes: np.ndarray,
    times: np.ndarray,
    starts: np.ndarray,
    subject: int,
    others: np.ndarray,
    harmless: np.ndarray,
) -> np.ndarray:
    """In which groups α is never 1; group g is the rows from `starts[g]` to `starts[g + 1]`."""
    attributes, values = np.empty(1, np.int64), np.empty(1, np.int64)
    fine = np.empty(starts.size - 1, np.bool_)
    for group in range(starts.size - 1):
        members = np.arange(starts[group], starts[group + 1])
        lone = find_difference(codes, times, members, subject, others, harmless, attributes, values)
        fine[group] = lone == NO_LEAK
    return fine
