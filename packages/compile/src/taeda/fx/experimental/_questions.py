"""What passes ask about sizes, and about values that were traced again."""

from __future__ import annotations

import operator
from typing import Any

from taeda import Tensor
from taeda.fx.node import Node

from ._expressions import Expression, Relation, constant
from .sym_node import SymBool, SymInt

__all__ = [
    "canonicalize_bool_expr", "check_consistent", "constrain_unify", "guard_size_oblivious",
    "is_accessor_node", "sym_eq",
]  # fmt: skip


def sym_eq(x: Any, y: Any) -> bool | SymBool:
    """Whether two sizes, or trees of sizes in tuples and lists, are equal; nothing is guarded.
    TypeError for values of two kinds.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> bool(sym_eq((n, 3), (6, 3))), sym_eq((n, 3), (6,))
    (True, False)
    """
    total, env = constant(0), None
    for a, b in _pairs(x, y):
        if a is None:
            return False
        if not isinstance(a, SymInt) and not isinstance(b, SymInt):
            if a != b:
                return False
            continue
        env = a.env if isinstance(a, SymInt) else b.env
        apart = _expression(a) - _expression(b)
        total = total + apart * apart  # no sum of squares is zero by chance
    if env is None:
        return True
    relation = Relation("==", total, constant(0))
    decided = relation.decided()
    return SymBool(relation, env) if decided is None else decided


def _pairs(x: Any, y: Any) -> list[tuple[Any, Any]]:
    if isinstance(x, (tuple, list)) and isinstance(y, (tuple, list)):
        if len(x) != len(y):
            return [(None, None)]
        return [pair for a, b in zip(x, y, strict=True) for pair in _pairs(a, b)]
    if isinstance(x, (int, SymInt)) and isinstance(y, (int, SymInt)):
        return [(x, y)]
    raise TypeError(
        f"sym_eq wants two sizes or two trees of sizes, got {type(x).__name__} and {type(y).__name__}"
    )


def _expression(value: int | SymInt) -> Expression:
    return value.expr if isinstance(value, SymInt) else constant(int(value))


def guard_size_oblivious(expr: bool | SymBool) -> bool:
    """The answer, which is guarded. Sizes of 0 and 1 are numbers here, so a symbol never is one.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> guard_size_oblivious(n == 1)
    False
    """
    return bool(expr)


def constrain_unify(a: int | SymInt, b: int | SymInt) -> None:
    """Guard that two sizes are equal. ValueError if they are not in this call.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> m = env.create_symintnode(env.create_symbol(6, "y.size(0)"), hint=6)
    >>> constrain_unify(n, m)
    >>> n, m
    (s0, s0)
    """
    if not a == b:
        raise ValueError(f"{a} and {b} are not equal in this call, so they cannot be one size")


def canonicalize_bool_expr(expr: Relation) -> Relation:
    """The same relation with the bare number on the left and all else on the right, by < or <= in
    place of > or >=; the sides of floats stay whole.

    >>> from taeda.fx.experimental.symbolic_shapes import ShapeEnv
    >>> env = ShapeEnv()
    >>> n = env.create_symintnode(env.create_symbol(6, "x.size(0)"), hint=6)
    >>> print(canonicalize_bool_expr((n - 4 > 1).relation))
    5 < s0
    """
    if expr.sign in (">", ">="):
        expr = Relation("<" if expr.sign == ">" else "<=", expr.right, expr.left)
    if not isinstance(expr.left, Expression) or not isinstance(expr.right, Expression):
        return expr  # floats, which are not reordered
    rest = expr.right - expr.left
    number = rest.terms.get((), 0)
    return Relation(expr.sign, constant(-number), rest - constant(number))


def is_accessor_node(node: Node) -> bool:
    """Whether a node reads a size, stride, offset or value of a tensor that another node gives.

    >>> from taeda.fx import symbolic_trace
    >>> gm = symbolic_trace(lambda x: x.relu() * x.size(0))
    >>> [node.name for node in gm.graph.nodes if is_accessor_node(node)]
    ['size']
    """
    if node.op == "call_method":
        return node.target in ("size", "stride", "storage_offset", "item")
    if node.op != "call_function":
        return False
    name = str(node.target).partition(".")[2].partition(".")[0]
    known = ("sym_size", "sym_stride", "sym_storage_offset", "_local_scalar_dense", "item")
    return node.target is operator.getitem or name in known


def check_consistent(new: Any, old: Any) -> None:
    """AssertionError unless two values that nodes had in two traces are alike: tensors of one
    shape, sizes and numbers equal.

    >>> check_consistent(taeda.ones(2), taeda.zeros(2))
    >>> check_consistent(3, 4)
    Traceback (most recent call last):
        ...
    AssertionError: 4 became 3
    """
    from .symbolic_shapes import statically_known_true  # late: it has this function as well

    if isinstance(new, Tensor) != isinstance(old, Tensor):
        raise AssertionError(f"{_said(old)} became {_said(new)}")
    alike = sym_eq(tuple(new.shape), tuple(old.shape)) if isinstance(new, Tensor) else new == old
    if not statically_known_true(alike):
        raise AssertionError(f"{_said(old)} became {_said(new)}")


def _said(value: Any) -> str:
    return f"a tensor of shape {tuple(value.shape)}" if isinstance(value, Tensor) else f"{value!r}"
