"""Record the releases anew: python -m tests.golden."""

import shutil
import tempfile
from pathlib import Path

import manyveils as mv
from manyveils.publishing import publish_to
from tests.golden.cases import CASES, FOLDER, SEED, table


def main() -> None:
    """Publish every case and keep its folder."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    with tempfile.TemporaryDirectory() as made:
        data = Path(made) / "people.csv"
        data.write_text(table(), encoding="utf-8")
        for name, sections in CASES.items():
            policy = mv.Policy(**{**sections, "data": {**sections["data"], "source": str(data)}})
            publish_to(policy, Path(made) / name, seed=SEED)
            shutil.copytree(Path(made) / name, FOLDER / name)


if __name__ == "__main__":
    main()
