"""Top cuts: the same whether counts come to the driver or stay where rows are."""

from dataclasses import replace

import pytest

from manyveils.datasets import hospital, hospital_policy
from manyveils.methods import method_of, read_options
from manyveils.spark.counts import Counts
from manyveils.spark.held import hold_there
from manyveils.spark.parts import cuts_of
from manyveils.spark.publish import job_of

WAYS = {
    "mondrian": ({"method": "generalize", "recoding": "mondrian"}, {"k": 4, "t": 0.5}),
    "slice": ({"method": "slice", "columns": 3}, {"l": 2, "l_kind": "frequency", "conditional": False}),
}
# Counts of one attribute in all parts fit, those of all quasi-identifiers together do not.
FEW_CELLS = 1200


@pytest.mark.parametrize("name", WAYS)
def test_both_ways_cut_alike(spark, monkeypatch, name):
    """Cut by cut, the same part is cut along the same column into the same sides."""
    monkeypatch.setenv("MANYVEILS_PART_ROWS", "60")
    publish, guarantee = WAYS[name]
    policy = hospital_policy().replaced(publish=publish, guarantee=guarantee)
    held = hold_there(spark.createDataFrame(hospital(n=300).to_arrow()).repartition(3), policy)
    job = job_of(held, policy, read_options(policy), seed=1, progress=lambda step, share: None)
    parts = method_of(policy).plan(job.work).parts
    asked, in_parts = [], Counts.in_parts

    def watched(counts, *arguments):
        asked.append(counts.most_cells)
        return in_parts(counts, *arguments)

    monkeypatch.setattr(Counts, "in_parts", watched)
    found = []
    for counts in (Counts(held), Counts(held, FEW_CELLS)):
        cuts = cuts_of(replace(job.work, counted=counts.of), parts, counts)
        found.append([(cut.part, cut.new, cut.column, cut.left.tolist()) for cut in cuts.each])
    assert found[0] == found[1]
    assert len(found[0]) > 3
    assert set(asked) == {FEW_CELLS}
