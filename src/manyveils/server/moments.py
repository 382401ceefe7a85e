"""Times as texts, as the log and the API write them."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import PlainSerializer, WithJsonSchema

# A time as the log writes it; the API leaves a fraction of zero out.
Moment = Annotated[
    str,
    PlainSerializer(lambda text: text.replace(".000000Z", "Z"), return_type=str),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


def moment(seconds: float) -> str:
    """A time as text.

    >>> moment(0)
    '1970-01-01T00:00:00.000000Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
