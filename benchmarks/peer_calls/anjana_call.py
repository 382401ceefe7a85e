"""Time anjana: `anjana_call.py data.csv hierarchies-folder {k,l}`; prints a JSON object last."""

import json
import sys
from pathlib import Path
from typing import Any

import pandas as pd
from anjana.anonymity import k_anonymity, l_diversity
from stopwatch import REPETITIONS, best

QUASI = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation"]
K, L, SUPPRESSION_PERCENT = 5, 3, 2


def hierarchy(folder: Path, name: str) -> dict[int, Any]:
    """An attribute's hierarchy as anjana's documentation reads it."""
    return dict(pd.read_csv(folder / f"adult_hierarchy_{name}.csv", sep=";", header=None))


def main() -> None:
    """Anonymize, and tell seconds, rows left and discernibility."""
    data = pd.read_csv(sys.argv[1], sep=";")
    model, folder = sys.argv[3], Path(sys.argv[2])
    quasi = QUASI if model == "k" else QUASI[:7]

    # anjana changes the hierarchies it is given, so each run has its own, read before the clock starts.
    fresh = iter([{name: hierarchy(folder, name) for name in quasi} for _ in range(REPETITIONS)])

    def anonymized() -> pd.DataFrame:
        hierarchies = next(fresh)
        if model == "k":
            return k_anonymity(data, [], list(quasi), K, SUPPRESSION_PERCENT, hierarchies)
        return l_diversity(data, [], list(quasi), "occupation", K, L, SUPPRESSION_PERCENT, hierarchies)

    seconds, made = best(anonymized)
    sizes = made.groupby(quasi).size()
    cost = int((sizes**2).sum()) + (len(data) - len(made)) * len(data)
    print(json.dumps({"seconds": seconds, "rows": len(made), "discernibility": cost}))


if __name__ == "__main__":
    main()
