"""The possible worlds of a release: all tables that its views, read together, may have been made from."""

from manyveils.attacks.worlds.combine import Combined, combined
from manyveils.attacks.worlds.solve import How, Limits

__all__ = ["Combined", "How", "Limits", "combined"]
