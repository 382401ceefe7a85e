"""What is promised: attributes and roles, guarantees, hierarchies, and reading them with all problems at once."""

from manyveils.policy.guarantees import Guarantee
from manyveils.policy.model import Policy
from manyveils.policy.promise import Promise
from manyveils.policy.promises import promises_of

__all__ = ["Guarantee", "Policy", "Promise", "promises_of"]
