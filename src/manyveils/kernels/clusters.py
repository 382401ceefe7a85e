"""Runs of sorted numbers that lie as near to their means as they can."""

import numpy as np

from manyveils.compiling import kernel


@kernel
def nearest_runs(numbers: np.ndarray, weights: np.ndarray, n_runs: int) -> np.ndarray:
    """Where each of so many runs of sorted numbers starts, so that their squared distances to their means add up to least.

    Claim: no other runs lie nearer to their means.
    Why: the best last run of more numbers starts no sooner than that of fewer, so of a span of ends the middle one
    tells where the starts of both halves lie, and no start is left out.
    Tested by: tests/claims/test_clusters.py
    """
    n = numbers.size
    held, sums, squares = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for place in range(n):
        held[place + 1] = held[place] + weights[place]
        sums[place + 1] = sums[place] + weights[place] * numbers[place]
        squares[place + 1] = squares[place] + weights[place] * numbers[place] ** 2
    # The least sum up to each end with one run less, and with as many; the first run has nothing before it.
    before, least = np.full(n + 1, np.inf), np.full(n + 1, np.inf)
    before[0] = 0.0
    last_start = np.zeros((n_runs, n + 1), np.int64)
    # Spans of ends that wait: from, to, and the starts between which theirs lie; each halving leaves one waiting.
    waiting = np.zeros((128, 4), np.int64)
    for run in range(n_runs):
        least[:] = np.inf
        waiting[0] = run + 1, n, run, n - 1
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            low, high, first, last = waiting[n_waiting]
            if low > high:
                continue
            end = (low + high) // 2
            for start in range(first, min(last, end - 1) + 1):
                held_here, sum_here = held[end] - held[start], sums[end] - sums[start]
                apart = before[start] + (squares[end] - squares[start]) - sum_here**2 / held_here
                if apart < least[end]:
                    least[end] = apart
                    last_start[run, end] = start
            waiting[n_waiting] = low, end - 1, first, last_start[run, end]
            waiting[n_waiting + 1] = end + 1, high, last_start[run, end], last
            n_waiting += 2
        before[:] = least
    starts, end = np.zeros(n_runs, np.int64), n
    for run in range(n_runs - 1, -1, -1):
        end = last_start[run, end]
        starts[run] = end
    return starts
