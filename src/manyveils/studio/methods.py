"""The methods that pages offer: each by its name, or one of its variants, with the keys of [publish] that make it."""

from collections.abc import Mapping
from typing import Any

from manyveils.comparing.configurations import usual_names
from manyveils.methods import METHODS, load
from manyveils.studio.document import sections_of

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


def chosen_in(text: str) -> str:
    """The name of the way that a policy's text publishes by."""
    publish = sections_of(text).get("publish")
    return chosen(publish if isinstance(publish, Mapping) else {})


def usual(sections: Keys) -> list[str]:
    """The ways that `compare` tries by itself, the policy's own first."""
    own = chosen(sections.get("publish", {}))
    return [own, *(name for name in usual_names() if name != own and name in offered())]
