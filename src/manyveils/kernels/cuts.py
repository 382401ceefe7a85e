"""Where to cut groups of rows in two, and cutting them.

Attributes come in three styles, which say what a group of values loses:
a range loses its span, a set its members beyond the first, a label what it covers in the hierarchy.
"""

import numpy as np

from manyveils.compiling import kernel

RANGE, SET, LABEL = 0, 1, 2
NO_CUT = -1


@kernel
def _run_loss(style: int, n_members: int, low: float, high: float, has_missing: bool, whole: float) -> float:
    """What a run of values loses; numbers together with a missing value lose everything."""
    if n_members <= 1:
        return 0.0
    if style == SET:
        return (n_members - 1) / whole if whole > 0 else 0.0
    if has_missing:
        return 1.0
    return (high - low) / whole if whole > 0 else 0.0


@kernel
def _runs(
    codes: np.ndarray,
    rows: np.ndarray,
    start: int,
    stop: int,
    hist: np.ndarray,
    seen: np.ndarray,
    counts: np.ndarray,
) -> int:
    """How many different codes a segment has; `seen` gets them in order, and `counts` how often each stands there.

    `hist` is left as zeros.
    """
    low, high = codes[rows[start]], codes[rows[start]]
    for index in range(start, stop):
        code = codes[rows[index]]
        low, high = min(low, code), max(high, code)
        hist[code] += 1
    n_rows = stop - start
    n_seen = 0
    if high - low <= 8 * n_rows:
        for code in range(low, high + 1):
            if hist[code] > 0:
                seen[n_seen] = code
                n_seen += 1
    else:
        for code in np.sort(codes[rows[start:stop]]):
            if n_seen == 0 or seen[n_seen - 1] != code:
                seen[n_seen] = code
                n_seen += 1
    for i in range(n_seen):
        counts[i] = hist[seen[i]]
        hist[seen[i]] = 0
    return n_seen


@kernel
def _loss_between(
    seen: np.ndarray, first: int, last: int, style: int, numbers: np.ndarray, missing: int, whole: float
) -> float:
    """What the codes from `first` to `last` lose as one group."""
    has_missing = seen[last] == missing
    top = last - 1 if has_missing and last > first else last
    return _run_loss(style, last - first + 1, numbers[seen[first]], numbers[seen[top]], has_missing, whole)


@kernel
def _cut_runs(
    seen: np.ndarray,
    counts: np.ndarray,
    n_rows: int,
    least: int,
    relaxed: bool,
    style: int,
    numbers: np.ndarray,
    missing: int,
    whole: float,
) -> tuple[float, int, int]:
    """A cut that leaves `least` rows on both sides: gain, last code on the left, rows on the left.

    The cut between two values nearest to the middle; where there is none and equal values may be parted,
    the one that leaves as few rows as allowed on one side.
    """
    last = seen.size - 1
    if last < 1:
        return 0.0, NO_CUT, 0
    middle, nearest, taken, before = -1, n_rows + 1, 0, 0
    for i in range(seen.size):
        before += counts[i]
        off = abs(2 * before - n_rows)
        if before >= least and n_rows - before >= least and off < nearest:
            middle, nearest, taken = i, off, before
    if middle < 0 and not relaxed:
        return 0.0, NO_CUT, 0
    takes = (taken, taken) if middle >= 0 else (least, n_rows - least)
    lost = n_rows * _loss_between(seen, 0, last, style, numbers, missing, whole)
    best, best_cut, best_take = 0.0, NO_CUT, 0
    for take in takes:
        cut, before = 0, counts[0]
        while before < take:
            cut += 1
            before += counts[cut]
        right = cut + 1 if before == take else cut
        gain = lost - take * _loss_between(seen, 0, cut, style, numbers, missing, whole)
        gain -= (n_rows - take) * _loss_between(seen, right, last, style, numbers, missing, whole)
        if gain > best:
            best, best_cut, best_take = gain, seen[cut], take
    return best, best_cut, best_take


@kernel
def _common_level(seen: np.ndarray, labels: np.ndarray, starts: np.ndarray, n_levels: int) -> int:
    """The lowest level at which all codes share one label."""
    for level in range(1, n_levels - 1):
        first, same = labels[starts[level] + seen[0]], True
        for code in seen:
            if labels[starts[level] + code] != first:
                same = False
                break
        if same:
            return level
    return n_levels - 1


@kernel
def _cut_labels(
    seen: np.ndarray,
    counts: np.ndarray,
    n_rows: int,
    least: int,
    relaxed: bool,
    labels: np.ndarray,
    starts: np.ndarray,
    losses: np.ndarray,
    loss_starts: np.ndarray,
    n_levels: int,
    tally: np.ndarray,
) -> tuple[float, int, int, int]:
    """The child label whose rows gain most by standing apart: gain, level, label, rows taken; `tally` is left as zeros."""
    if seen.size < 2:
        return 0.0, 0, NO_CUT, 0
    level = _common_level(seen, labels, starts, n_levels)
    lost = losses[loss_starts[level] + labels[starts[level] + seen[0]]]
    below = level - 1
    children = np.empty(seen.size, np.int64)
    n_children = 0
    for i in range(seen.size):
        child = labels[starts[below] + seen[i]]
        if tally[child] == 0:
            children[n_children] = child
            n_children += 1
        tally[child] += counts[i]
    best, best_label, best_take = 0.0, NO_CUT, 0
    for i in range(n_children):
        child = children[i]
        take = tally[child]
        if take < least:
            continue
        if n_rows - take < least:
            if not relaxed:
                continue
            take = n_rows - least
        gain = take * (lost - losses[loss_starts[below] + child])
        if n_children == 2 and take == tally[child]:
            gain += (n_rows - take) * (lost - losses[loss_starts[below] + children[1 - i]])
        if gain > best:
            best, best_label, best_take = gain, child, take
    for i in range(n_children):
        tally[children[i]] = 0
    return best, below, best_label, best_take


@kernel
def best_cut(
    seen: np.ndarray,
    counts: np.ndarray,
    a: int,
    tally: np.ndarray,
    least: int,
    relaxed: bool,
    styles: np.ndarray,
    numbers: np.ndarray,
    number_starts: np.ndarray,
    missing: np.ndarray,
    wholes: np.ndarray,
    labels: np.ndarray,
    label_starts: np.ndarray,
    losses: np.ndarray,
    loss_starts: np.ndarray,
    n_levels: np.ndarray,
) -> tuple[float, int, int, int]:
    """The best cut of a group along attribute `a`, of which it has the codes `seen`, as often as `counts` says.

    Gain, level (-1 for runs), code or label, rows on the left; `tally` is left as zeros.
    """
    n_rows = counts.sum()
    if styles[a] == LABEL:
        return _cut_labels(
            seen,
            counts,
            n_rows,
            least,
            relaxed,
            labels,
            label_starts[a],
            losses,
            loss_starts[a],
            n_levels[a],
            tally,
        )
    gain, cut, take = _cut_runs(
        seen,
        counts,
        n_rows,
        least,
        relaxed,
        styles[a],
        numbers[number_starts[a] :],
        missing[a],
        wholes[a],
    )
    return gain, -1, cut, take


@kernel
def propose(
    codes: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    least: int,
    relaxed: bool,
    styles: np.ndarray,
    numbers: np.ndarray,
    number_starts: np.ndarray,
    missing: np.ndarray,
    wholes: np.ndarray,
    labels: np.ndarray,
    label_starts: np.ndarray,
    losses: np.ndarray,
    loss_starts: np.ndarray,
    n_levels: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For every segment and attribute the best cut: gain, level (-1 for runs), code or label, rows on the left."""
    n_attributes, n_segments = codes.shape[0], starts.size
    gains = np.zeros((n_segments, n_attributes))
    levels = np.full((n_segments, n_attributes), -1, np.int64)
    cuts = np.full((n_segments, n_attributes), NO_CUT, np.int64)
    takes = np.zeros((n_segments, n_attributes), np.int64)
    hist = np.zeros(numbers.size + 1, np.int64)
    tally = np.zeros(numbers.size + 1, np.int64)
    # One place to write to for all segments: most are small, and asking for memory would take longer than cutting.
    seen, counts = np.empty(numbers.size + 1, np.int64), np.empty(numbers.size + 1, np.int64)
    for segment in range(n_segments):
        n_rows = stops[segment] - starts[segment]
        if n_rows < 2 * least:
            continue
        for a in range(n_attributes):
            n_seen = _runs(codes[a], rows, starts[segment], stops[segment], hist, seen, counts)
            gain, level, cut, take = best_cut(
                seen[:n_seen],
                counts[:n_seen],
                a,
                tally,
                least,
                relaxed,
                styles,
                numbers,
                number_starts,
                missing,
                wholes,
                labels,
                label_starts,
                losses,
                loss_starts,
                n_levels,
            )
            gains[segment, a], levels[segment, a], cuts[segment, a], takes[segment, a] = (
                gain,
                level,
                cut,
                take,
            )
    return gains, levels, cuts, takes


@kernel
def divide(
    codes: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    stops: np.ndarray,
    chosen: np.ndarray,
    levels: np.ndarray,
    cuts: np.ndarray,
    takes: np.ndarray,
    labels: np.ndarray,
    label_starts: np.ndarray,
    relaxed: bool,
) -> None:
    """Reorder every segment of `rows` in place so that its left part comes first, both parts in their old order.

    Equal values are parted only where cuts are `relaxed`; then as many go left as the part has left to take.
    """
    longest = 0
    for segment in range(starts.size):
        longest = max(longest, stops[segment] - starts[segment] - takes[segment])
    right = np.empty(longest, rows.dtype)
    for segment in range(starts.size):
        a, cut, quota = chosen[segment], cuts[segment], takes[segment]
        if relaxed and levels[segment] < 0:
            for index in range(starts[segment], stops[segment]):
                quota -= codes[a, rows[index]] < cut
        left, n_right = starts[segment], 0
        for index in range(starts[segment], stops[segment]):
            row = rows[index]
            code = codes[a, row]
            if levels[segment] < 0:
                goes, uses = code <= cut, code == cut
            else:
                goes = labels[label_starts[a, levels[segment]] + code] == cut
                uses = goes
            if relaxed and goes and uses:
                goes = quota > 0
                quota -= goes
            if goes:
                rows[left] = row
                left += 1
            else:
                right[n_right] = row
                n_right += 1
        rows[left : left + n_right] = right[:n_right]
