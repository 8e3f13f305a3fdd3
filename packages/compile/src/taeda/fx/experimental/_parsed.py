"""Text of formulas and relations, as they are printed, back as values. Only arithmetic is read."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

import taeda

__all__ = ["parsed"]

_TWO: dict[type[ast.AST], Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_CALLS = {"max": taeda.sym_max, "min": taeda.sym_min}


def parsed(code: str, values: Mapping[str, Any]) -> Any:
    """What a formula gives for these values of names. ValueError for text that is none, and for a
    name without a value.

    >>> parsed("2*s0 + 1 > s1 // 2", {"s0": 3, "s1": 8})
    True
    >>> parsed("max(s0, 4)", {"s0": 3})
    4
    """
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"{code!r} is no formula: {error.msg}") from None
    return _value(tree, values, code)


def _value(node: ast.AST, values: Mapping[str, Any], code: str) -> Any:
    def each(*parts: ast.AST) -> list[Any]:
        return [_value(part, values, code) for part in parts]

    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -each(inner)[0]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _TWO:
            return _TWO[type(op)](*each(left, right))
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _TWO:
            return _TWO[type(op)](*each(left, right))
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(bool(_value(part, values, code)) for part in parts)
        case ast.BoolOp(op=ast.Or(), values=parts):
            return any(bool(_value(part, values, code)) for part in parts)
        case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]):
            return taeda.sym_float(each(inner)[0])
        case ast.Call(func=ast.Name(id=name), args=[left, right], keywords=[]) if name in _CALLS:
            return _CALLS[name](*each(left, right))
    said = ast.unparse(node)
    raise ValueError(
        f"{code!r} is no formula in {', '.join(sorted(values)) or 'no names'}: it has {said!r}"
    )
