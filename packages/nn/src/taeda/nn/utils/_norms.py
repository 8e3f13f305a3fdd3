"""The arithmetic of weight and spectral normalisation, for both ways of attaching them."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._core_api.operators import rounded_once, widened

from ..functional import normalize

__all__ = [
    "all_but",
    "as_matrix",
    "default_dim",
    "direction_and_length",
    "power_step",
    "spectrally_normalized",
    "weighted",
]


@rounded_once
def weighted(direction: Tensor, length: Tensor, dim: int | None) -> Tensor:
    """length · direction / |direction|, the norm being over all dimensions but `dim`."""
    return direction * (length / norm_except(direction, dim))


def all_but(x: Tensor, dim: int) -> list[int]:
    """The other dimensions. IndexError for a dimension that is not there."""
    if not -x.dim() <= dim < x.dim():
        raise IndexError(
            f"Dimension out of range: a norm for each place of dim={dim} of {x.dim()} dimensions"
        )
    return [i for i in range(x.dim()) if i != dim % x.dim()]


@rounded_once
def norm_except(x: Tensor, dim: int | None) -> Tensor:
    """The 2-norm over all dimensions but `dim`, which broadcasts against x; of all elements for
    None and -1.
    """
    if dim is None or dim == -1:
        return x.norm()
    others = all_but(x, dim)
    return (x * x).sum(others, keepdim=True).sqrt() if others else x.abs()


def direction_and_length(weight: Tensor, dim: int | None) -> tuple[Tensor, Tensor]:
    """What `weighted` makes `weight` of."""
    return weight, norm_except(weight, dim)


def default_dim(module: object) -> int:
    """The dimension of the outputs: 1 for transposed convolutions, else 0."""
    from ..modules.conv import _ConvTransposeNd

    return 1 if isinstance(module, _ConvTransposeNd) else 0


def as_matrix(weight: Tensor, dim: int) -> Tensor:
    """(size of dim, all others)."""
    if dim:
        order = [dim, *(i for i in range(weight.dim()) if i != dim)]
        weight = weight.permute(order)
    return weight.reshape(weight.size(0), -1)


def power_step(matrix: Tensor, u: Tensor, v: Tensor, count: int, eps: float) -> None:
    """Turn u, then v, in place, towards the singular vectors of the largest singular value."""
    with taeda.no_grad():
        matrix = widened(matrix)  # products may lie beyond 16 bits, the vectors do not
        for _ in range(count):
            u.copy_(normalize(taeda.mv(matrix, widened(v)), dim=0, eps=eps))
            v.copy_(normalize(taeda.mv(matrix.t(), widened(u)), dim=0, eps=eps))


@rounded_once
def spectrally_normalized(weight: Tensor, matrix: Tensor, u: Tensor, v: Tensor) -> Tensor:
    """`weight` by its largest singular value, that of `matrix` with the vectors u and v."""
    return weight / taeda.dot(u, taeda.mv(matrix, v))
