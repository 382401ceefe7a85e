"""The methods that pages offer: each by its name, or one of its variants, with the keys of [publish] that make it."""

from collections.abc import Mapping
from typing import Any

from manyveils.methods import METHODS, load

Keys = Mapping[str, Any]


def offered() -> dict[str, tuple[str, Keys]]:
    """Every way to publish by its name, as `compare --methods` has them."""
    ways: dict[str, tuple[str, Keys]] = {}
    for name in METHODS:
        method = load(name)
        ways[name] = (name, dict(method.promising))
        for variant, keys in method.variants.items():
            ways[f"{name}:{variant}"] = (name, {**method.promising, **keys})
    return ways


def chosen(publish: Keys) -> str:
    """The name of the way that a [publish] section comes closest to."""
    method = str(publish.get("method", METHODS[0]))
    fitting = [
        name
        for name, (of, keys) in offered().items()
        if of == method and all(publish.get(key) == value for key, value in keys.items())
    ]
    return fitting[-1] if fitting else method
