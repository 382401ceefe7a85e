"""Numbers that only the holder of a key can tell: a permutation that needs no list of itself, and a hash."""

import hashlib
from collections.abc import Sequence

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


def keyed_hash(words: Sequence[Numbers], key: bytes) -> Numbers:
    """A number of 64 bits for the words of every row, which nobody tells without the key of 16 bytes (SipHash-2-4).

    >>> hex(keyed_hash([np.array([0x0706050403020100])], bytes(range(16))).view(np.uint64)[0])
    '0x93f5f5799a932462'
    """
    halves = [np.uint64(int.from_bytes(key[start : start + 8], "little")) for start in (0, 8)]
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    n_rows = len(words[0])
    state = [np.full(n_rows, np.uint64(start) ^ halves[n % 2]) for n, start in enumerate(constants)]
    length = np.full(n_rows, (8 * len(words) % 256) << 56, dtype=np.uint64)
    for word in (*(numbers.view(np.uint64) for numbers in words), length):
        state[3] ^= word
        _sip(state, 2)
        state[0] ^= word
    state[2] ^= np.uint64(0xFF)
    _sip(state, 4)
    return (state[0] ^ state[1] ^ state[2] ^ state[3]).view(np.int64)


def _sip(state: list[NDArray[np.uint64]], rounds: int) -> None:
    """Mix four numbers of each row, in place."""
    a, b, c, d = state
    for _ in range(rounds):
        for first, second, turned, by in ((a, b, a, 13), (c, d, None, 16), (a, d, None, 21), (c, b, c, 17)):
            first += second
            _turn(second, by)
            second ^= first
            if turned is not None:
                _turn(turned, 32)


def _turn(values: NDArray[np.uint64], bits: int) -> None:
    """Rotate to the left."""
    high = values >> np.uint64(64 - bits)
    values <<= np.uint64(bits)
    values |= high
