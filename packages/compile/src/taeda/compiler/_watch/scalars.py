"""Numbers that a function only computes with: `loss * weight`, `share * x + (1 - share) * y`.

A graph may be given such a number anew in each call, as nothing but arithmetic can see it. That is
read from the text of the function: each use of the name is an operand of `+`, `-`, `*` or `/`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

__all__ = ["ARITHMETIC", "DRAWS", "drawn_names", "given_names"]

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
    stores = {id(s.targets[0]): s.targets[0].id for s in _walked(node) if is_draw(s)}
    return frozenset(stores.values()) - _used_otherwise(node, stores)


def is_draw(node: ast.AST) -> bool:
    """Whether it is `name = random.random()`, or another draw with numbers as arguments."""
    return (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Call)
        and isinstance(node.value.func, ast.Attribute)
        and node.value.func.attr in DRAWS
        and isinstance(node.value.func.value, ast.Name)
        and not node.value.keywords
        and all(isinstance(a, ast.Constant) for a in node.value.args)
    )


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
