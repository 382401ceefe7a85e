"""Rows of beliefs that hold only what is believed say what full rows say."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from manyveils.attacks.sparse_rows import Rows, normalized, stacked

N_VALUES = 4
beliefs = st.sampled_from([0.0, 0.0, 0.125, 0.25, 0.5])
matrices = st.integers(1, 5).flatmap(lambda n: arrays(np.float64, (n, N_VALUES), elements=beliefs))


@given(matrices, st.permutations(range(N_VALUES)))
def test_rows_say_what_full_ones_say(full, order):
    """Single beliefs, sums, the strongest, and how many are as strong are those of the full rows."""
    rows = Rows.of(full)
    cases, values = (axis.ravel() for axis in np.indices(full.shape))
    assert rows.at(cases, values).tolist() == full.ravel().tolist()
    assert rows.totals().tolist() == full.sum(axis=1).tolist()
    assert rows.greatest().tolist() == full.max(axis=1).tolist()
    for n in (1, 2, N_VALUES + 1):
        ranked = np.pad(-np.sort(-full, axis=1), ((0, 0), (0, N_VALUES)))
        assert rows.leading(n).tolist() == ranked[:, :n].tolist()
    least = full.ravel() - 1e-9
    expected = (full[cases] >= least[:, np.newaxis]).sum(axis=1)
    assert rows.n_at_least(cases, least).tolist() == expected.tolist()
    assert rows.placed(np.argsort(order), N_VALUES).dense().tolist() == full[:, order].tolist()
    # Nothing of this has changed the rows.
    assert rows.dense().tolist() == full.tolist()


@given(matrices, st.lists(st.integers(0, N_VALUES - 1), min_size=N_VALUES, max_size=N_VALUES))
def test_values_under_one_label_are_believed_together(full, labels):
    """The belief in a label is the sum of those in its values."""
    expected = np.stack([full[:, np.array(labels) == label].sum(axis=1) for label in range(N_VALUES)], axis=1)
    rows = Rows.of(full)
    assert rows.placed(np.array(labels), N_VALUES).dense().tolist() == expected.tolist()
    assert rows.dense().tolist() == full.tolist()


@given(matrices, matrices)
def test_rows_of_nothing_have_others_instead(full, instead):
    """Rows sum to one; a row of nothing is the one given instead, whether there is one for all or one for each."""
    instead = np.resize(instead, full.shape)
    totals = full.sum(axis=1, keepdims=True)
    for other in (instead, instead[:1]):
        expected = np.where(totals > 0, full / np.where(totals > 0, totals, 1), other)
        assert normalized(Rows.of(full), Rows.of(other)).dense().tolist() == expected.tolist()


@given(matrices, matrices)
def test_stacked_rows_stand_below_each_other(first, second):
    """Rows of blocks keep their order, and some of them can be taken in any order, more than once."""
    rows = stacked([Rows.of(first), Rows.of(second)])
    full = np.concatenate([first, second])
    taken = np.arange(full.shape[0])[::-1].repeat(2)
    assert rows.taken(taken).dense().tolist() == full[taken].tolist()
    assert rows.among(2).dense().tolist() == full[:, :2].tolist()
