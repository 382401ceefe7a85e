"""Time pycanon's check of all its models: `pycanon_call.py release.csv`; prints a JSON object last."""

import json
import sys

import pandas as pd
from pycanon import anonymity
from stopwatch import best

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


def check(data: pd.DataFrame) -> int:
    """Check every model; k is handed back."""
    for model in MODELS:
        model(data, QUASI, SENSITIVE)
    return int(anonymity.k_anonymity(data, QUASI))


def main() -> None:
    """Check everything, and tell seconds and k."""
    data = pd.read_csv(sys.argv[1], dtype=str).reset_index(drop=True)
    seconds, k = best(lambda: check(data))
    print(json.dumps({"seconds": seconds, "k": k, "rows": len(data)}))


if __name__ == "__main__":
    main()
