"""Bare tables beside pycanon, as far as that is right: its recursive diversity is inverted, and it drops missing keys."""

import json
import subprocess
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import manyveils as mv

PEER = Path(__file__).resolve().parents[2] / ".venv-peers" / "bin" / "python"
PROGRAM = """
import json, sys
import pandas as pd
from pycanon import anonymity as of
quasi, told = ["age", "zip"], {}
frame = pd.read_csv(sys.argv[1], dtype={"age": str, "zip": str, "illness": str})
told["k"] = of.k_anonymity(frame, quasi)
for name in ("illness", "income"):
    told[name] = {
        "l": of.l_diversity(frame, quasi, [name]),
        "t": of.t_closeness(frame, quasi, [name]),
        "alpha": of.alpha_k_anonymity(frame, quasi, [name])[0],
        "beta": of.basic_beta_likeness(frame, quasi, [name]),
    }
print(json.dumps(told, default=float))
"""
KINDS = {
    "l": "distinct-l-diversity",
    "t": "t-closeness",
    "alpha": "alpha-k-anonymity",
    "beta": "beta-likeness",
}


def table(seed):
    """A table of labels with two sensitive attributes, one of them numbers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 200))
    return pl.DataFrame(
        {
            "age": rng.choice(["[20, 30[", "[30, 40[", "*"], n),
            "zip": rng.choice(["47***", "48***"], n),
            "illness": rng.choice(["flu", "cold", "asthma", "gout"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "income": rng.integers(1, 8, n) * 1000,
        }
    )


@pytest.mark.skipif(
    not PEER.exists(), reason="pycanon is not here: `python -m benchmarks --only peers` installs it"
)
@pytest.mark.parametrize("seed", range(5))
def test_pycanon_measures_the_same(seed, tmp_path):
    """k, distinct l, t with both ground distances, alpha and basic beta are pycanon's."""
    frame = table(seed)
    file = tmp_path / "table.csv"
    frame.write_csv(file)
    done = subprocess.run([str(PEER), "-c", PROGRAM, str(file)], capture_output=True, text=True, check=True)
    told = json.loads(done.stdout)
    policy = {
        "data": {"person": "row"},
        "attributes": {
            "age": {"role": "quasi"},
            "zip": {"role": "quasi"},
            "illness": {"role": "sensitive"},
            "income": {"role": "sensitive"},
        },
        "guarantee": {"k": 2, "l": 2, "t": 0.5, "alpha": 0.5, "beta": 1.0},
    }
    measured = {
        (finding.promise, finding.attribute): finding.measured
        for finding in mv.check(file, policy).findings
        if finding.reading == "marginal"
    }
    assert measured["k-anonymity", ""] == told["k"]
    for name in ("illness", "income"):
        for key, kind in KINDS.items():
            assert measured[kind, name] == pytest.approx(told[name][key], abs=1e-9), (name, key)
