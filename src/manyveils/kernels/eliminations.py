"""Find values of other attributes whose exclusion leaves one value of a protected attribute only."""

import numpy as np

from manyveils.compiling import kernel
from manyveils.kernels.differences import find_difference

NO_LEAK = -1
NOBODY = -1


@kernel
def _left(
    codes: np.ndarray,
    rows: np.ndarray,
    subject: int,
    attributes: np.ndarray,
    values: np.ndarray,
    n_ruled: int,
) -> tuple[int, int]:
    """The first row that nothing ruled out concerns, and the first such row with another value; -1 for none."""
    first = NOBODY
    for row in rows:
        is_out = False
        for step in range(n_ruled):
            if codes[attributes[step], row] == values[step]:
                is_out = True
                break
        if is_out:
            continue
        if first == NOBODY:
            first = row
        elif codes[subject, row] != codes[subject, first]:
            return first, row
    return first, NOBODY


@kernel
def find_leak(
    codes: np.ndarray,
    rows: np.ndarray,
    subject: int,
    others: np.ndarray,
    absences: np.ndarray,
    harmless: np.ndarray,
    most: int,
    attributes: np.ndarray,
    values: np.ndarray,
) -> int:
    """How many values, at most `most`, must be ruled out so that one value of the subject is left; -1 if they never do.

    What is ruled out is written to `attributes` and `values`; nobody rules out the code `absences[attribute]`.

    Claim: a leak is found whenever there is one.
    Why: of two rows that differ in the subject one at least must go, so one of their values must be ruled out,
    and every such value is tried, to the depth of `most`.
    Tested by: tests/claims/test_eliminations.py
    """
    is_harmful = False
    for row in rows:
        if not harmless[codes[subject, row]]:
            is_harmful = True
            break
    if not is_harmful:
        return NO_LEAK
    first, second = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    tried = np.zeros(most + 1, np.int64)
    depth = 0
    first[0], second[0] = _left(codes, rows, subject, attributes, values, 0)
    while depth >= 0:
        if first[depth] != NOBODY and second[depth] == NOBODY and not harmless[codes[subject, first[depth]]]:
            return depth
        stuck = first[depth] == NOBODY or second[depth] == NOBODY or depth == most
        if stuck or tried[depth] == 2 * others.size:
            depth -= 1
            continue
        turn = tried[depth]
        tried[depth] += 1
        attribute = others[turn % others.size]
        value = codes[attribute, first[depth]]
        if turn >= others.size:
            if codes[attribute, second[depth]] == value:
                continue
            value = codes[attribute, second[depth]]
        if value == absences[attribute]:
            continue
        attributes[depth], values[depth] = attribute, value
        depth += 1
        tried[depth] = 0
        first[depth], second[depth] = _left(codes, rows, subject, attributes, values, depth)
    return NO_LEAK


@kernel
def withstand(
    codes: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    subject: int,
    others: np.ndarray,
    absences: np.ndarray,
    harmless: np.ndarray,
    most: int,
) -> np.ndarray:
    """Which groups leak nothing of one attribute; group g is `rows[starts[g]:starts[g + 1]]`."""
    attributes, values = np.empty(most + 1, np.int64), np.empty(most + 1, np.int64)
    withstands = np.empty(starts.size - 1, np.bool_)
    for group in range(starts.size - 1):
        members = rows[starts[group] : starts[group + 1]]
        leak = find_leak(codes, members, subject, others, absences, harmless, most, attributes, values)
        withstands[group] = leak == NO_LEAK
    return withstands


@kernel
def _covering(originals: np.ndarray, rows: np.ndarray, subject: int, parents: np.ndarray, label: int) -> int:
    """The first label above under which the group has two different values; the parent if there is none."""
    target = parents[label]
    while target != NOBODY:
        first = NOBODY
        for row in rows:
            above = parents[originals[subject, row]]
            while above != NOBODY and above != target:
                above = parents[above]
            if above == NOBODY:
                continue
            if first == NOBODY:
                first = originals[subject, row]
            elif originals[subject, row] != first:
                return target
        target = parents[target]
    return parents[label]


@kernel
def _raise_half(
    labels: np.ndarray,
    originals: np.ndarray,
    rows: np.ndarray,
    subject: int,
    parents: np.ndarray,
    covering: bool,
    attributes: np.ndarray,
    values: np.ndarray,
    n_ruled: int,
    lone: int,
) -> int:
    """Replace half of what is left, rounded up, by a label above; returns how many, 0 where it cannot be parted.

    With a `lone` label, only rows with it are taken for what is left.
    """
    left = np.empty(rows.size, np.int64)
    n_left = 0
    for row in rows:
        is_out = False
        for step in range(n_ruled):
            if labels[attributes[step], row] == values[step]:
                is_out = True
                break
        if not is_out and (lone == NOBODY or labels[subject, row] == lone):
            left[n_left] = row
            n_left += 1
    if n_left < 2 or parents[labels[subject, left[0]]] == NOBODY:
        return 0
    # All that is left has the same label.
    target = parents[labels[subject, left[0]]]
    if covering:
        target = _covering(originals, rows, subject, parents, labels[subject, left[0]])
    n_raised = (n_left + 1) // 2
    for index in range(n_raised):
        labels[subject, left[index]] = target
    return n_raised


@kernel
def mend(
    labels: np.ndarray,
    originals: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    subjects: np.ndarray,
    others: np.ndarray,
    n_others: np.ndarray,
    absences: np.ndarray,
    most: np.ndarray,
    harmless: np.ndarray,
    parents: np.ndarray,
    covering: bool,
    by_difference: np.ndarray,
) -> np.ndarray:
    """Raise sensitive labels, in place, until nothing leaks; tells in which groups that is possible.

    Promise p is about attribute `subjects[p]`: someone rules out up to `most[p]` values of the attributes
    `others[p, :n_others[p]]`. A label without a parent in `parents[p]` cannot be raised.
    With `covering`, it climbs to the first label under which the group has two of the `originals`.
    Where `by_difference[p]`, a leak is what the paper calls one: all values but one stand beside the value ruled out.

    Claim: it ends, and a group it calls mended keeps every promise.
    Why: every raise moves labels up, and no label moves down; a group is left only after all promises were found
    to hold one after another with nothing raised in between.
    Tested by: tests/claims/test_alpha_beta_k.py
    """
    deepest = most.max() + 1 if most.size else 1
    attributes, values = np.empty(deepest, np.int64), np.empty(deepest, np.int64)
    mended, once = np.ones(starts.size - 1, np.bool_), np.ones(labels.shape[1], np.int64)
    for group in range(starts.size - 1):
        members = rows[starts[group] : starts[group + 1]]
        promise, n_fine = 0, 0
        # Raising a label for one promise may break another, so all are asked again until all are fine in a row.
        while n_fine < subjects.size:
            subject, ruled_out = subjects[promise], others[promise, : n_others[promise]]
            lone = NOBODY
            if by_difference[promise]:
                lone = find_difference(
                    labels, once, members, subject, ruled_out, harmless[promise], attributes, values
                )
                leak = NO_LEAK if lone == NOBODY else 1
            else:
                leak = find_leak(
                    labels,
                    members,
                    subject,
                    ruled_out,
                    absences,
                    harmless[promise],
                    most[promise],
                    attributes,
                    values,
                )
            if leak == NO_LEAK:
                n_fine += 1
                promise = (promise + 1) % subjects.size
                continue
            n_fine = 0
            n_raised = _raise_half(
                labels,
                originals,
                members,
                subjects[promise],
                parents[promise],
                covering,
                attributes,
                values,
                leak,
                lone,
            )
            if n_raised == 0:
                mended[group] = False
                break
    return mended
