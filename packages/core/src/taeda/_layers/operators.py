"""Which method a mode, or `__torch_function__` of a type, gets for an operator of Python.

`x + 1` is a call of `Tensor.add`, and `1 - x` one of `Tensor.__rsub__` with the tensor first: what handlers
are registered for by programs that follow PyTorch.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._native import core as _core

from . import FUNCTION_MODE, TRANSFORM
from .dispatch import Unanswered, call_override, dispatch_override
from .foreign import refuse

__all__ = ["METHODS", "REFLECTED", "ask_operator", "ask_stranger"]

#: by operation: the method where the tensor stands on the left, and where it stands on the right alone
METHODS: dict[str, tuple[str, str]] = {
    "add": ("add", "add"), "sub": ("sub", "__rsub__"), "mul": ("mul", "mul"),
    "div": ("div", "__rtruediv__"), "floor_divide": ("__floordiv__", "__rfloordiv__"),
    "remainder": ("remainder", "__rmod__"), "pow": ("__pow__", "__rpow__"),
    "matmul": ("matmul", "__rmatmul__"), "bitwise_and": ("__and__", "bitwise_and"),
    "bitwise_or": ("__or__", "bitwise_or"), "bitwise_xor": ("__xor__", "bitwise_xor"),
    "bitwise_left_shift": ("__lshift__", "__rlshift__"),
    "bitwise_right_shift": ("__rshift__", "__rrshift__"), "eq": ("__eq__", "__eq__"),
    **{name: (name, name) for name in ("ne", "lt", "le", "gt", "ge", "neg", "positive", "abs", "add_",
        "sub_", "mul_", "div_", "floor_divide_", "remainder_")},
    "bitwise_not": ("__invert__", "__invert__"), "pow_": ("__ipow__", "__ipow__"),
    "bitwise_and_": ("__iand__", "__iand__"), "bitwise_or_": ("__ior__", "__ior__"),
    "bitwise_xor_": ("__ixor__", "__ixor__"), "bitwise_left_shift_": ("__ilshift__", "__ilshift__"),
    "bitwise_right_shift_": ("__irshift__", "__irshift__"),
}  # fmt: skip

#: by operation: the method that Python tries where the operand on the left declines
REFLECTED: dict[str, str] = {
    "add": "__radd__", "sub": "__rsub__", "mul": "__rmul__", "div": "__rtruediv__",
    "floor_divide": "__rfloordiv__", "remainder": "__rmod__", "pow": "__rpow__", "matmul": "__rmatmul__",
    "bitwise_and": "__rand__", "bitwise_or": "__ror__", "bitwise_xor": "__rxor__",
    "bitwise_left_shift": "__rlshift__", "bitwise_right_shift": "__rrshift__",
    "eq": "__eq__", "ne": "__ne__", "lt": "__gt__", "le": "__ge__", "gt": "__lt__", "ge": "__le__",
}  # fmt: skip


def ask_operator(op: str, *operands: Any) -> Any:
    """The operator `op` of operands that a mode or a type has a say in."""
    function = _core.functions[""][op]
    layers = _core.get_layers() & ~_core.get_excluded() & (FUNCTION_MODE | TRANSFORM)
    if layers == TRANSFORM:
        return dispatch_override(function, operands, {})
    reflected = not isinstance(operands[0], Tensor)
    method = getattr(Tensor, METHODS[op][reflected])
    args = operands[::-1] if reflected else operands
    return call_override(method, None, args, {}, args, below=(function, operands))


def ask_stranger(op: str, *operands: Any) -> Any:
    """The operator `op` of a tensor and an operand that is none, but has a `__torch_function__`.

    NotImplemented where that declines, or cannot and has an operator of its own to try next. TypeError where
    it is a tensor of PyTorch itself.
    """
    refuse(_core.functions[""][op], operands)
    try:
        return ask_operator(op, *operands)
    except Unanswered:
        return NotImplemented
    except TypeError:
        if not isinstance(operands[1], Tensor) and hasattr(operands[1], REFLECTED[op]):
            return NotImplemented
        raise
