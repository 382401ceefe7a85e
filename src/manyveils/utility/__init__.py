"""What a release is still good for, measured from what it publishes and the original."""

from manyveils.utility.measures import MEASURES, Utility, measure

__all__ = ["MEASURES", "Utility", "measure"]
