"""What a node gives that computes with sizes, as a formula, from the formulas of what it reads."""

from __future__ import annotations

import operator
from typing import Any

import taeda
from taeda.fx.experimental._expressions import (
    Expression,
    constant,
    floor_div,
    larger,
    modulo,
    smaller,
)
from taeda.fx.node import Node

__all__ = ["formula_of_node"]

_RULES: dict[Any, Any] = {
    operator.add: operator.add,
    operator.sub: operator.sub,
    operator.mul: operator.mul,
    operator.neg: operator.neg,
    operator.floordiv: floor_div,
    operator.mod: modulo,
    taeda.sym_max: larger,
    taeda.sym_min: smaller,
}


def formula_of_node(node: Node) -> Expression | None:
    """The formula of an integer; None where the node is no such function, or reads something that has
    no formula.
    """
    rule = _RULES.get(node.target)
    parts = [_side(arg) for arg in node.args]
    if rule is None or node.kwargs or not parts or None in parts:
        return None
    made: Expression = rule(*parts)
    return made


def _side(value: Any) -> Expression | None:
    if type(value) is int:
        return constant(value)
    known = value.meta.get("shape") if isinstance(value, Node) else None
    return known if isinstance(known, Expression) else None
