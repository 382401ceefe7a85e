"""Time anonypy's Mondrian: `anonypy_call.py data.csv`; prints a JSON object last."""

import json
import sys

import anonypy
import pandas as pd
from stopwatch import best

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
K = 5


def main() -> None:
    """Partition, and tell seconds and rows."""
    data = pd.read_csv(sys.argv[1], sep=";")
    for name in data.columns.difference(["age"]):
        data[name] = data[name].astype("category")
    seconds, rows = best(lambda: anonypy.Preserver(data, QUASI, "salary-class").anonymize_k_anonymity(k=K))
    print(json.dumps({"seconds": seconds, "rows": int(sum(row["count"] for row in rows))}))


if __name__ == "__main__":
    main()
