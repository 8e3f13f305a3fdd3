"""Views, copied. A row here is named as its view, with `_copy` behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = ["narrow_copy", "unsafe_chunk", "unsafe_split", "unsafe_split_with_sizes"]


def _copied(view: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def copy(self: Tensor, *args: Any) -> Tensor:
        return view(self, *args).clone(memory_format=taeda.contiguous_format)

    return copy


def _all_copied(view: Callable[..., Sequence[Tensor]]) -> Callable[..., tuple[Tensor, ...]]:
    def copy(self: Tensor, *args: Any) -> tuple[Tensor, ...]:
        return tuple(t.clone(memory_format=taeda.contiguous_format) for t in view(self, *args))

    return copy


def _slice(self: Tensor, dim: int, start: int | None, end: int | None, step: int) -> Tensor:
    return self[(slice(None),) * (dim % max(self.dim(), 1)) + (slice(start, end, step),)]


_VIEWS: dict[str, Callable[..., Tensor]] = {
    "alias_copy": lambda self: self,
    "as_strided_copy": lambda self, size, stride, offset: self.as_strided(size, stride, offset),
    "detach_copy": lambda self: self.detach(),
    "diagonal_copy": lambda self, offset, dim1, dim2: self.diagonal(offset, dim1, dim2),
    "expand_copy": lambda self, size, implicit: self.expand(size),
    "permute_copy": lambda self, dims: self.permute(dims),
    "select_copy": lambda self, dim, index: self.select(dim, index),
    "slice_copy": _slice,
    "squeeze_copy": lambda self, *dim: self.squeeze(*dim),
    "t_copy": lambda self: self.t(),
    "transpose_copy": lambda self, dim0, dim1: self.transpose(dim0, dim1),
    "unfold_copy": lambda self, dimension, size, step: self.unfold(dimension, size, step),
    "unsqueeze_copy": lambda self, dim: self.unsqueeze(dim),
    "view_as_real_copy": taeda.view_as_real,
    "view_as_complex_copy": taeda.view_as_complex,
    "view_copy": lambda self, shape: self.view(shape),
}
globals().update({name: _copied(view) for name, view in _VIEWS.items()})
split_copy = _all_copied(lambda self, size, dim: self.split(size, dim))
split_with_sizes_copy = _all_copied(lambda self, sizes, dim: self.split_with_sizes(sizes, dim))
unbind_copy = _all_copied(lambda self, dim: self.unbind(dim))


def _written(name: str, parts: Sequence[Tensor], out: Sequence[Tensor]) -> None:
    """Every part into its tensor, which gets the part's shape.
    Raises RuntimeError for another number or dtype of tensors.
    """
    if len(out) != len(parts):
        raise RuntimeError(f"{name}: expected out= of {len(parts)} tensors, got {len(out)}")
    for part, into in zip(parts, out, strict=True):
        if into.dtype is not part.dtype:
            raise RuntimeError(
                f"{name}: expected out= tensors of dtype {part.dtype}, got {into.dtype}"
            )
        if into.shape != part.shape:
            into.resize_(part.shape)
        into.copy_(part)


def split_with_sizes_copy_out(
    self: Tensor, split_sizes: Sequence[int], dim: int, out: Sequence[Tensor]
) -> None:
    """Parts of the sizes, copied into `out`."""
    _written("split_with_sizes_copy", self.split_with_sizes(split_sizes, dim), out)


def unbind_copy_int_out(self: Tensor, dim: int, out: Sequence[Tensor]) -> None:
    """Slices along `dim`, copied into `out`."""
    _written("unbind_copy", self.unbind(dim), out)


def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """The range in memory of its own."""
    return self.narrow(dim, start, length).clone(memory_format=taeda.contiguous_format)


def _apart(self: Tensor, parts: Sequence[Tensor], dim: int) -> tuple[Tensor, ...]:
    """The same ranges, as one view each."""
    begins, made = 0, []
    for part in parts:
        made.append(self.narrow(dim, begins, part.size(dim)))
        begins += part.size(dim)
    return tuple(made)


def unsafe_chunk(self: Tensor, chunks: int, dim: int) -> tuple[Tensor, ...]:
    """Views of the ranges of `chunk`."""
    return _apart(self, self.chunk(chunks, dim), dim)


def unsafe_split(self: Tensor, split_size: int, dim: int) -> tuple[Tensor, ...]:
    """Views of the ranges of `split`."""
    return _apart(self, self.split(split_size, dim), dim)


def unsafe_split_with_sizes(
    self: Tensor, split_sizes: Sequence[int], dim: int
) -> tuple[Tensor, ...]:
    """Views of the ranges of `split_with_sizes`."""
    return _apart(self, self.split_with_sizes(split_sizes, dim), dim)
