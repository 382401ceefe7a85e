"""Single steps of a publication, so that each can be timed by itself."""

from functools import partial

from benchmarks.clock import best
from manyveils import Policy, Release
from manyveils.methods import Made, Work, method_of, read_options
from manyveils.release import seal
from manyveils.table import Restore, Streams, Table, resolve

SEED = 1


def work_of(policy: Policy, table: Table) -> Work:
    """What the policy's method is given."""
    return Work(policy, table, resolve(policy, table), read_options(policy), Streams(SEED))


def time_method(policy: Policy, table: Table, *, repetitions: int = 5) -> tuple[float, Made]:
    """Seconds of the method alone, and what it made; the table is in memory and coded already."""
    return best(partial(method_of(policy).make, work_of(policy, table)), repetitions=repetitions)


def sealed(made: Made, table: Table, policy: Policy, restore: Restore) -> Release:
    """The release in memory, sorted and listed."""
    rng = Streams(SEED).of("seal.buckets")
    return seal(made.drafts, table, policy, restore, notes=made.notes, rng=rng)
