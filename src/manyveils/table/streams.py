"""Named random streams: the same seed gives the same numbers to the same purpose on any machine."""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from functools import partial

import numpy as np


@dataclass(frozen=True, repr=False)
class Streams:
    """A source of random streams; without a seed, from the operating system's randomness."""

    seed: int = field(default_factory=partial(secrets.randbits, 128))

    def of(self, purpose: str) -> np.random.Generator:
        """The stream for one purpose, independent of every other.

        >>> Streams(7).of("deal").integers(100) == Streams(7).of("deal").integers(100)
        np.True_
        """
        word = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:16], "big")
        return np.random.Generator(np.random.PCG64(np.random.SeedSequence([self.seed, word])))

    def secret(self, purpose: str) -> bytes:
        """Thirty-two bytes for one purpose, which tell nothing of those for another.

        >>> Streams(7).secret("code") == Streams(7).secret("code") != Streams(8).secret("code")
        True
        """
        return hmac.digest(str(self.seed).encode(), purpose.encode(), "sha256")

    def apart(self, part: str) -> "Streams":
        """Streams for one part of the work, independent of those of every other part.

        >>> Streams(7).apart("one").of("deal").random() == Streams(7).apart("two").of("deal").random()
        False
        """
        return Streams(int.from_bytes(hashlib.sha256(f"{self.seed} {part}".encode()).digest()[:16], "big"))

    def __repr__(self) -> str:
        return "<Streams>"
