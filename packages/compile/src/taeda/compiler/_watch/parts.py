"""A function as two: the statements before one that no graph does, and the rest.

    def step(x):                          def step(x):            def step(self, loss):
        loss = self.loss(x)         ─▶        loss = ...              self.steps += 1
        loss.backward()                       loss.backward()         return loss.item()
        self.steps += 1                       return (loss,)
        return loss.item()

The second part gets what the first assigned and what the call was given. Both have the lines of the
function, its globals and its variables of functions around, so they compute together what it does.
`parted` refuses (CannotCopy) where that is not certain.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from .._errors import CannotCopy
from .rewrite import catches_nothing, code_of, node_of

__all__ = ["Parts", "parted"]

_RESUMED_OR_PACKED = 0x2AC  # generators, coroutines, *args, **kwargs
#: names of what looks at the variables of its caller
_LOOKS_AT_VARIABLES = frozenset(
    {"locals", "vars", "dir", "eval", "exec", "super", "_getframe", "currentframe", "stack"}
)
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign
_SCOPES = ast.Global | ast.Nonlocal
_LEAVES = ast.Return | ast.Delete | ast.Yield | ast.YieldFrom | ast.Await


@dataclass
class Parts:
    """The two functions; which parameters, and how many results of the first, the second is given."""

    head: types.FunctionType
    tail: types.FunctionType
    given: tuple[int, ...]


def parted(function: types.FunctionType, line: int) -> Parts:
    """The function in two, before the statement to which `line` belongs."""
    code = function.__code__
    if code.co_flags & _RESUMED_OR_PACKED or code.co_kwonlyargcount or code.co_cellvars:
        raise CannotCopy("its variables are shared, or its arguments packed")
    if _LOOKS_AT_VARIABLES & {*code.co_names} or "__class__" in code.co_freevars:
        raise CannotCopy("it may look at its own variables")
    node, imports = node_of(code)
    if not isinstance(node, ast.FunctionDef):
        raise CannotCopy("it is one expression")
    place = next((n for n, s in enumerate(node.body) if s.lineno <= line <= _last(s)), 0)
    scopes = [s for s in node.body if isinstance(s, _SCOPES)]
    first = [s for s in node.body[:place] if not isinstance(s, _SCOPES)]
    rest = [s for s in node.body[place:] if not isinstance(s, _SCOPES)]
    inner = [s for part in (first, rest) for e in part for s in ast.walk(e)]
    if not first or any(isinstance(s, _SCOPES) for s in inner):
        raise CannotCopy("nothing stands before the line")
    if any(isinstance(s, _LEAVES) for e in first for s in ast.walk(e)):
        raise CannotCopy("it may return before the line")
    parameters = code.co_varnames[: code.co_argcount]
    stored = _stored(first)
    wanted = sorted(_names(rest) & {*code.co_varnames})
    results = [n for n in wanted if n in stored]
    given = [n for n in wanted if n in parameters and n not in results]
    if not set(results) <= _surely(first) | {*parameters}:
        raise CannotCopy("a variable may have no value at the line")
    head = _function(node, [*scopes, *first, _returning(results, first[-1])], node.args)
    arguments = [ast.arg(name) for name in (*results, *given)]
    plain = ast.arguments(
        posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    tail = _function(node, [*scopes, *rest], plain)
    ast.fix_missing_locations(tail)
    return Parts(
        _made(function, code_of(head, code, imports), function.__defaults__),
        _made(function, code_of(tail, code, imports), None),
        tuple(parameters.index(name) for name in given),
    )


def _made(function: types.FunctionType, code: types.CodeType, defaults: Any) -> types.FunctionType:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in code.co_freevars)
    made = types.FunctionType(code, function.__globals__, function.__name__, defaults, closure)
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    return made


def _function(node: ast.FunctionDef, body: list[ast.stmt], arguments: ast.arguments) -> Any:
    made = ast.FunctionDef(**{f: getattr(node, f) for f in node._fields if hasattr(node, f)})
    made.body, made.args = body, arguments
    return ast.copy_location(made, node)


def _returning(names: list[str], after: ast.stmt) -> ast.stmt:
    value = ast.Tuple([ast.Name(name, ast.Load()) for name in names], ast.Load())
    made = ast.copy_location(ast.Return(value), after)
    return ast.fix_missing_locations(made)


def _last(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _names(statements: list[ast.stmt]) -> set[str]:
    """All names that are read, stored or deleted."""
    return {n.id for s in statements for n in ast.walk(s) if isinstance(n, ast.Name)}


def _stored(statements: list[ast.stmt]) -> set[str]:
    """All names that may get a value, whatever the statement."""
    return set(_binds(statements))


def _binds(statements: Iterable[ast.AST]) -> Iterator[str]:
    for node in (n for s in statements for n in ast.walk(s)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.ExceptHandler):
            yield node.name or ""
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, ast.MatchAs | ast.MatchStar):
            yield node.name or ""
        elif isinstance(node, ast.MatchMapping):
            yield node.rest or ""


def _surely(statements: list[ast.stmt]) -> set[str]:
    """Names that have a value behind these statements."""
    found: set[str] = set()
    for statement in statements:
        if isinstance(statement, _SIMPLE) and statement.value is not None:
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            found |= set(_binds(targets))
        elif isinstance(statement, ast.With) and catches_nothing(statement):
            found |= _surely(statement.body)
    return found
