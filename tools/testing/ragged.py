"""A batch of tensors of different lengths, and its comparison with nested ones."""

from __future__ import annotations

import taeda
from taeda import Tensor, nested

LENGTHS = (3, 1, 0, 5)


def pieces_of(*more: int, requires_grad: bool = False) -> list[Tensor]:
    """Random tensors of LENGTHS rows and `more` columns."""
    generator = taeda.Generator().manual_seed(0)
    made = [taeda.randn(n, *more, generator=generator, dtype=taeda.float64) for n in LENGTHS]
    return [piece.requires_grad_(requires_grad) for piece in made]


def nested_of(pieces: list[Tensor]) -> Tensor:
    """The nested tensor of these, with their history."""
    return nested.as_nested_tensor(pieces, layout=taeda.jagged)


def equal_pieces(made: Tensor, pieces: list[Tensor], tolerance: float = 1e-8) -> None:
    """The tensors of a batch are these."""
    assert made.is_nested and len(made) == len(pieces)
    for a, b in zip(made.unbind(), pieces, strict=True):
        assert a.shape == b.shape and taeda.allclose(a, b, atol=tolerance)


def jagged_of(offsets: list[float]) -> Tensor:
    """Five rows, cut at these offsets."""
    return nested.nested_tensor_from_jagged(taeda.ones(5, 2), taeda.tensor(offsets))


def weight_of(*size: int) -> Tensor:
    """Numbers from -1 to 1 in this shape."""
    return taeda.linspace(-1, 1, taeda.Size(size).numel(), dtype=taeda.float64).reshape(size)
