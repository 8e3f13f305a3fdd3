"""Which method a mode, or `__torch_function__` of a type, gets for an operator of Python.

`x + 1` is a call of `Tensor.add`, and `1 - x` one of `Tensor.__rsub__` with the tensor first: what handlers
are registered for by programs that follow PyTorch.
"""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._native import core as _core

from . import FUNCTION_MODE, TRANSFORM
from .dispatch import call_override, dispatch_override
from .foreign import refuse

__all__ = ["METHODS", "ask_operator", "decline"]

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


def decline(op: str, *operands: Any) -> Any:
    """NotImplemented: the other operand is asked. TypeError where that is a tensor of PyTorch itself."""
    refuse(_core.functions[""][op], operands)
    return NotImplemented
