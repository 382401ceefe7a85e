"""Several ways to publish the same data side by side: which keeps what, what it gives away, what it is good for."""

from manyveils.comparing.ask import compare
from manyveils.comparing.comparison import Comparison

__all__ = ["Comparison", "compare"]
