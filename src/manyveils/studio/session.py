"""A session beside the policy: its text, what it was before, and what was chosen to look at; never data, and nothing that came of them."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from manyveils.errors import ManyveilsError
from manyveils.release.folder import write_file

ENDING = ".studio.json"
# So many changes can be undone the next time.
MOST_EARLIER = 50
OWNERS_ONLY = 0o600


class Session(BaseModel):
    """What is kept; `saved` is the policy file as it was last read or written, and `source` the name of the data."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    source: str
    text: str
    saved: str | None = None
    earlier: tuple[str, ...] = ()
    attacks: str = "usual"
    learn: str | None = None
    axes: tuple[str, ...] = ()
    levels: dict[str, int] = {}


def file_of(policy: Path) -> Path:
    """The file in which the session of a policy is kept."""
    return policy.with_name(policy.name + ENDING)


def read(policy: Path) -> tuple[Session, str] | None:
    """The session of a policy, and the file as it stands; None where there is none that can be read."""
    try:
        there = file_of(policy).read_text(encoding="utf-8")
        return Session.model_validate_json(there), there
    except (OSError, ValueError, RecursionError):
        return None


def write(policy: Path, session: Session, known: str | None) -> str | None:
    """Keep a session, unless another studio has written there since; what then stands there, or None if it is not kept."""
    file = file_of(policy)
    try:
        there = file.read_text(encoding="utf-8") if file.exists() else None
        if there != known:
            return None
        kept = session.model_copy(update={"earlier": session.earlier[-MOST_EARLIER:]})
        text = kept.model_dump_json(indent=1) + "\n"
        write_file(file, text, force=True, mode=OWNERS_ONLY)
    except (ManyveilsError, OSError, ValueError):
        return None
    return text
