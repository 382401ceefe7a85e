"""Single steps of a publication, so that each can be timed by itself."""

from functools import partial

from benchmarks.clock import best
from manyveils import Policy, Release, methods
from manyveils.methods import Work, drafts_of, method_of
from manyveils.release import Drafts, seal
from manyveils.table import Restore, Streams, Table

SEED = 1


def work_of(policy: Policy, table: Table) -> Work:
    """What the policy's method is given."""
    return methods.work_of(policy, table, Streams(SEED))


def make(policy: Policy, work: Work) -> Drafts:
    """The plan of the policy's method, carried out."""
    return drafts_of(work, method_of(policy).plan(work))


def time_method(policy: Policy, table: Table, *, repetitions: int = 5) -> tuple[float, Drafts]:
    """Seconds of the method alone, and what it made; the table is in memory and coded already."""
    return best(partial(make, policy, work_of(policy, table)), repetitions=repetitions)


def sealed(made: Drafts, table: Table, policy: Policy, restore: Restore) -> Release:
    """The release in memory, sorted and listed."""
    rng = Streams(SEED).of("seal.buckets")
    return seal(made.views, table, policy, restore, notes=made.notes, rng=rng)
