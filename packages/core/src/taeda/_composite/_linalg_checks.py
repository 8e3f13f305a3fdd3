"""What linear algebra refuses, and how it says so."""

from __future__ import annotations

import taeda
from taeda import Tensor
from taeda._layers.asked import all_hold

__all__ = ["check_floating", "check_matrix", "check_square", "failed"]

WANTED = (taeda.float32, taeda.float64, taeda.complex64, taeda.complex128)


def check_floating(name: str, *tensors: Tensor) -> None:
    """RuntimeError for integers, bools, half types, and for mixtures."""
    for x in tensors:
        if not (x.is_floating_point() or x.is_complex()):
            raise RuntimeError(
                f"{name}: Expected a floating point or complex tensor as input. Got {x.dtype}"
            )
        if x.dtype not in WANTED:
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {x.dtype}")
        if x.dtype != tensors[0].dtype:
            raise RuntimeError(
                f"{name}: Expected tensors of one dtype, but got {tensors[0].dtype} and {x.dtype}"
            )


def check_matrix(name: str, x: Tensor, called: str = "A") -> None:
    """RuntimeError for fewer than two dimensions."""
    if x.dim() < 2:
        raise RuntimeError(
            f"{name}: The input tensor {called} must have at least 2 dimensions, but got {x.dim()}"
        )


def check_square(name: str, x: Tensor, called: str = "A") -> None:
    """RuntimeError for all but (batches of) square matrices."""
    check_matrix(name, x, called)
    if x.size(-1) != x.size(-2):
        raise RuntimeError(
            f"{name}: {called} must be batches of square matrices, but they are {x.size(-2)} by "
            f"{x.size(-1)} matrices"
        )


def failed(name: str, info: Tensor, says: str) -> None:
    """LinAlgError with the number of the first matrix that failed; `says` has a {} for its info."""
    if all_hold(info == 0, f"{name}: {says.format('k')}"):
        return
    flat = info.reshape(-1)
    place = int(flat.nonzero()[0])
    batch = f"(Batch element {place}): " if info.dim() else ""
    raise taeda.linalg.LinAlgError(f"{name}: {batch}{says.format(int(flat[place]))}")
