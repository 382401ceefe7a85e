"""By which code the numbers of a page were made: a digest of every module that had a part in them, and of kept releases.

Counted are the scripts of a page, the method it is about, and what they import of attacks, measures, keys and generated
tables. All methods that a page uses, and the counting, cutting and dealing beneath them, count by the releases of theirs
that tests keep (`tests/golden`): work that makes them faster or tidier leaves these alone, and what changes a release
does not. Policies, the reading of tables and releases, and the audit are not counted: a change there that moved a number
would break tests of its own first. Nor are comments, docstrings, imports and layout.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RELEASES = ROOT / "tests" / "golden" / "releases"
COUNTED = (
    "benchmarks.reproductions",
    "manyveils.attacks",
    "manyveils.utility",
    "manyveils.keys",
    "manyveils.datasets",
)
# What lists others grows with them and decides no number; a page names what it takes from there.
LISTS = ("manyveils.attacks", "manyveils.utility", "manyveils.datasets")
# Nor do the machinery of pages, what only estimates risks, and what says in words how an attack went.
IDLE = (
    "benchmarks.reproductions.index",
    "benchmarks.reproductions.made_by",
    "benchmarks.reproductions.page",
    "benchmarks.reproductions.running",
    "manyveils.attacks.outcome",
    "manyveils.utility.estimators",
    "manyveils.utility.risk",
    "manyveils.utility.special_uniques",
)


def digests(page: str, made_with: Iterable[str], methods: Iterable[str]) -> dict[str, str]:
    """The digests of a page: of its modules, and of the kept releases of each method it uses.

    `made_with` are modules that its scripts do not import, or that are all of a method that it is about.
    """
    script = f"benchmarks.reproductions.{page.replace('-', '_')}"
    return made_by([script, *(f"manyveils.{module}" for module in made_with)]) | {
        f"releases of {method}": _of_releases(method) for method in sorted(methods)
    }


def _of_releases(method: str) -> str:
    """The digest of all kept releases of a method."""
    of_it = [
        folder
        for folder in sorted(RELEASES.iterdir())
        if f'"method": "{method}"' in (folder / "release.json").read_text(encoding="utf-8")
    ]
    digest = hashlib.sha256()
    for file in (file for folder in of_it for file in sorted(folder.rglob("*")) if file.is_file()):
        digest.update(file.relative_to(RELEASES).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()[:12]


def made_by(roots: Iterable[str]) -> dict[str, str]:
    """The digest of each module that some modules need, themselves included."""
    ahead = list(roots)
    counted = (*COUNTED, *(module for module in ahead if module.startswith("manyveils.methods")))
    needed: set[str] = set()
    while ahead:
        module = ahead.pop()
        if module not in needed:
            needed.add(module)
            ahead += _imported(module, counted)
    return {module: _digest(module) for module in sorted(needed)}


def digest_of(made: Mapping[str, str]) -> str:
    """One digest of all of them."""
    return hashlib.sha256(repr(sorted(made.items())).encode()).hexdigest()[:12]


def _imported(module: str, counted: tuple[str, ...]) -> Iterator[str]:
    """The counted modules that one imports; what ours import inside a function few publications ask for."""
    tree = _tree(module)
    is_script = module.startswith(COUNTED[0])
    for statement in ast.walk(tree) if is_script else tree.body:
        for name in _names(statement):
            if name.startswith(counted) and name not in (*LISTS, *IDLE) and _file(name) is not None:
                yield name


def _names(statement: ast.AST) -> list[str]:
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names]
    if isinstance(statement, ast.ImportFrom) and statement.module:
        return [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return []


def _file(module: str) -> Path | None:
    path = ROOT.joinpath("src" if module.startswith("manyveils") else "", *module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def _tree(module: str) -> ast.Module:
    file = _file(module)
    assert file is not None, module
    return ast.parse(file.read_text(encoding="utf-8"))


def _digest(module: str) -> str:
    return hashlib.sha256(written(_tree(module)).encode()).hexdigest()[:12]


def written(node: object) -> str:
    """Code as one text, the same however it is laid out and whichever Python reads it.

    >>> written(ast.parse("x = (1)  # one")) == written(ast.parse("x=1"))
    True
    >>> written(ast.parse("x = 1")) == written(ast.parse("x = 2"))
    False
    """
    if isinstance(node, list):
        return f"[{','.join(written(part) for part in node if not _is_idle(part))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, getattr(node, name, None)) for name in node._fields if name != "kind")
    # Later versions of Python have fields that earlier ones do not; they are empty where both can read the code.
    told = (f"{name}={written(value)}" for name, value in fields if value is not None and value != [])
    return f"{type(node).__name__}({','.join(told)})"


def _is_idle(node: object) -> bool:
    """Whether a statement decides nothing by itself: a text that nobody uses, as docstrings are, or an import.

    What is imported counts by its own digest, wherever it is imported from.
    """
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
