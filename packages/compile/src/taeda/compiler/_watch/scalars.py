"""Numbers that a function only computes with: `loss * weight`, `share * x + (1 - share) * y`.

A graph may be given such a number anew in each call, as nothing but arithmetic can see it. That is
read from the text of the function: each use of the name is an operand of `+`, `-`, `*` or `/`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["ARITHMETIC", "DRAWS", "Draw", "draw_of", "drawn_names", "given_names"]

ARITHMETIC = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
#: functions of the module `random` that give floats
DRAWS = frozenset(
    {"random", "uniform", "triangular", "betavariate", "expovariate", "gammavariate", "gauss",
     "lognormvariate", "normalvariate"}
)  # fmt: skip
_SCOPES = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp,
    ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


def given_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Parameters that the function only computes with."""
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return frozenset(a.arg for a in arguments) - _used_otherwise(node, {})


def drawn_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Variables that hold what one call of `random.random` or the like gave, which the function only
    computes with.
    """
    draws = [draw for part in _walked(node) if (draw := draw_of(part)) is not None]
    stores = {id(draw.target): draw.target.id for draw in draws}
    return frozenset(stores.values()) - _used_otherwise(node, stores)


@dataclass(frozen=True)
class Draw:
    """`target = owner.name(*args)`, with numbers as arguments."""

    target: ast.Name
    owner: ast.Name
    name: str
    args: list[ast.expr]


def draw_of(node: ast.AST) -> Draw | None:
    """What a statement draws; None if it is no draw."""
    if not (isinstance(node, ast.Assign) and len(node.targets) == 1):
        return None
    target, call = node.targets[0], node.value
    if not (isinstance(target, ast.Name) and isinstance(call, ast.Call) and not call.keywords):
        return None
    function = call.func
    if not (isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name)):
        return None
    plain = function.attr in DRAWS and all(isinstance(a, ast.Constant) for a in call.args)
    return Draw(target, function.value, function.attr, call.args) if plain else None


def _walked(node: Any) -> Iterator[ast.AST]:
    body = node.body if isinstance(node.body, list) else [node.body]
    for statement in body:
        yield from ast.walk(statement)


def _used_otherwise(node: Any, stores: dict[int, str]) -> set[str]:
    """Names that are more than operands; `stores` are the places that may give them a value."""
    found: set[str] = set()
    operands: set[int] = set()
    stored: list[str] = []
    for part in _walked(node):
        if isinstance(part, ast.BinOp) and type(part.op) in ARITHMETIC:
            operands |= {id(part.left), id(part.right)}
        elif isinstance(part, _SCOPES):  # an inner function may be called by anybody
            found.update(n.id for n in ast.walk(part) if isinstance(n, ast.Name))
        elif isinstance(part, ast.Global | ast.Nonlocal):
            found.update(part.names)
        elif isinstance(part, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and part.name:
            found.add(part.name)
    for part in _walked(node):
        if isinstance(part, ast.Name) and id(part) in stores:
            stored.append(part.id)
        elif isinstance(part, ast.Name) and id(part) not in operands:
            found.add(part.id)
    return found | {name for name in stored if stored.count(name) > 1}
