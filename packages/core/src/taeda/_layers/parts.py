"""Operators that the reference writes in others, in these others: what a type with a
`__torch_dispatch__` sees of them.

A table row of ours may be one kernel where the reference has several operators (`linear` is `t` and
`addmm`). A class that is written for its operators knows these, so a call on its tensors runs in
parts, above autograd, which records the parts.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import taeda
from taeda import Tensor

from . import DISPATCH_MODE, FUNCTION_MODE, TRACE, TRANSFORM, hidden

__all__ = ["ROWS", "in_parts"]


def in_parts(row: str, args: tuple[Any, ...]) -> Any:
    """The result of a row's call on these arguments, one per parameter; NotImplemented if the row
    is seen itself.
    """
    found = _PARTS.get(row)
    return NotImplemented if found is None else found(*args)


# ---- products ----


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if weight.dim() != 2 or bias is None or x.dim() not in (2, 3) or not x.is_contiguous():
        made = x.matmul(weight.t())
        return made if bias is None else made + bias
    if x.dim() == 2:
        return taeda.addmm(bias, x, weight.t())
    rows = taeda.addmm(bias, x.view(-1, x.shape[-1]), weight.t())
    return rows.view(*x.shape[:-1], weight.shape[0])


def _matmul(a: Tensor, b: Tensor) -> Any:
    if not a.dim() or not b.dim():
        return NotImplemented  # the row itself refuses
    if b.dim() == 1:
        return taeda.dot(a, b) if a.dim() == 1 else _rows_times(a, b)
    if a.dim() == 1:
        return _matmul(a.unsqueeze(0), b).squeeze(-2)
    if b.dim() == 2:
        return taeda.mm(a, b) if a.dim() == 2 else _rows_times(a, b)
    return _batches(a, b)


def _rows_times(a: Tensor, b: Tensor) -> Tensor:
    """All dimensions of `a` but the last as one."""
    if a.dim() == 2:
        return taeda.mv(a, b)
    rows = a.reshape(-1, a.shape[-1]) if a.numel() else a.reshape(prod(a.shape[:-1]), a.shape[-1])
    made = taeda.mv(rows, b) if b.dim() == 1 else taeda.mm(rows, b)
    return made.view(*a.shape[:-1], *b.shape[1:])


def _batches(a: Tensor, b: Tensor) -> Tensor:
    batch = taeda.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    flat = [t.expand(*batch, *t.shape[-2:]).reshape(prod(batch), *t.shape[-2:]) for t in (a, b)]
    return taeda.bmm(*flat).view(*batch, a.shape[-2], b.shape[-1])


# ---- layout ----


def _reshape(x: Tensor, shape: Any) -> Tensor:
    if _is_viewable(x, tuple(shape)):
        return x.view(shape)
    return x.clone(memory_format=taeda.contiguous_format).view(shape)


def _is_viewable(x: Tensor, shape: tuple[int, ...]) -> bool:
    if x.is_contiguous():
        return True
    with hidden(DISPATCH_MODE, TRACE, FUNCTION_MODE, TRANSFORM):
        like = taeda.empty_strided(x.shape, x.stride(), dtype=taeda.uint8, device="meta")
        return like.reshape(shape)._is_view()


def _flatten(x: Tensor, start: int, end: int) -> Tensor:
    rank = max(x.dim(), 1)
    first, last = (d + rank if d < 0 else d for d in (start, end))
    if not (0 <= first < rank and 0 <= last < rank and first <= last):
        return NotImplemented
    if not x.dim():
        return x.reshape(1)
    if first == last:
        return x
    return x.reshape(*x.shape[:first], prod(x.shape[first : last + 1]), *x.shape[last + 1 :])


def _contiguous(x: Tensor, memory_format: Any) -> Tensor:
    wanted = taeda.contiguous_format if memory_format is None else memory_format
    if x.is_contiguous(memory_format=wanted):
        return x
    return x.clone(memory_format=wanted)


def _chunk(x: Tensor, chunks: int, dim: int) -> Any:
    size = x.shape[dim] if -x.dim() <= dim < x.dim() else 0
    if chunks < 1 or not size:
        return NotImplemented
    return x.split((size + chunks - 1) // chunks, dim)


def _split(x: Tensor, starts: list[int], stops: list[int], dim: int) -> Any:
    return [_slice(x, dim, start, stop) for start, stop in zip(starts, stops, strict=True)]


def _slice(x: Tensor, dim: int, start: int, stop: int) -> Any:
    return taeda.ops.aten.slice.Tensor(x, dim, start, stop)


def _has(x: Tensor, *dims: int) -> bool:
    return all(-x.dim() <= d < x.dim() for d in dims)


def _narrow(x: Tensor, dim: int, start: int, length: int) -> Any:
    if not _has(x, dim):
        return NotImplemented
    first = start + x.shape[dim] if start < 0 else start
    if first < 0 or length < 0 or first + length > x.shape[dim]:
        return NotImplemented
    return _slice(x, dim, first, first + length)


def _sections(x: Tensor, sections: int, dim: int) -> Any:
    """Parts of nearly one size: the first ones have one more."""
    if sections < 1 or not _has(x, dim):
        return NotImplemented
    size, more = divmod(x.shape[dim], sections)
    ends = [size * (k + 1) + min(k + 1, more) for k in range(sections)]
    return _split(x, [0, *ends[:-1]], ends, dim)


def _cut(x: Tensor, indices: list[int], dim: int) -> Any:
    if not _has(x, dim):
        return NotImplemented
    return _split(x, [0, *indices], [*indices, x.shape[dim]], dim)


def _halves(name: str, how: Callable[..., Any]) -> Callable[..., Any]:
    """`hsplit` and its like: `how` along their own dimension. The row refuses what does not fit."""

    def split(x: Tensor, given: Any) -> Any:
        dim = {"h": 1 if x.dim() > 1 else 0, "v": 0, "d": 2}[name]
        whole = how is not _sections or (given > 0 and _has(x, dim) and not x.shape[dim] % given)
        fits = x.dim() >= {"h": 1, "v": 2, "d": 3}[name]
        return how(x, given, dim) if fits and whole else NotImplemented

    return split


def _movedim(x: Tensor, source: Any, destination: Any) -> Any:
    given = [[v] if isinstance(v, int) else list(v) for v in (source, destination)]
    if not _has(x, *given[0], *given[1]) or len(given[0]) != len(given[1]):
        return NotImplemented
    start, end = ([d % x.dim() for d in dims] for dims in given)
    if len(set(start)) < len(start) or len(set(end)) < len(end):
        return NotImplemented
    rest = iter(d for d in range(x.dim()) if d not in start)
    return x.permute(
        [start[end.index(place)] if place in end else next(rest) for place in range(x.dim())]
    )


def _unflatten(x: Tensor, dim: int, sizes: Any) -> Any:
    known = prod(n for n in sizes if n != -1)
    if not _has(x, dim) or list(sizes).count(-1) > 1 or min(sizes, default=-2) < -1:
        return NotImplemented
    fits = known and not x.shape[dim] % known if -1 in sizes else known == x.shape[dim]
    if not fits:
        return NotImplemented
    place = dim % x.dim()
    inner = [x.shape[place] // known if n == -1 else n for n in sizes]
    return x.view(*x.shape[:place], *inner, *x.shape[place + 1 :])


def _adjoint(x: Tensor) -> Any:
    if x.dim() < 2:
        return NotImplemented
    made = x.transpose(-2, -1)
    return made.conj() if x.is_complex() else made


def _tile(x: Tensor, dims: Any) -> Any:
    return x.repeat(*[1] * (x.dim() - len(dims)), *dims)


def _itself_if(plain: Callable[[Tensor], bool]) -> Callable[[Tensor], Any]:
    return lambda x: x if plain(x) else NotImplemented


_PARTS: dict[str, Callable[..., Any]] = {
    "linear": _linear,
    "matmul": _matmul,
    "reshape": _reshape,
    "flatten.using_ints": _flatten,
    "contiguous": _contiguous,
    "chunk": _chunk,
    "conj": _itself_if(lambda x: not x.is_complex()),
    "resolve_conj": _itself_if(lambda x: not x.is_conj()),
    "resolve_neg": _itself_if(lambda x: not x.is_neg()),
    "numpy_T": lambda x: x.permute(*reversed(range(x.dim()))),
    "mT": lambda x: x.transpose(-2, -1) if x.dim() >= 2 else NotImplemented,
    "mH": _adjoint,
    "adjoint": _adjoint,
    "matrix_H": lambda x: _adjoint(x) if x.dim() == 2 else NotImplemented,
    "narrow": _narrow,
    "movedim.int": _movedim,
    "movedim.intlist": _movedim,
    "swapaxes": lambda x, a, b: x.transpose(a, b),
    "swapdims": lambda x, a, b: x.transpose(a, b),
    "ravel": lambda x: x.reshape(-1),
    "view_as": lambda x, other: x.view(other.shape),
    "reshape_as": lambda x, other: x.reshape(other.shape),
    "expand_as": lambda x, other: x.expand(other.shape),
    "broadcast_to": lambda x, size: x.expand(size),
    "unflatten.int": _unflatten,
    "split.sizes": lambda x, sizes, dim: x.split_with_sizes(sizes, dim),
    "tensor_split.sections": _sections,
    "tensor_split.indices": _cut,
    "hsplit.int": _halves("h", _sections),
    "vsplit.int": _halves("v", _sections),
    "dsplit.int": _halves("d", _sections),
    "hsplit.array": _halves("h", _cut),
    "vsplit.array": _halves("v", _cut),
    "dsplit.array": _halves("d", _cut),
    "tile": _tile,
    "where": lambda condition: condition.nonzero().unbind(1),
}

#: rows with parts: the core asks for no other
ROWS = frozenset(_PARTS)
