"""Time pycanon's check of all its models: `pycanon_call.py release.csv`; prints a JSON object last."""

import json
import sys
from time import perf_counter

import pandas as pd
from pycanon import anonymity

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
SENSITIVE = ["occupation", "salary-class"]
MODELS = (
    anonymity.alpha_k_anonymity,
    anonymity.l_diversity,
    anonymity.entropy_l_diversity,
    anonymity.recursive_c_l_diversity,
    anonymity.basic_beta_likeness,
    anonymity.enhanced_beta_likeness,
    anonymity.t_closeness,
    anonymity.delta_disclosure,
)


def main() -> None:
    """Check everything once, and tell seconds and k."""
    data = pd.read_csv(sys.argv[1], dtype=str).reset_index(drop=True)
    start = perf_counter()
    k = anonymity.k_anonymity(data, QUASI)
    for model in MODELS:
        model(data, QUASI, SENSITIVE)
    print(json.dumps({"seconds": perf_counter() - start, "k": int(k), "rows": len(data)}))


if __name__ == "__main__":
    main()
