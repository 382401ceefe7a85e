"""Numbers in another order, which only the holder of the key can tell: a permutation that needs no list of itself."""

import hashlib

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
ROUNDS = 6


def scrambled(numbers: Numbers, n: int, key: bytes) -> Numbers:
    """Each number below n as another one below n, no two as the same (a Feistel network; numbers beyond n walk on).

    >>> found = scrambled(np.arange(1000), 1000, b"key")
    >>> bool((np.sort(found) == np.arange(1000)).all()), bool((found == np.arange(1000)).all())
    (True, False)
    """
    bits = max((int(n - 1).bit_length() + 1) // 2, 1)
    result = numbers.astype(np.uint64)
    outside = np.ones(result.size, dtype=bool)
    while outside.any():
        result[outside] = _once(result[outside], bits, key)
        outside = result >= np.uint64(n)
    return result.astype(np.int64)


def _once(numbers: NDArray[np.uint64], bits: int, key: bytes) -> NDArray[np.uint64]:
    mask = np.uint64((1 << bits) - 1)
    left, right = numbers >> np.uint64(bits), numbers & mask
    for turn in range(ROUNDS):
        left, right = right, left ^ (_mixed(right, _word(key, turn)) & mask)
    return (left << np.uint64(bits)) | right


def _word(key: bytes, turn: int) -> np.uint64:
    digest = hashlib.blake2b(bytes([turn]), key=key[:64], digest_size=8).digest()
    return np.uint64(int.from_bytes(digest, "big"))


def _mixed(values: NDArray[np.uint64], word: np.uint64) -> NDArray[np.uint64]:
    """The finalizer of splitmix64 on the value and the key."""
    with np.errstate(over="ignore"):
        mixed = (values + word) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30)) ^ word) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
