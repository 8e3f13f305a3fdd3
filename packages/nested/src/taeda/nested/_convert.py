"""From nested tensors to padded ones."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.doors import require_tensors

from ._graph import components
from ._parts import is_nested, parts_of
from ._pieces import is_pieces, pieces_of

__all__ = ["to_padded_tensor"]


def to_padded_tensor(
    input: Tensor, padding: float, output_size: Any = None, out: Tensor | None = None
) -> Tensor:
    """A strided tensor of the batch, filled up behind each tensor.

    Args:
        input: a nested tensor.
        padding: the number behind.
        output_size: the shape of the result, at least the largest sizes; None (the default) for
            these.
        out: not supported (default: None).

    RuntimeError for a size that is too small.

    >>> x = taeda.nested.nested_tensor([taeda.ones(1), taeda.ones(3)])
    >>> taeda.nested.to_padded_tensor(x, 0.0)
    tensor([[1., 0., 0.],
            [1., 1., 1.]])
    """
    require_tensors("to_padded_tensor", input=input)
    if not is_nested(input) and not is_pieces(input):
        raise TypeError(f"to_padded_tensor: wanted a nested tensor, but got {input.layout}")
    if out is not None:
        raise NotImplementedError("to_padded_tensor: out= is not supported. Use the result")
    pieces, size, like = _of_strided(input) if is_pieces(input) else _of_jagged(input)
    wanted = size if output_size is None else [int(n) for n in output_size]
    if len(wanted) != len(size) or any(w < n for w, n in zip(wanted, size, strict=True)):
        raise RuntimeError(
            f"to_padded_tensor: nothing is cut off: wanted an output_size of at least {size}, got {wanted}"
        )
    padded = [_filled(piece, wanted[1:], padding) for piece in pieces]
    rows = [*padded, *[_empty(like, wanted[1:], padding)] * (wanted[0] - size[0])]
    return taeda.stack(rows) if rows else _empty(like, wanted, padding)


def _of_jagged(x: Tensor) -> tuple[list[Tensor], list[int], Tensor]:
    """(tensors, smallest shape that holds them, one of their dtype)."""
    parts = parts_of(x)
    size = list(parts.shape())
    size[parts.ragged] = max(parts.counts(), default=0)
    return components(x), size, parts.values


def _of_strided(x: Tensor) -> tuple[list[Tensor], list[int], Tensor]:
    pieces = pieces_of(x)
    sizes = zip(*(piece.shape for piece in pieces), strict=True)
    return pieces, [len(pieces), *map(max, sizes)], pieces[0]


def _empty(like: Tensor, size: list[int], padding: float) -> Tensor:
    return taeda.full(size, padding, dtype=like.dtype, device=like.device)


def _filled(piece: Tensor, size: list[int], padding: float) -> Tensor:
    behind = [m for n, w in zip(piece.shape[::-1], size[::-1], strict=True) for m in (0, w - n)]
    return taeda.constant_pad_nd(piece, behind, padding) if any(behind) else piece
