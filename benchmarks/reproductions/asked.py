"""Which experiments of a reproduction are asked for, and how long each takes."""

import argparse
import sys
from collections.abc import Callable, Iterable
from time import perf_counter


def asked_for(description: str | None, names: Iterable[str]) -> list[str]:
    """The experiment that --only names, or all of them."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", choices=tuple(names), help="one experiment")
    only = parser.parse_args().only
    return [only] if only else list(names)


def timed(name: str, experiment: Callable[[], None]) -> None:
    """Run an experiment, and tell how long it took."""
    start = perf_counter()
    experiment()
    print(f"{name}: {perf_counter() - start:.0f} s", file=sys.stderr)
