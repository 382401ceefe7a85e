"""The possible worlds of a release: all tables that its views, read together, may have been made from."""

from manyveils.attacks.worlds.combine import Combined, How, Limits, combined, worst
from manyveils.attacks.worlds.groups import Shared, Sighted, shared
from manyveils.attacks.worlds.kinds import TooMany
from manyveils.attacks.worlds.views import linked

__all__ = [
    "Combined",
    "How",
    "Limits",
    "Shared",
    "Sighted",
    "TooMany",
    "combined",
    "linked",
    "shared",
    "worst",
]
