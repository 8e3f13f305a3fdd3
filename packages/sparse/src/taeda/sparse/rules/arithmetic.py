"""Sums, and products and quotients element by element."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from .._compress import to_compressed
from .._compressed import BLOCKED
from .._convert import to_coo
from .._graph import at_places, built, entries, find, raw_entries
from .._parts import Coo, keys_of, parts_of
from ._registry import ALL, in_place, rule

_Number = (bool, int, float, complex)


def _is_scalar(x: Any) -> bool:
    return isinstance(x, _Number) or (x.layout is taeda.strided and x.dim() == 0)


def _is_sparse(x: Any) -> bool:
    return isinstance(x, Tensor) and x.layout is not taeda.strided


# ---- sums ----


@rule("add.Tensor")
def add(a: Any, b: Any, alpha: Any = 1) -> Any:
    if isinstance(a, _Number) or isinstance(b, _Number):
        return NotImplemented  # no longer sparse
    if not _is_sparse(a):
        return _dense_plus(a, b, alpha)
    if not _is_sparse(b):
        _check_broadcast(b, a, "add")
        return taeda.add(a.to_dense(), b, alpha=alpha)
    return _sparse_plus(a, b, alpha)


@rule("sub.Tensor")
def sub(a: Any, b: Any, alpha: Any = 1) -> Any:
    if isinstance(a, Tensor) and isinstance(b, Tensor) and taeda.bool in (a.dtype, b.dtype):
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. Use ^ or "
            "logical_xor() of the values"
        )
    return add(a, b, -alpha)


@rule("rsub.Tensor")
def rsub(a: Any, b: Any, alpha: Any = 1) -> Any:
    return sub(b, a, alpha)


def _scaled(values: Tensor, alpha: Any) -> Tensor:
    return values if type(alpha) is int and alpha == 1 else values * alpha


def _check_shapes(a: Tensor, b: Tensor, name: str) -> None:
    if a.shape != b.shape:
        raise RuntimeError(
            f"{name}: expected sizes of 'self' and 'other' to match, but {tuple(a.shape)} != "
            f"{tuple(b.shape)}: sparse tensors are not broadcast"
        )


def _check_broadcast(dense: Tensor, x: Tensor, name: str) -> Any:
    """The shape of `x`; RuntimeError if it is not that of both together."""
    if tuple(taeda.broadcast_shapes(dense.shape, x.shape)) != tuple(x.shape):
        _check_shapes(dense, x, name)
    return x.shape


def _sparse_plus(a: Tensor, b: Tensor, alpha: Any) -> Any:
    _check_shapes(a, b, "add")
    dtype = taeda.result_type(_facts(a), _facts(b))
    made = _union(to_coo(a), to_coo(b), alpha, dtype)
    return _in_layout_of(a, b, made)


def _union(a: Tensor, b: Tensor, alpha: Any, dtype: Any) -> Tensor:
    """The entries of both by coordinates, one behind the other; those of one place added up if neither
    tensor repeats a place, so that the sum does not either.
    """
    one, values = raw_entries(a)
    other, others = raw_entries(b)
    if one.indices.size(0) != other.indices.size(0):
        raise RuntimeError(
            f"add: one tensor has {one.indices.size(0)} sparse dimensions, the other "
            f"{other.indices.size(0)}"
        )
    joined = taeda.cat([values.to(dtype), _scaled(others.to(dtype), alpha).to(dtype)])
    indices = taeda.cat([one.indices, other.indices], 1)
    made = built(Coo(indices, joined.detach(), False), joined, a.shape)
    if not one.is_coalesced or not other.is_coalesced:
        return made
    return built(*entries(made), a.shape)


def _in_layout_of(a: Tensor, b: Tensor, made: Tensor) -> Tensor:
    """What was made by coordinates, in the layout of both if they have the same."""
    if a.layout is not b.layout or a.layout is taeda.sparse_coo:
        return made
    parts = parts_of(a)
    return to_compressed(made, a.layout, parts.blocksize if a.layout in BLOCKED else None)


def _facts(x: Tensor) -> Tensor:
    """A strided tensor of the same dtype, which promotes in the same way."""
    return taeda.empty((1,) * x.dim(), dtype=x.dtype, device="meta")


def _dense_plus(dense: Tensor, x: Tensor, alpha: Any) -> Tensor:
    shape = _check_broadcast(dense, x, "add")
    dtype = taeda.result_type(dense, _facts(x))
    if dtype is taeda.bool:  # a sum of bools is no sum of numbers
        return taeda.add(dense, x.to_dense(), alpha=alpha)
    parts, values = raw_entries(x)
    wide = dense.expand(shape).to(dtype).clone(memory_format=taeda.contiguous_format)
    return _added(wide, parts, parts.flat(_scaled(values.to(dtype), alpha).to(dtype)))


def _added(dense: Tensor, parts: Any, values: Tensor) -> Tensor:
    """`dense`, which is row-major, plus the values at their places."""
    places = parts.places()
    if not places:
        return dense + values.sum(0).to(dense.dtype)
    rest = tuple(dense.shape[len(places) :])
    rows = dense.reshape((-1, *rest)) if dense.numel() else dense
    if not dense.numel():
        return dense
    return rows.index_add(0, keys_of(places, dense.shape), values).reshape(dense.shape)


# ---- into a dense tensor, in place: what optimizers and accumulated gradients do ----


def _add_into(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    if self.layout is not taeda.strided:
        return _replace(self, other, alpha)
    _check_shapes(self, other, "add_")
    parts, values = raw_entries(other)
    places = parts.places()
    dtype = taeda.result_type(self, _facts(other))
    if not taeda.can_cast(dtype, self.dtype):
        raise RuntimeError(
            f"result type {dtype} can't be cast to the desired output type {self.dtype}"
        )
    scaled = parts.flat(_scaled(values, alpha).to(self.dtype))
    if not places:
        return self.add_(scaled.sum(0))
    if len(places) == 1:
        return self.index_add_(0, places[0], scaled)
    return self.index_put_(places, scaled, accumulate=True)


def _replace(self: Tensor, other: Any, alpha: Any) -> Any:
    return core.layout_rules(self.layout, True)["add sparse"](self, other, alpha)


def _sub_into(self: Tensor, other: Any, alpha: Any = 1) -> Any:
    return _add_into(self, other, -alpha)


# ---- products ----


@rule("mul.Tensor")
def mul(a: Any, b: Any) -> Any:
    if not _is_sparse(a):
        a, b = b, a
    if _is_scalar(b):
        parts, values = raw_entries(a)
        return built(parts, values * b, a.shape)
    if _is_sparse(b):
        return _common(a, b)
    shape = _check_broadcast(b, a, "mul")
    parts, values = raw_entries(a)
    return built(parts, values * at_places(b.expand(shape), parts), a.shape)


def _common(a: Tensor, b: Tensor) -> Tensor:
    """The products at the places that both tensors have."""
    _check_shapes(a, b, "mul")
    return _in_layout_of(a, b, _intersection(to_coo(a), to_coo(b)))


def _intersection(a: Tensor, b: Tensor) -> Tensor:
    one, values = entries(a)
    other, others = entries(b)
    if len(one.places()) != len(other.places()):
        raise RuntimeError("mul: the tensors have different numbers of sparse dimensions")
    if not one.places():
        made = values[: others.size(0)] * others[: values.size(0)]
        return built(Coo(one.indices[:, : made.size(0)], made.detach(), True), made, a.shape)
    found, at = find(keys_of(other.places(), a.shape), keys_of(one.places(), a.shape))
    there = found.nonzero().squeeze(1)
    made = values[there] * others[at[there]]
    return built(Coo(one.indices[:, there], made.detach(), True), made, a.shape)


@rule("div.Tensor")
def div(a: Any, b: Any) -> Any:
    if not _is_sparse(a) or not _is_scalar(b):
        return NotImplemented
    parts, values = raw_entries(a)
    return built(parts, values / b, a.shape)


@rule("div.Tensor_mode")
def div_rounded(a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if not _is_sparse(a) or not _is_scalar(b):
        return NotImplemented
    parts, values = entries(a) if rounding_mode else raw_entries(a)
    return built(parts, taeda.div(values, b, rounding_mode=rounding_mode), a.shape)


@rule("floor_divide")
def floor_divide(a: Any, b: Any) -> Any:
    return div_rounded(a, b, "floor")


@rule("pow.Tensor_Tensor")
def power(a: Any, b: Any) -> Any:
    """0 to a power above 0 is 0; other powers would leave nothing sparse."""
    if not _is_sparse(a) or not isinstance(b, (bool, int, float)) or not b > 0:
        return NotImplemented
    parts, values = entries(a)
    return built(parts, values**b, a.shape)


in_place(
    "add.Tensor",
    "sub.Tensor",
    "mul.Tensor",
    "div.Tensor",
    "div.Tensor_mode",
    "floor_divide",
    "pow.Tensor_Tensor",
)
for _layout in ALL:
    _written = core.layout_rules(_layout, True)
    _written["add sparse"] = _written["add.Tensor"]
    _written["add.Tensor"], _written["sub.Tensor"] = _add_into, _sub_into
