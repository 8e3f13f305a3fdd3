"""Assignments to several targets, as one to variables and a store for each target, in order."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

__all__ = ["apart"]

_HELD = "_taeda_assigned"
_KINDS = ast.Name | ast.Attribute | ast.Subscript

#: (a target, its value) -> what stores to it; None for a variable
Store = Callable[[ast.expr, ast.expr], ast.expr | None]


def apart(
    node: ast.Assign, value: ast.expr, store: Store, tell: Callable[..., ast.expr]
) -> ast.If | None:
    """`x, y.a = value` with a variable for each part; None if all targets are variables, or where
    tuples are in tuples.
    """
    flat = [part for target in node.targets for part in getattr(target, "elts", [target])]
    leaves = [_leaf(part) for part in flat]
    names = all(isinstance(leaf, ast.Name) for leaf in leaves)
    if names or not all(isinstance(leaf, _KINDS) for leaf in leaves):
        return None
    made: list[ast.stmt] = [ast.Assign([_variable(_HELD)], value)]
    used = [_HELD]
    for target in node.targets:
        parts = getattr(target, "elts", None)
        if parts is None:
            made.append(_stored(target, _HELD, store))
            continue
        own = [f"{_HELD}_{len(used) + n}" for n in range(len(parts))]
        used += own
        variables = [_renamed(part, name) for part, name in zip(parts, own, strict=True)]
        given = tell("each", ast.Name(_HELD, ast.Load()))
        made.append(ast.Assign([ast.Tuple(variables, ast.Store())], given))
        pairs = zip(parts, own, strict=True)
        made += [_stored(_leaf(part), name, store) for part, name in pairs]
    made.append(ast.Assign([_variable(name) for name in used], ast.Constant(None)))
    for statement in made:
        for inner in ast.walk(statement):
            if not hasattr(inner, "lineno"):
                ast.copy_location(inner, node)
    return ast.If(ast.Constant(True), made, [])


def _leaf(part: Any) -> Any:
    return part.value if isinstance(part, ast.Starred) else part


def _variable(name: str) -> ast.expr:
    return ast.Name(name, ast.Store())


def _renamed(part: ast.expr, name: str) -> ast.expr:
    made = _variable(name)
    return ast.Starred(made, ast.Store()) if isinstance(part, ast.Starred) else made


def _stored(target: ast.expr, name: str, store: Store) -> ast.stmt:
    value = ast.Name(name, ast.Load())
    made = store(target, value)
    return ast.Assign([target], value) if made is None else ast.Expr(made)
