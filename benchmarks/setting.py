"""How much is to be measured."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Setting:
    """A folder for temporary files, and how thorough the run is."""

    folder: Path
    quick: bool = False
    whole_lattice: bool = False

    @property
    def sampled_nodes(self) -> int | None:
        """How many nodes of the lattice the Polars reference is timed on; all if nothing is said."""
        if self.whole_lattice:
            return None
        return 60 if self.quick else 300
