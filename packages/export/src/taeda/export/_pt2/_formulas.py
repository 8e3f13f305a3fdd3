"""Formulas of sizes as text: `Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)), ...)`."""

from __future__ import annotations

import ast

from taeda._core_api.files import FormatError
from taeda.fx.experimental._expressions import (
    Call,
    Expression,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
    symbol,
)

__all__ = ["formula_of", "text_of"]

_NAMES = {"floordiv": "FloorDiv", "mod": "Mod", "max": "Max", "min": "Min"}
_LONGEST, _DEEPEST = 10_000, 50


def text_of(expr: Expression) -> str:
    """The text of a formula that is no number."""
    parts = [_product(product, factor) for product, factor in expr.terms.items()]
    return parts[0] if len(parts) == 1 else f"Add({', '.join(parts)})"


def _product(product: tuple[tuple[str | Call, int], ...], factor: int) -> str:
    parts = [] if factor == 1 and product else [f"Integer({factor})"]
    for atom, power in product:
        text = _atom(atom)
        parts.append(text if power == 1 else f"Pow({text}, Integer({power}))")
    return parts[0] if len(parts) == 1 else f"Mul({', '.join(parts)})"


def _atom(atom: str | Call) -> str:
    if isinstance(atom, str):
        return f"Symbol('{atom}', positive=True, integer=True)"
    sides = (_side(atom.left), _side(atom.right))
    return f"{_NAMES[atom.name]}({', '.join(sides)})"


def _side(expr: Expression) -> str:
    return f"Integer({expr.number})" if expr.number is not None else text_of(expr)


def formula_of(text: str) -> Expression:
    """The formula that a text stands for. FormatError for a text that is none: it is never run.

    >>> formula_of("Add(Mul(Integer(2), Symbol('s0', positive=True)), Integer(-1))")
    2*s0 - 1
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        raise FormatError(f"a formula of a size is a text of at most {_LONGEST} characters")
    try:
        return _read(ast.parse(text, mode="eval").body, _DEEPEST)
    except (SyntaxError, ValueError, RecursionError, MemoryError, ZeroDivisionError) as error:
        raise FormatError(f"{text[:80]!r} is no formula of sizes: {error}") from None


def _read(node: ast.AST, depth: int) -> Expression:
    if depth == 0:
        raise ValueError("it is too deep")
    match node:
        case ast.Constant(value=int() as number) if abs(number) < 2**63:
            return constant(number)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return constant(-number)
        case ast.Call(func=ast.Name(id="Integer"), args=[inner], keywords=[]):
            return _read(inner, depth - 1)
        case ast.Call(func=ast.Name(id="Symbol"), args=[ast.Constant(value=str() as name)]):
            if name.isidentifier() and len(name) < 100:
                return symbol(name)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if args:
            return _combined(name, [_read(a, depth - 1) for a in args])
    raise ValueError(f"it has {ast.unparse(node)[:60]!r}")


def _combined(name: str, parts: list[Expression]) -> Expression:
    total = parts[0]
    if name == "Pow" and len(parts) == 2 and parts[1].number in range(1, 9):
        for _ in range(int(parts[1].number or 1) - 1):
            total = total * parts[0]
        return total
    two = {"FloorDiv": floor_div, "Mod": modulo, "PythonMod": modulo}.get(name)
    if two is not None and len(parts) == 2:
        return two(*parts)
    several = {
        "Add": Expression.__add__, "Mul": Expression.__mul__, "Max": larger, "Min": smaller,
    }.get(name)  # fmt: skip
    if several is None or len(parts) > 20:
        raise ValueError(f"it has {name} of {len(parts)}")
    for part in parts[1:]:
        total = several(total, part)
    return total
