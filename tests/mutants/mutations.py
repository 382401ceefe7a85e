"""All small changes of a file that a test should notice, as an expression and what stands in its place."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
RECKONED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
CALLED = {"min": "max", "max": "min", "any": "all", "all": "any", "first": "last", "minimum": "maximum"}
# What is not run, says nothing of what is computed, or comes up by itself; places inside of f-strings are not told.
SKIPPED = (ast.Raise, ast.Assert, ast.JoinedStr, ast.FunctionDef)
ANNOTATED = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True)
class Mutant:
    """A change: in which file, on which lines, from where to where in its text, and what stands there then."""

    path: Path
    lines: range
    start: int
    stop: int
    text: str

    def applied(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text.encode() + source[self.stop :]

    def told(self, source: bytes) -> str:
        """The lines before and after."""
        first = source.rfind(b"\n", 0, self.start) + 1
        end = source.find(b"\n", self.stop)
        before = source[first:end].decode()
        after = (source[first : self.start] + self.text.encode() + source[self.stop : end]).decode()
        return f"{self.path}:{self.lines[0]}\n  - {before.strip()}\n  + {after.strip()}"


def mutants_of(root: Path, path: Path) -> list[Mutant]:
    """Every mutant of a file."""
    source = (root / path).read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    # What stands outside of functions is run when a module is loaded, by no test.
    functions = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef))
    changes = (change for function in functions for line in function.body for change in _changes(line))
    for node, changed in changes:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        lines = range(node.lineno, node.end_lineno + 1)
        start, stop = (
            starts[node.lineno - 1] + node.col_offset,
            starts[node.end_lineno - 1] + node.end_col_offset,
        )
        text = ast.unparse(changed)
        found.append(
            Mutant(path, lines, start, stop, text if isinstance(node, ast.Constant) else f"({text})")
        )
    return found


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, SKIPPED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return
    if isinstance(node, ast.expr):
        yield from ((node, changed) for changed in _changed(node))
    for name, field in ast.iter_fields(node):
        if name not in ANNOTATED:
            for child in field if isinstance(field, list) else [field]:
                if isinstance(child, ast.AST):
                    yield from _changes(child)


def _changed(node: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Compare(left, ops, comparators):
            for place, operator in enumerate(ops):
                others = [*ops[:place], COMPARED[type(operator)](), *ops[place + 1 :]]
                yield ast.Compare(left, others, comparators)
        case ast.BinOp(left, operator, right) if type(operator) in RECKONED and not _is_text(left):
            yield ast.BinOp(left, RECKONED[type(operator)](), right)
        case ast.BoolOp(operator, values):
            yield ast.BoolOp(ast.And() if isinstance(operator, ast.Or) else ast.Or(), values)
        case ast.UnaryOp(ast.Not() | ast.Invert() | ast.USub(), operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
        case ast.Constant(bool(value)):
            yield ast.Constant(not value)
        case ast.Constant(int(value) | float(value)):
            yield ast.Constant(value + 1)
        case ast.Call(ast.Name(name), arguments, keywords) if name in CALLED:
            yield ast.Call(ast.Name(CALLED[name]), arguments, keywords)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in CALLED:
            yield ast.Call(ast.Attribute(value, CALLED[name]), arguments, keywords)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
