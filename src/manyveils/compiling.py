"""Kernels are compiled when they are called, and not when they are imported.

Loading the compiler takes longer than publishing a thousand rows.
So a kernel may say in NumPy what it computes, and few numbers are left to that until the compiler is worth its time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")
# Arrays of one call, and numbers of all calls, that take NumPy less time than it takes to load the compiler.
FEW = 1 << 12
BEARABLE = 1 << 20


@dataclass
class Effort:
    """How many numbers have been left to NumPy; once something was compiled, nothing is."""

    borne: int = 0

    def bears(self, arguments: tuple[object, ...], ease: int = 1) -> bool:
        """Whether one more call is left to NumPy, whom so many numbers take as long as one usually does."""
        largest = max(argument.size for argument in arguments if isinstance(argument, np.ndarray)) // ease
        self.borne += FEW // 16 // ease + largest if largest <= FEW else BEARABLE
        return self.borne < BEARABLE


EFFORT = Effort()


class Kernel(Generic[P, R]):
    """A function of arrays that is compiled at the first call that is worth it."""

    def __init__(self, function: Callable[P, R]) -> None:
        self._function = function
        self.few: Callable[P, R] | None = None
        self._ease = 1
        self._compiled: Any = None
        update_wrapper(self, function)

    def of_few(self, function: Callable[P, R]) -> Callable[P, R]:
        """Let this function, which has the same result, serve few numbers."""
        self.few = function
        return function

    def of_many(self, ease: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """The same for a function that is so many times as quick as most, and serves as many times more numbers."""
        self._ease = ease
        return self.of_few

    def __call__(self, *arguments: P.args, **named: P.kwargs) -> R:
        """The result, from NumPy if that is sooner."""
        if self._compiled is None and self.few is not None and EFFORT.bears(arguments, self._ease):
            return self.few(*arguments, **named)
        result: R = (self._compiled or self.compiled)(*arguments, **named)
        return result

    @property
    def compiled(self) -> Any:
        """The function as Numba compiles it, or finds it compiled."""
        if self._compiled is None:
            # Loaded only here: it is most of what starting takes.
            from numba import njit

            EFFORT.borne = BEARABLE
            self._compiled = njit(cache=True, nogil=True)(self._function)
        return self._compiled

    @property
    def _numba_type_(self) -> Any:
        # Numba asks for this where one kernel calls another.
        return self.compiled._numba_type_

    def __reduce__(self) -> str:
        return self._function.__qualname__


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Let a function be compiled when it is called."""
    return Kernel(function)
