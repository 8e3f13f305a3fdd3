"""Operations on lists of tensors, tensor by tensor; one number on floating-point lists goes through
one C call.

A function is named after its row: `_foreach_add__Scalar` is `_foreach_add_.Scalar`. Most are made
at the end for the rows that the table has, from the method of the same name that Tensor has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

import taeda
from taeda import Tensor
from taeda._layers import is_recorded
from taeda._native import core as _core

Tensors = Sequence[Tensor]
Make = Callable[[str], Callable[..., Any]]
_FLAT = {"add": "add", "sub": "add", "mul": "mul", "div": "div"}


def _check_lengths(name: str, self: Tensors, *others: Sequence[Any]) -> None:
    for other in others:
        if len(other) != len(self):
            raise RuntimeError(
                f"_foreach_{name}: lists must be of one length, got {len(self)} and {len(other)}"
            )


def _unwatched(self: Tensors) -> bool:
    """Whether all are floating-point tensors that no graph watches."""
    if taeda.is_grad_enabled() and any(t.requires_grad for t in self):
        return False
    return not _core.is_forward_on() and all(t.is_floating_point() for t in self)


def _plain(self: Tensors) -> bool:
    """Whether all are floating-point tensors on the processor that no graph watches."""
    return _unwatched(self) and all(t.is_cpu for t in self)


def _unary(name: str) -> Callable[[Tensors], list[Tensor]]:
    call = methodcaller(_method(name))
    return lambda self: [call(t) for t in self]


def _with_one(name: str) -> Callable[[Tensors, Any], list[Tensor]]:
    def each(self: Tensors, scalar: Any) -> list[Tensor]:
        call = methodcaller(_method(name), scalar)
        return [call(t) for t in self]

    return each


def _with_number_inplace(name: str) -> Callable[[Tensors, Any], Tensors]:
    each = _with_one(f"{name}_")

    def all_at_once(self: Tensors, scalar: Any) -> Tensors:
        if (
            isinstance(scalar, Tensor)
            and scalar.numel() == 1
            and not _core.wants_derivative(scalar)
        ):
            watched = is_recorded() and all(t.dtype == scalar.dtype for t in self)  # equal in bits
            scalar = scalar.item() if not watched and _plain([*self, scalar]) else scalar
        if isinstance(scalar, (int, float)) and _plain(self):
            taeda._flat_number_(self, -scalar if name == "sub" else scalar, _FLAT[name])
        else:
            each(self, scalar)
        return self

    return all_at_once


def _with_list(name: str) -> Callable[..., list[Tensor]]:
    def each(self: Tensors, other: Sequence[Any], **alpha: Any) -> list[Tensor]:
        _check_lengths(name, self, other)
        method = _method(name)
        return [getattr(t, method)(o, **alpha) for t, o in zip(self, other, strict=True)]

    return each


def _with_list_and_alpha(name: str) -> Callable[..., list[Tensor]]:
    each = _with_list(name)
    return lambda self, other, alpha=1: each(self, other, alpha=alpha)


def _with_two_lists(name: str) -> Callable[..., list[Tensor]]:
    def each(self: Tensors, first: Tensors, second: Tensors, value: Any = 1) -> list[Tensor]:
        _check_lengths(name, self, first, second)
        listed = value.tolist() if isinstance(value, Tensor) else value
        values = listed if isinstance(listed, (list, tuple)) else [listed] * len(self)
        _check_lengths(name, self, values)
        entries = zip(self, first, second, values, strict=True)
        return [getattr(t, name)(a, b, value=v) for t, a, b, v in entries]

    return each


def _lerp(name: str) -> Callable[..., list[Tensor]]:
    def each(self: Tensors, tensors1: Tensors, weight: Any) -> list[Tensor]:
        weights = weight if isinstance(weight, (list, tuple)) else [weight] * len(self)
        _check_lengths(name, self, tensors1, weights)
        entries = zip(self, tensors1, weights, strict=True)
        return [getattr(t, name)(o, w) for t, o, w in entries]

    return each


def _foreach_copy_(self: Tensors, src: Tensors, non_blocking: bool = False) -> Tensors:
    """Copy pair by pair; the list itself."""
    _check_lengths("copy_", self, src)
    for t, s in zip(self, src, strict=True):
        t.copy_(s, non_blocking)
    return self


def _foreach_norm_Scalar(  # noqa: N802 - its row's name
    self: Tensors, ord: Any = 2, dtype: Any = None
) -> list[Tensor]:
    """The norms in one call; each by itself where a gradient is wanted or a tensor is complex."""
    if _unwatched(self):
        return taeda._flat_norms(self, ord, dtype)
    return [taeda.linalg.vector_norm(t, ord, dtype=dtype) for t in self]


def _foreach_pow_ScalarAndTensor(self: Any, exponent: Tensors) -> list[Tensor]:  # noqa: N802 - its row's name
    """A number to the power of every tensor."""
    return [taeda.pow(self, t) for t in exponent]


#: what an operation on lists is called on one tensor, where that differs
_METHODS = {"maximum": "clamp_min", "minimum": "clamp_max"}


def _method(name: str) -> str:
    """The method of a Tensor for an operation on lists; in place where the name ends so."""
    bare = name.removesuffix("_")
    return _METHODS.get(bare, bare) + name[len(bare) :]


#: overload -> what makes the functions of its rows; operations that are called in another way
_MAKERS: dict[str, Make] = {
    "": _unary,
    "Scalar": _with_one,
    "Tensor": _with_one,
    "List": _with_list,
    "ScalarList": _with_list,
}
_OTHERS: dict[str, Make] = {
    "add.List": _with_list_and_alpha,
    "sub.List": _with_list_and_alpha,
    "addcmul.Scalar": _with_two_lists,
    "addcmul.ScalarList": _with_two_lists,
    "addcdiv.Scalar": _with_two_lists,
    "addcdiv.ScalarList": _with_two_lists,
    "addcmul.Tensor": _with_two_lists,
    "addcdiv.Tensor": _with_two_lists,
    "lerp.Scalar": _lerp,
    "lerp.List": _lerp,
    "lerp.ScalarList": _lerp,
}


def _function(name: str, overload: str) -> Callable[..., Any]:
    """What a row of this name does: in place if the name ends so, and then it returns the list."""
    bare = name.removesuffix("_")
    make: Make = _OTHERS.get(f"{bare}.{overload}") or _MAKERS[overload]
    if name == bare:
        return make(name)
    if overload in ("Scalar", "Tensor") and bare in _FLAT:
        return _with_number_inplace(bare)
    inplace = make(name)

    def in_place(self: Tensors, *args: Any) -> Tensors:
        inplace(self, *args)
        return self

    return in_place


def _define() -> None:
    """The functions of all rows of lists that are not written out above."""
    for text, _, kind, _, function, _ in _core.op_rows():
        if kind == "composite" and text.startswith("_foreach_") and function not in globals():
            name, _, overload = text.removeprefix("_foreach_").partition(".")
            globals()[function] = _function(name, overload)


_define()
