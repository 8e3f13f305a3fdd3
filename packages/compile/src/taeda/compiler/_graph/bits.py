"""Whether values are equal in every bit, layout included; copies of them, to be compared later."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import taeda
from taeda import Tensor

from .._kinds import is_record

__all__ = ["contents", "same"]

#: integers that show the bits of floating-point numbers of so many bytes
_BITS = {1: taeda.uint8, 2: taeda.int16, 4: taeda.int32, 8: taeda.int64}


def same(a: Any, b: Any) -> bool:
    """Whether two results are equal in every bit, layout included; nan equals nan."""
    if isinstance(a, Tensor):
        return (
            isinstance(b, Tensor)
            and (a.dtype, a.layout, a.shape) == (b.dtype, b.layout, b.shape)
            and _same_elements(a.detach(), b.detach())
        )
    if type(a) in (list, tuple) or hasattr(a, "_fields"):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if type(a) in (dict, OrderedDict):
        return type(b) is type(a) and list(a) == list(b) and all(map(same, a.values(), b.values()))
    if is_record(type(a)):
        return type(a) is type(b) and same(vars(a), vars(b))
    if type(a) in (float, complex):
        return type(a) is type(b) and (repr(a) == repr(b) or (a != a and b != b))
    return a is b or (type(a) is type(b) and a == b)


def contents(value: Any) -> Any:
    """Copies of the tensors in tuples and lists of values; of one without memory its layout."""
    if isinstance(value, Tensor):
        layout = (value.dtype, tuple(value.shape), value.stride(), value.device)
        return layout if value.is_meta else (layout, value.detach().clone())
    if isinstance(value, tuple | list):
        return tuple(contents(entry) for entry in value)
    return value


def _same_elements(a: Tensor, b: Tensor) -> bool:
    """Equal, zeros in their signs too, with nan equal to nan."""
    if a.layout is not taeda.strided or a.stride() != b.stride():
        return False  # no graph gives another layout: a program that does stays as it is
    if not (a.is_floating_point() or a.is_complex()):
        return bool(a.equal(b))
    a, b = _real(a), _real(b)
    x, y = a.view(_BITS[a.itemsize]), b.view(_BITS[b.itemsize])
    return bool(x.equal(y)) or bool(((x == y) | ((a != a) & (b != b))).all())


def _real(t: Tensor) -> Tensor:
    return taeda.view_as_real(t.resolve_conj()) if t.is_complex() else t.resolve_neg()
