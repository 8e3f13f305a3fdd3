"""Indexing operators that are written in terms of other operators."""

from __future__ import annotations

import math
from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._layers.asked import all_hold

from .view import wrap_dim


def take_along_dim(self: Tensor, indices: Tensor, dim: int | None) -> Tensor:
    """`gather` after both are broadcast outside `dim`; negative indices count from the end."""
    if indices.dtype not in (taeda.int64, taeda.int32):
        raise RuntimeError(
            f"take_along_dim(): dtype of indices should be int64 or int32, but got {indices.dtype}"
        )
    if dim is None:
        flat = indices.reshape(-1)
        return self.reshape(-1).gather(0, flat + (flat < 0) * self.numel())
    if self.dim() != indices.dim():
        raise RuntimeError(
            "take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{self.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    at = wrap_dim(dim, self.dim())
    if self.dim() == 0:
        return self.gather(0, indices)
    size = self.size(at)
    if self.shape == indices.shape:
        return self.gather(at, indices + (indices < 0) * size)
    others = [s for d, s in enumerate(self.shape) if d != at]
    index_others = [s for d, s in enumerate(indices.shape) if d != at]
    shape: list[int] = list(taeda.broadcast_shapes(others, index_others))
    wide = self.expand(*shape[:at], size, *shape[at:])
    places = indices.expand(*shape[:at], indices.size(at), *shape[at:])
    return wide.gather(at, places + (places < 0) * size)


def one_hot(self: Tensor, num_classes: int) -> Tensor:
    """int64, with a new last dimension; num_classes -1 means the largest class and one more."""
    if self.dtype != taeda.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {self.dtype}"
        )
    if self.numel() == 0:
        if num_classes <= 0:
            raise RuntimeError("one_hot: Can not infer total number of classes from empty tensor.")
        return taeda.empty((*self.shape, num_classes), dtype=taeda.int64, device=self.device)
    if num_classes < 1 and self.device.type != "meta":
        _check_classes(self, num_classes)
        num_classes = self.max().item() + 1
    zeros = taeda.zeros((*self.shape, num_classes), dtype=taeda.int64, device=self.device)
    try:  # values are read only for the message: a graph has none
        return zeros.scatter_(-1, self.unsqueeze(-1), 1)
    except RuntimeError:
        _check_classes(self, num_classes)
        raise


def _check_classes(classes: Tensor, count: int) -> None:
    """RuntimeError for classes that are not below `count`; -1 means any count."""
    least, largest = classes.min().item(), classes.max().item()
    if least < 0:
        raise RuntimeError(f"one_hot: Class values must be non-negative, got {least}")
    if count != -1 and largest >= count:
        raise RuntimeError(
            f"one_hot: Class values must be smaller than num_classes, got {largest} for {count}"
        )


def unravel_index(indices: Tensor, shape: Sequence[int]) -> tuple[Tensor, ...]:
    """Negative places count from the end of the whole tensor; ValueError for those outside."""
    if indices.is_floating_point() or indices.is_complex() or indices.dtype == taeda.bool:
        raise ValueError(
            f"unravel_index: expected indices to be an integer tensor, got {indices.dtype}"
        )
    if any(n < 0 for n in shape):
        raise ValueError(f"unravel_index: sizes must be non-negative, got {list(shape)}")
    count = math.prod(shape)
    places = indices.to(taeda.int64)
    says = f"unravel_index: some indices are outside of a tensor of shape {list(shape)}"
    if not all_hold((places >= -count) & (places < count), says):
        raise ValueError(says)
    rest, found = places % max(count, 1), []
    for size in reversed(shape):
        found.append(rest % max(size, 1))
        rest = rest // max(size, 1)
    return tuple(reversed(found))


def nonzero_tuple(self: Tensor, as_tuple: bool) -> Tensor | tuple[Tensor, ...]:
    """`nonzero_numpy` or `nonzero`."""
    return tuple(self.nonzero_numpy()) if as_tuple else self.nonzero()


def nonzero_static(self: Tensor, size: int, fill_value: int) -> Tensor:
    """Exactly `size` rows."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: size must be non-negative, got {size}")
    rows = self.nonzero()
    if rows.size(0) >= size:
        return rows[:size].contiguous()
    missing = taeda.full(
        (size - rows.size(0), self.dim()), fill_value, dtype=taeda.int64, device=self.device
    )
    return taeda.cat([rows, missing])


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool) -> Tensor:
    """Where all indices are equal. `wrap`: a matrix taller than wide has another diagonal a row
    below each square.
    """
    if self.dim() < 2:
        raise RuntimeError(f"fill_diagonal_(): wanted 2 dimensions or more, but got {self.dim()}")
    if self.dim() == 2:
        height, width = self.shape
        squares = height // (width + 1) if wrap else 0  # each with the row below it
        above = self[: squares * (width + 1)].unflatten(0, (squares, width + 1))
        above.diagonal(0, 1, 2).fill_(fill_value)
        self[squares * (width + 1) :].diagonal().fill_(fill_value)
        return self
    if len(set(self.shape)) > 1:
        raise RuntimeError(
            f"fill_diagonal_(): all dimensions of input must be of equal length, but got {tuple(self.shape)}"
        )
    along = self.as_strided((self.size(0),), (sum(self.stride()),), self.storage_offset())
    along.fill_(fill_value)
    return self


def _cut(name: str, self: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """The indices, cut to what each dimension has."""
    if len(indices) > self.dim():
        raise IndexError(f"{name}: {len(indices)} indices for a tensor of {self.dim()} dimensions")
    made = []
    for size, index in zip(self.shape, indices, strict=False):
        if index is not None and index.dtype not in (taeda.int64, taeda.int32):
            raise RuntimeError(
                f"{name}: indices must be int64 or int32, but one has dtype {index.dtype}"
            )
        made.append(index if index is None else index.clamp(-size, max(size - 1, 0)))
    return made


def _unsafe_masked_index(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], fill: float
) -> Tensor:
    """`self[indices]`, and `fill` where the mask is False: indices may lie anywhere there."""
    named = [at for at, index in enumerate(indices) if index is not None]
    empty = [at for at in named if at < self.dim() and not self.shape[at]]
    if empty and mask.device.type != "meta" and bool(mask.any()):
        raise IndexError("_unsafe_masked_index: the mask is True, but there is nothing to index")
    if empty:  # what no mask takes
        self = self.new_zeros([1 if at in empty else size for at, size in enumerate(self.shape)])
    found = _index(self, _cut("_unsafe_masked_index", self, indices))
    return found.masked_fill(mask.logical_not(), fill)


def _index(self: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    return self[tuple(slice(None) if index is None else index for index in indices)]


def _unsafe_masked_index_put_accumulate(
    self: Tensor, mask: Tensor, indices: Sequence[Tensor | None], values: Tensor
) -> Tensor:
    """A copy of `self` to which `values` are added at the indices where the mask is True."""
    if self.numel() == 0:
        return self.clone()
    kept = values.masked_fill(mask.logical_not(), 0)
    return self.index_put(_cut("_unsafe_masked_index_put_accumulate", self, indices), kept, True)
