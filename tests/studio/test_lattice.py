"""The lattice node by node: what it says of a node is what publishing at it comes to, and what plain counting gives."""

from collections import Counter
from itertools import product

import pytest

from manyveils.errors import InputError
from manyveils.run import publish
from manyveils.studio import document
from manyveils.studio.lattice import explore
from manyveils.studio.promises import with_promise
from manyveils.studio.workbench import open_workbench
from manyveils.table import hold
from manyveils.utility import measure
from tests.studio.test_workbench import ended


@pytest.fixture
def bench(table):
    """A workbench that promises k = 4 by full-domain recoding, with some suppression."""
    bench = open_workbench(table)
    text = document.with_method(bench.text, "generalize", {"recoding": "full-domain"})
    text = document.with_key(with_promise(text, "k", 4), "publish", "suppression", 0.05)
    bench.change(text)
    return bench


def labels_at(explorer, node):
    """The label of every row of every quasi-identifier, from the table."""
    table = explorer.work.table
    columns = []
    for name, level in zip(explorer.names, node, strict=True):
        step = table[name].levels[level]
        columns.append([step.labels[code] for code in step.label_of[table[name].codes]])
    return list(zip(*columns, strict=True))


def persons_of(bench):
    """Whose row each is."""
    persons = bench.people().persons
    return list(range(bench.frame.height)) if persons is None else persons.tolist()


def people_in(labels, persons):
    """How many people stand under each combination of labels."""
    return Counter(label for label, _ in set(zip(labels, persons, strict=True)))


def test_every_node_is_as_plain_counting_has_it(bench):
    """Groups, their smallest, and who breaks k are what counting labels by hand gives, at nodes of all heights."""
    explorer = explore(bench.frame, bench.policy())
    nodes = list(product(*map(range, explorer.shape)))
    for node in nodes[:: max(len(nodes) // 12, 1)]:
        labels = labels_at(explorer, node)
        sizes = people_in(labels, persons_of(bench))
        told = explorer.at(node)
        assert (told.n_groups, told.smallest) == (len(sizes), min(sizes.values()))
        persons = persons_of(bench)
        alike = [
            len({person for person, own in zip(persons, labels, strict=True) if own == label})
            for label in labels
        ]
        small = len({person for person, n in zip(persons, alike, strict=True) if n < 4})
        (k,) = (own for own in told.promises if own.promise.startswith("k-anonymity"))
        assert k.n_broken == small
        assert told.left_out >= small
        assert told.is_kept == (told.left_out <= told.limit and told.left_out < len(bench.frame))


def test_the_optimum_is_what_is_published(bench):
    """The levels that are found are those of a release, with its loss and its rows left out; no neighbour is better."""
    explorer = explore(bench.frame, bench.policy())
    levels = ended(bench.find_optimum()).result["levels"]
    node = tuple(levels[name] for name in explorer.names)
    told = explorer.at(node)
    policy = bench.policy()
    release = publish(None, policy, seed=1)
    assert release.notes["levels"] == levels
    assert told.is_kept
    assert told.left_out == release.suppressed
    table, _ = hold(None, policy)
    assert told.loss == pytest.approx(dict(measure(release, table, policy))["loss"])
    steps = explorer.neighbours(node)
    assert all(sum(abs(a - b) for a, b in zip(node, there, strict=True)) == 1 for _, there in steps)
    assert not any(own.is_kept and own.loss < told.loss for own in (explorer.at(there) for _, there in steps))


def test_a_method_without_levels_is_refused_with_a_change(bench):
    """Other methods have no lattice; the refusal carries the change that makes one."""
    bench.change(document.with_method(bench.text, "anatomize", {}))
    with pytest.raises(InputError) as refused:
        bench.explorer()
    (change,) = refused.value.problems[0].changes
    bench.change(document.with_change(bench.text, change))
    assert bench.explorer().shape


def test_the_lattice_is_made_once_for_a_text(bench):
    """Looking again costs nothing; another text has another lattice."""
    first = bench.explorer()
    assert bench.explorer() is first
    bench.change(with_promise(bench.text, "k", 3))
    assert bench.explorer() is not first
