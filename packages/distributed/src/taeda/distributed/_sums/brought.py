"""What ranks do with few values that came along to the meeting: all is there, and nobody waits again.

`parts` are the values of all ranks in the order of ranks, flat, as `Windows.bring` tells.
"""

from __future__ import annotations

from collections.abc import Sequence

from taeda import Tensor

__all__ = ["deal", "join", "slices"]


def join(parts: Sequence[Tensor], output: Tensor) -> None:
    """One after the other into the flat `output`."""
    for part, piece in zip(parts, output.split(parts[0].numel()), strict=True):
        piece.copy_(part)


def slices(parts: Sequence[Tensor], number: int) -> list[Tensor]:
    """Piece `number` of each of them, which have as many equal pieces as there are ranks.

    >>> slices([taeda.arange(4), taeda.arange(4, 8)], 1)
    [tensor([2, 3]), tensor([6, 7])]
    """
    each = parts[0].numel() // len(parts)
    return [part[number * each : (number + 1) * each] for part in parts]


def deal(parts: Sequence[Tensor], outputs: Sequence[Tensor], number: int) -> None:
    """What all ranks have for rank `number`, into its flat `outputs`."""
    for output, piece in zip(outputs, slices(parts, number), strict=True):
        output.copy_(piece)
