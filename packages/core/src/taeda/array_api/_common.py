"""What the functions of the standard share: promotion by its tables, axes, and names given on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import taeda
from taeda import Tensor
from taeda._parts.data import read

__all__ = ["DTYPES", "Array", "Axis", "axes_of", "common", "kind_of", "named", "pair", "wide"]

Array = Tensor
Axis = int | Sequence[int] | None

DTYPES: dict[str, tuple[taeda.dtype, ...]] = {
    "bool": (taeda.bool,),
    "signed integer": (taeda.int8, taeda.int16, taeda.int32, taeda.int64),
    "unsigned integer": (taeda.uint8, taeda.uint16, taeda.uint32, taeda.uint64),
    "real floating": (taeda.float32, taeda.float64),
    "complex floating": (taeda.complex64, taeda.complex128),
}


def kind_of(dtype: taeda.dtype) -> str:
    """The kind of a dtype in the standard's words."""
    if dtype is taeda.bool:
        return "bool"
    if dtype.is_complex:
        return "complex floating"
    if dtype.is_floating_point:
        return "real floating"
    return "signed integer" if dtype.is_signed else "unsigned integer"


def common(*values: Any) -> taeda.dtype:
    """The dtype to which tensors and Python numbers are promoted; sizes and ranks play no part."""
    dtypes = [v.dtype for v in values if isinstance(v, Tensor)]
    found = dtypes[0]
    for dtype in dtypes[1:]:
        found = taeda.promote_types(found, dtype)
    for value in values:
        if not isinstance(value, Tensor):
            found = _with_number(found, value)
    return found


def _with_number(dtype: taeda.dtype, value: Any) -> taeda.dtype:
    """A number takes the tensor's dtype, unless its kind is higher."""
    if isinstance(value, bool) or (isinstance(value, int) and dtype is not taeda.bool):
        return dtype
    if isinstance(value, complex) and dtype.is_floating_point:
        return dtype.to_complex()
    if isinstance(value, (float, complex)) and (dtype.is_floating_point or dtype.is_complex):
        return dtype
    return taeda.result_type(taeda.empty((), dtype=dtype), value)


def pair(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Two operands as tensors of their common dtype; one of them may be a Python number."""
    dtype = common(a, b)
    device = a.device if isinstance(a, Tensor) else b.device
    made = (
        v.to(dtype) if isinstance(v, Tensor) else taeda.full((), v, dtype=dtype, device=device)
        for v in (a, b)
    )
    first, second = made
    return first, second


def wide(function: Callable[..., Tensor], *operands: Tensor, wraps: bool = True) -> Tensor:
    """Call a function of operands of one dtype, for uint16 and uint32 by way of int64.

    uint64 goes that way too where the function `wraps`: its result, modulo 2**64, is the same for
    signed numbers.
    """
    dtype = operands[0].dtype
    if dtype is taeda.uint64 and wraps:
        made = function(*(x.view(taeda.int64) for x in operands))
        return made.view(taeda.uint64) if made.dtype is taeda.int64 else made
    if dtype not in (taeda.uint16, taeda.uint32):
        return function(*operands)
    made = function(*(x.to(taeda.int64) for x in operands))
    return made.to(dtype) if made.dtype is taeda.int64 else made


def axes_of(x: Tensor, axis: Axis) -> tuple[int, ...]:
    """Axes from 0 on, every one for None. IndexError for one that is not there."""
    if axis is None:
        return tuple(range(x.ndim))
    given = (axis,) if isinstance(axis, int) else tuple(axis)
    for a in given:
        if not -x.ndim <= a < x.ndim:
            raise IndexError(f"axis {a} is out of bounds for an array of {x.ndim} dimensions")
    return tuple(a % x.ndim for a in given)


def named(
    name: str, function: Callable[..., Any], doc: str, module: str = "taeda.array_api"
) -> Callable[..., Any]:
    """Give a function made here the standard's name, and the example of that name."""
    function.__name__ = function.__qualname__ = name
    place = module.removeprefix("taeda.array_api").lstrip(".")
    example = _examples().get(f"{place}.{name}".lstrip("."), "")
    function.__doc__ = f"{doc}\n\n{example}".rstrip()
    function.__module__ = module
    return function


@cache
def _examples() -> dict[str, str]:
    """The calls of `_examples.txt` by the name that stands above each."""
    blocks = read(__package__, "_examples.txt").decode().split("\n\n")
    pairs = (block.strip().partition("\n") for block in blocks)
    return {name: lines for name, _, lines in pairs}
