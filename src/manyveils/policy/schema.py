"""The JSON Schema of a policy file, for editors that check while one types."""

import json
import sys
from pathlib import Path

from manyveils.policy.model import Policy


def schema() -> str:
    """The schema as JSON text.

    >>> "attributes" in json.loads(schema())["properties"]
    True
    """
    return json.dumps(Policy.model_json_schema(by_alias=True), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(schema(), encoding="utf-8")
