"""What the numbers were measured on."""

import os
import platform
from importlib.metadata import version
from pathlib import Path

LIBRARIES = ("manyveils", "numpy", "numba", "polars", "pandas", "pyarrow")
GIGABYTE = 1 << 30


def machine() -> str:
    """Cores, memory and processor."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / GIGABYTE
    return f"{os.cpu_count()} cores ({_processor()}), {memory:.0f} GiB of memory"


def busy() -> float:
    """How many programs wanted a core, on average over the last quarter of an hour."""
    return os.getloadavg()[2]


def versions() -> str:
    """Python and the libraries the numbers depend on."""
    return ", ".join(
        [f"Python {platform.python_version()}", *(f"{name} {version(name)}" for name in LIBRARIES)]
    )


def _processor() -> str:
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
