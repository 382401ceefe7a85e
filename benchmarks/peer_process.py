"""The peers' own virtual environment, and calls in it that end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = ROOT / ".venv-peers"
PEERS = ("anjana", "pycanon", "anonypy")
CALLS = Path(__file__).parent / "peer_calls"
PATIENCE_SECONDS = 200


def install() -> str | None:
    """Make the environment if it is missing; the reason if that cannot be done."""
    python = ENVIRONMENT / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True, capture_output=True)
        if subprocess.run([str(python), "-c", f"import {', '.join(PEERS)}"], capture_output=True).returncode:
            subprocess.run(
                [str(python), "-m", "pip", "install", "--quiet", *PEERS], check=True, capture_output=True
            )
    except (OSError, subprocess.CalledProcessError):
        return f"{', '.join(PEERS)} could not be installed"
    return None


def versions() -> str:
    """The peers' versions, or nothing if they are not installed."""
    if not (ENVIRONMENT / "bin" / "python").exists():
        return ""
    program = (
        f"from importlib.metadata import version; print(*(n + ' ' + version(n) for n in {PEERS}), sep=', ')"
    )
    done = subprocess.run(
        [str(ENVIRONMENT / "bin" / "python"), "-c", program], capture_output=True, text=True
    )
    return done.stdout.strip()


def call(name: str, *arguments: str) -> dict[str, Any] | str:
    """What the call told, or why it told nothing."""
    program = [str(ENVIRONMENT / "bin" / "python"), str(CALLS / f"{name}_call.py"), *arguments]
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            program, capture_output=True, text=True, check=True, timeout=PATIENCE_SECONDS, env=environment
        )
    except subprocess.TimeoutExpired:
        return f"not done after {PATIENCE_SECONDS} s"
    except subprocess.CalledProcessError as error:
        return (
            f"failed: {error.stderr.strip().splitlines()[-1] if error.stderr.strip() else error.returncode}"
        )
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return told
