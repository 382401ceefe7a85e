"""What charts draw of a release: sizes of groups, shares of values and associations, with the original or without."""

from manyveils.utility.portrait.portrait import Portrait, portrait, public_portrait

__all__ = ["Portrait", "portrait", "public_portrait"]
