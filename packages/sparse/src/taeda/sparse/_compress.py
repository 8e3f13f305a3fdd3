"""From any layout to compressed rows or columns, of numbers or of blocks."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from ._compressed import BLOCKED, BY_ROWS, MATRICES, Compressed
from ._convert import to_coo
from ._graph import built, entries
from ._parts import parts_of
from ._rows import turned

__all__ = ["to_compressed"]


def to_compressed(x: Tensor, layout: Any, blocksize: Any = None, dense_dim: Any = None) -> Tensor:
    """The tensor in this layout, itself if it has it; blocked layouts want the rows and columns of a block.
    The dimensions before the two sparse ones and the dense ones are batches.
    """
    block = _blocksize(layout, blocksize)
    own = parts_of(x)
    if isinstance(own, Compressed):
        return _from_compressed(x, own, layout, block)
    dense = _dense_dims(x, own, dense_dim)
    batch = x.dim() - dense - 2
    if batch < 0:
        raise RuntimeError(
            f"{_name(layout)}: wanted a matrix, or batches of them, got {x.dim() - dense} dimensions "
            "that are not dense"
        )
    if own is None and block is not None:
        return _blocks_of_strided(x, layout, block, batch)
    found = x if own is not None else to_coo(x, x.dim() - dense)
    return _from_coo(found, layout, block, batch)


def _name(layout: Any) -> str:
    return "to_" + str(layout).rpartition(".")[2]


def _blocksize(layout: Any, given: Any) -> tuple[int, int] | None:
    if layout not in BLOCKED:
        if given is not None:
            raise RuntimeError(
                f"{_name(layout)}: blocksize={given} is for sparse_bsr and sparse_bsc"
            )
        return None
    sizes = tuple(given) if isinstance(given, (tuple, list)) else ()
    if len(sizes) != 2 or any(type(n) is not int or n <= 0 for n in sizes):
        raise RuntimeError(
            f"{_name(layout)}: blocksize must be two sizes, (rows, columns), both above 0, but got "
            f"{given}"
        )
    return sizes[0], sizes[1]


def _dense_dims(x: Tensor, own: Any, given: Any) -> int:
    known = None if own is None else int(x.dim() - own.indices.size(0))
    if given is not None and known not in (None, int(given)):
        raise RuntimeError(
            f"to_sparse: dense_dim={given}, but the tensor has {known} dense dimensions already"
        )
    dense = int(given or 0) if known is None else known
    if dense < 0:
        raise RuntimeError(f"to_sparse: dense_dim must not be negative, but got {dense}")
    return dense


def _from_compressed(x: Tensor, own: Compressed, layout: Any, block: Any) -> Tensor:
    if own.layout is layout and block in (None, own.blocksize):
        return x
    if {own.layout, layout} == set(MATRICES) and not own.batch:
        return _turned(x, own, layout)
    return _from_coo(to_coo(x), layout, block, len(own.batch))


def _turned(x: Tensor, own: Compressed, layout: Any) -> Tensor:
    """The same matrix by columns instead of rows, or by rows instead of columns."""
    values = entries(x)[1]
    count = int(x.shape[1 if own.layout in BY_ROWS else 0])
    compressed, plain, order = turned(own.compressed, own.plain, count)
    if own.compressed.dtype is taeda.int32:
        compressed, plain = compressed.int(), plain.int()
    moved = values.index_select(0, order)
    return built(Compressed(layout, compressed, plain, moved.detach()), moved, tuple(x.shape))


# ---- from coordinates ----


def _from_coo(x: Tensor, layout: Any, block: Any, batch: int) -> Tensor:
    parts, values = entries(x)
    if parts.indices.size(0) != batch + 2:
        raise RuntimeError(
            f"{_name(layout)}: wanted two sparse dimensions after the batches, got "
            f"{parts.indices.size(0) - batch}"
        )
    size = tuple(x.shape)
    height, width = block or (1, 1)
    _check_divides(layout, size[batch : batch + 2], (height, width))
    row, col = parts.places()[batch:]
    grid = size[batch] // height, size[batch + 1] // width
    group = _numbers(parts.places()[:batch], size[:batch], row)
    inside = (row % height) * width + col % width
    majors, minors = (row // height, col // width), grid
    if layout not in BY_ROWS:
        majors, minors = majors[::-1], grid[::-1]
    key = (group * minors[0] + majors[0]) * minors[1] + majors[1]
    if block is None and layout in BY_ROWS:
        made = _offsets(layout, key, size[:batch], minors)
        return built(
            Compressed(layout, *made, _shape(parts.values, made[1])), _shape(values, made[1]), size
        )
    if block is None:
        order = taeda.argsort(key, stable=True)
        made = _offsets(layout, key[order], size[:batch], minors)
        moved = _shape(values[order], made[1])
        return built(Compressed(layout, *made, moved.detach()), moved, size)
    kept, at = taeda.unique(key, return_inverse=True)
    made = _offsets(layout, kept, size[:batch], minors)
    rest = values.shape[1:]
    zeros = values.new_zeros((kept.numel() * height * width, *rest))
    filled = zeros.index_put((at * (height * width) + inside,), values)
    filled = filled.reshape(*made[1].shape, height, width, *rest)
    return built(Compressed(layout, *made, filled.detach()), filled, size)


def _shape(values: Tensor, plain: Tensor) -> Tensor:
    return values.reshape(*plain.shape, *values.shape[1:])


def _numbers(places: Any, size: Any, like: Tensor) -> Tensor:
    """The number of the batch of each entry."""
    number = taeda.zeros_like(like)
    for at, length in zip(places, size, strict=True):
        number = number * length + at
    return number


def _check_divides(layout: Any, size: Any, block: tuple[int, int]) -> None:
    if any(n % b for n, b in zip(size, block, strict=True)):
        raise RuntimeError(
            f"{_name(layout)}: blocks of {block[0]} x {block[1]} do not fill a matrix of "
            f"{size[0]} x {size[1]}: each of its sizes must be a multiple of the block's"
        )


def _offsets(layout: Any, key: Tensor, batch: Any, grid: Any) -> tuple[Tensor, Tensor]:
    """(compressed, plain) of entries by number, which rise; grid: how many rows and columns of them."""
    groups, (majors, minors) = math.prod(batch), grid
    edges = taeda.arange(groups * majors + 1, device=key.device) * minors
    starts = taeda.searchsorted(key, edges) if minors else taeda.zeros_like(edges)
    each = key.numel() // groups if groups else 0
    ends = starts[::majors] if majors else taeda.zeros(groups + 1, dtype=taeda.int64)
    if bool((ends.diff() != each).any()):
        raise RuntimeError(
            f"{_name(layout)}: each batch must have the same number of entries, but they have from "
            f"{int(ends.diff().amin())} to {int(ends.diff().amax())}"
        )
    number = taeda.arange(groups, device=key.device).unsqueeze(1)
    at = number * majors + taeda.arange(majors + 1, device=key.device)
    compressed = starts[at] - number * each
    plain = key % minors if minors else key
    return compressed.reshape(*batch, majors + 1), plain.reshape(*batch, each)


# ---- from strided ----


def _blocks_of_strided(x: Tensor, layout: Any, block: tuple[int, int], batch: int) -> Tensor:
    """Blocks that are not all 0, whole: their zeros are entries too, and have gradients."""
    size, (height, width) = tuple(x.shape), block
    _check_divides(layout, size[batch : batch + 2], block)
    grid = size[batch] // height, size[batch + 1] // width
    rest = size[batch + 2 :]
    cut = x.reshape(*size[:batch], grid[0], height, grid[1], width, *rest)
    cut = cut.transpose(batch + 1, batch + 2)
    if layout not in BY_ROWS:
        cut, grid = cut.transpose(batch, batch + 1), grid[::-1]
    flat = cut.reshape(-1, height, width, *rest)
    there = (flat.detach() != 0).reshape(flat.shape[0], -1).any(1) if flat.numel() else None
    key = taeda.empty(0, dtype=taeda.int64) if there is None else there.nonzero().squeeze(1)
    made = _offsets(layout, key, size[:batch], grid)
    values = flat[key].reshape(*made[1].shape, height, width, *rest)
    return built(Compressed(layout, *made, values.detach()), values, size)
