"""Releases built by hand: weak and sound ones, without any method."""

import numpy as np
import pytest

from manyveils.attacks.scene import Scene
from manyveils.release import Draft, Recoding, seal
from manyveils.table import Streams, hold


def labelled(column, labels, covers):
    """A recoding by hand: a label for every row, and the originals that each label covers."""
    names = tuple(dict.fromkeys(labels))
    codes = np.array([names.index(label) for label in labels], dtype=np.int32)
    pairs = [(names.index(label), text) for label, texts in covers.items() for text in texts]
    listed = np.array([number for number, _ in pairs]), tuple(text for _, text in pairs)
    return Recoding(codes, names, listed)


@pytest.fixture
def released():
    """A way to publish columns of a frame as they are, in one view for every list of columns."""

    def make(frame, policy, *views, buckets=None, recodings=None):
        table, restore = hold(frame, policy)
        drafts = [
            Draft(
                f"view{place}" if place else "main",
                tuple(tuple(column) for column in columns),
                np.arange(table.n_rows),
                None if buckets is None else np.array(buckets, dtype=np.int64),
                {
                    name: labelled(table[name], *made)
                    for name, made in (recodings or {}).items()
                    if any(name in column for column in columns)
                },
            )
            for place, columns in enumerate(views)
        ]
        return seal(drafts, table, policy, restore, notes={}, rng=np.random.default_rng(0))

    return make


@pytest.fixture
def scene_of():
    """A way to set up an attack."""

    def make(release, frame, policy, **more):
        return Scene(release, hold(frame, policy)[0], policy, streams=Streams(1), **more)

    return make
