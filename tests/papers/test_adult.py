"""Adult with ARX's hierarchies: the benchmark that k-anonymity tools are compared on."""

from pathlib import Path

import pytest

import manyveils as mv
from benchmarks.optimum import exhaustive
from manyveils.methods.generalize.lattice import lattice_of
from manyveils.methods.generalize.objectives import OBJECTIVES
from manyveils.promises.keeping import watch
from manyveils.table import hold, resolve

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "arx-adult"
QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the Adult data are not beside the project (../shared/data)"
)


def adult(guarantee, publish, sensitive=()):
    """A policy for Adult: eight quasi-identifiers, the rest sensitive or neutral."""
    names = [*QUASI, "salary-class"]
    roles = {
        name: "sensitive" if name in sensitive else ("neutral" if name == "salary-class" else "quasi")
        for name in names
    }
    files = {name: {"file": str(FOLDER / f"adult_hierarchy_{name}.csv")} for name in names}
    return mv.Policy(
        attributes={name: {"role": roles[name], "hierarchy": files[name]} for name in names},
        guarantee=guarantee,
        publish=publish,
    )


@pytest.fixture(scope="module")
def data():
    """The path of the complete rows of Adult."""
    return FOLDER / "adult.csv"


def test_discernibility_is_the_exhaustive_optimum(data):
    """With k = 5 and 2 % suppression the published discernibility is the lowest of all 6,480 nodes."""
    policy = adult({"k": 5}, {"method": "generalize", "suppression": 0.02, "objective": "discernibility"})
    release = mv.publish(data, policy)
    table, _ = hold(data, policy)
    watches = watch(resolve(policy, table), table, ())
    columns = tuple(table[name] for name in QUASI)
    lattice = lattice_of(columns, table, watches)
    assert release.notes["nodes"] == 6480
    best = exhaustive(lattice, OBJECTIVES["discernibility"](lattice), watches, 603)
    assert mv.measure(release, data, policy)["discernibility"] == best == release.notes["cost"]


def test_full_domain_granularity_is_arx_like(data):
    """The optimal loss with 2 % suppression gives the granularity the best Java tool reports, 0.669."""
    policy = adult({"k": 5}, {"method": "generalize", "suppression": 0.02})
    assert mv.measure(mv.publish(data, policy), data, policy)["granularity"] == pytest.approx(
        0.669, abs=0.0005
    )


@pytest.mark.parametrize(("labels", "least"), [("sets", 0.975), ("hierarchy", 0.943)])
def test_mondrian_granularity(data, labels, least):
    """Mondrian with k = 5 and no suppression keeps at least the granularity that local recoding reaches."""
    policy = adult({"k": 5}, {"method": "generalize", "recoding": "mondrian", "labels": labels})
    release = mv.publish(data, policy, seed=1)
    assert release.suppressed == 0
    assert mv.measure(release, data, policy)["granularity"] >= least


def test_marginal_promises_leave_certain_values(data):
    """L = 3 and l = 2 on two sensitive attributes hold, and someone who knows one is still certain of the other."""
    policy = adult(
        {"k": 5, "l": 2},
        {"method": "generalize", "suppression": 0.02},
        sensitive=("occupation", "salary-class"),
    )
    audit = mv.audit(mv.publish(data, policy), data, policy)
    assert audit.kept
    known = [
        finding for finding in audit.findings if finding.reading == "conditional" and not finding.promised
    ]
    assert {finding.attribute for finding in known} == {"occupation", "salary-class"}
    assert all(finding.measured == 1 and finding.rows_short > 0 for finding in known)


def test_conditional_promises_do_not(data):
    """The same with conditional = true leaves nobody certain."""
    policy = adult(
        {"k": 5, "l": 2, "conditional": True},
        {"method": "generalize", "suppression": 0.02},
        sensitive=("occupation", "salary-class"),
    )
    audit = mv.audit(mv.publish(data, policy), data, policy)
    assert audit.kept
    assert min(finding.measured for finding in audit.findings if finding.reading == "conditional") >= 2
