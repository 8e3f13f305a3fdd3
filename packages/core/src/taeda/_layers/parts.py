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
}

#: rows with parts: the core asks for no other
ROWS = frozenset(_PARTS)
