"""Before a policy: what a table seems to hold, and a commented policy to start from."""

from manyveils.profiling.profile import Profile, profile

__all__ = ["Profile", "profile"]
