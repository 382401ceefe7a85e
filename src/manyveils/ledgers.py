"""Ledgers of releases: kept where one is published, started from one that is there, looked at, and forgotten in."""

from dataclasses import replace

import numpy as np

from manyveils.audits.chain import ledger_of
from manyveils.methods import method_of
from manyveils.policy import Policy
from manyveils.reading.chain import Chain, persons_hashed
from manyveils.release import Release
from manyveils.release.ledger import Ledger
from manyveils.release.seal import LEFT_OUT
from manyveils.table import Table


def keep_ledger(release: Release, table: Table, policy: Policy, chain: Chain | None) -> None:
    """Give a release its ledger, where the policy names persons and the method is one that can go on."""
    if table.keys is not None and method_of(policy).continues:
        release.ledger = made(release, table, policy, chain)


def made(release: Release, table: Table, policy: Policy, chain: Chain | None) -> Ledger:
    """The ledger of a release of some table: the first one of a chain, or one that goes on from others."""
    ledger = ledger_of(release, table, policy)
    if chain is not None:
        ledger = replace(ledger, key=chain.key, after=chain.links)
    left_out = [placement == LEFT_OUT for placement in release.placements.values()]
    rows = np.flatnonzero(np.any(left_out, axis=0)) if left_out else np.zeros(0, dtype=np.int64)
    persons = np.unique(rows if table.persons is None else table.persons[rows])
    if not persons.size:
        return ledger
    names = persons_hashed(table, ledger.key).gather(persons).drop_nulls()
    return replace(ledger, held_back=names.alias("person").to_frame())
