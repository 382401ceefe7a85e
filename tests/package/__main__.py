"""The package as a newcomer gets it: built, installed into empty environments and run from an empty folder.

python -m tests.package install | extras | sbom [--python PYTHON]
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
# What each extra is for: it must do this without any other.
PROBES = {
    "attack": "import ortools.sat.python.cp_model, manyveils.attacks.worlds.solvers",
    "connect": "import pyspark.sql.connect.session, manyveils.spark.engine",
    "database": "import manyveils.table; manyveils.table.take_in('sqlite:///people.db')",
    "duckdb": "import duckdb; duckdb.connect('people.duckdb').execute('create table t as select 1 a').close()\n"
    "import manyveils.table; manyveils.table.take_in('people.duckdb')",
    "excel": "import fastexcel, manyveils.table.foreign",
    "learn": "import sklearn.linear_model, manyveils.utility.learning",
    "report": "import manyveils.reports.page, manyveils.reports.charts, vl_convert",
    "statistics": "import pyreadstat, manyveils.table.foreign",
    "spark": "from manyveils.spark.session import session; session(); import manyveils.spark.publish",
    "server": "import manyveils.server.app; from manyveils import Client",
    "sign": "import manyveils.signing, cryptography.hazmat.primitives.asymmetric.ed25519",
    "studio": "import nicegui, manyveils.studio.serving",
}
BEFORE = {
    "database": "import sqlite3; c = sqlite3.connect('people.db'); c.execute('create table t (a)'); c.commit()\n"
}
# Extras for those who work on manyveils itself.
OURS = {"dev", "docs", "bench"}


def extras() -> list[str]:
    """The extras that users install."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [name for name in project["optional-dependencies"] if name not in OURS]


def built() -> dict[str, Path]:
    """Build wheel and sdist into dist/; what was there of them goes."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "hatchling", "build", "-d", DIST, folder=ROOT)
    return {"wheel": next(DIST.glob("*.whl")), "sdist": next(DIST.glob("*.tar.gz"))}


def run(*words: object, folder: Path) -> str:
    """Run a command in a folder; what it said is shown if it fails."""
    done = subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def installed(what: str, python: str, home: Path) -> Path:
    """Make an empty environment and install into it; gives its folder of commands."""
    run(python, "-m", "venv", home / "venv", folder=home)
    commands = home / "venv" / "bin"
    quiet = ("--quiet", "--disable-pip-version-check", "--constraint", ROOT / "constraints.txt")
    run(commands / "python", "-m", "pip", "install", *quiet, what, folder=home)
    return commands


def install(python: str) -> None:
    """Wheel and sdist run the demo in an empty folder, in an environment with nothing else in it."""
    for kind, file in built().items():
        with tempfile.TemporaryDirectory() as made:
            commands = installed(str(file), python, Path(made))
            folder = Path(made) / "empty"
            folder.mkdir()
            said = run(commands / "manyveils", "demo", "--rows", 200, folder=folder)
            assert (folder / "demo" / "generalize" / "release.json").is_file(), said
            version = run(commands / "python", "-VV", folder=folder).split()[1]
            print(f"{file.name}: the {kind} installs and runs the demo on Python {version}", flush=True)


def try_extras(python: str) -> None:
    """Every extra installs alone, and what it is for works without the others."""
    wheel = built()["wheel"]
    for name in extras():
        with tempfile.TemporaryDirectory() as made:
            commands = installed(f"{wheel}[{name}]", python, Path(made))
            run(commands / "python", "-c", BEFORE.get(name, "") + PROBES[name], folder=Path(made))
            print(f"manyveils[{name}] works alone", flush=True)


def sbom(python: str) -> None:
    """List everything that an installation with all extras brings along."""
    wheel, target = built()["wheel"], DIST / "sbom.json"
    with tempfile.TemporaryDirectory() as made:
        commands = installed(f"{wheel}[{','.join(extras())}]", python, Path(made))
        tool = ROOT / ".venv-tools" / "bin" / "cyclonedx-py"
        words = ("environment", "--output-reproducible", "--pyproject", ROOT / "pyproject.toml")
        run(tool, *words, "--output-file", target, commands / "python", folder=ROOT)
    document = json.loads(target.read_text(encoding="utf-8"))
    for component in document["components"]:
        # Where a file lay on this machine says nothing to others.
        told = component.get("externalReferences", [])
        component["externalReferences"] = [to for to in told if not to["url"].startswith("file:")]
    target.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {len(document['components'])} packages")


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("install", "extras", "sbom"))
    parser.add_argument("--python", default=sys.executable)
    given = parser.parse_args()
    {"install": install, "extras": try_extras, "sbom": sbom}[given.what](given.python)


if __name__ == "__main__":
    main()
