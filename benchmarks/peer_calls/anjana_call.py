"""Time anjana: `anjana_call.py data.csv hierarchies-folder {k,l}`; prints a JSON object last."""

import json
import sys
from pathlib import Path
from time import perf_counter

import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
K, L, SUPPRESSION_PERCENT = 5, 3, 2


def hierarchy(folder: Path, name: str) -> dict[int, list[str]]:
    """The levels of an attribute's hierarchy, from the value to the top."""
    lines = pd.read_csv(folder / f"adult_hierarchy_{name}.csv", sep=";", header=None, dtype=str)
    return {level: lines[level].tolist() for level in lines.columns}


def main() -> None:
    """Anonymize once, and tell seconds, rows left and discernibility."""
    data = pd.read_csv(sys.argv[1], sep=";", dtype=str)
    quasi = QUASI if sys.argv[3] == "k" else QUASI[:7]
    hierarchies = {name: hierarchy(Path(sys.argv[2]), name) for name in quasi}
    start = perf_counter()
    if sys.argv[3] == "k":
        made = k_anonymity(data, [], quasi, K, SUPPRESSION_PERCENT, hierarchies)
    else:
        made = l_diversity(data, [], quasi, "occupation", K, L, SUPPRESSION_PERCENT, hierarchies)
    seconds = perf_counter() - start
    sizes = made.groupby(quasi).size()
    cost = int((sizes**2).sum()) + (len(data) - len(made)) * len(data)
    print(json.dumps({"seconds": seconds, "rows": len(made), "discernibility": cost}))


if __name__ == "__main__":
    main()
