"""Affine and bilinear maps over the last dimension."""

from __future__ import annotations

import taeda
from taeda import Tensor

__all__ = ["bilinear", "linear"]

linear = taeda._C._nn.linear


def bilinear(
    input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """y_k = x1 W_k x2 + b_k over the last dimensions; the others of the two inputs must be equal.

    Raises RuntimeError where the shapes do not fit.
    """
    if weight.dim() != 3 or input1.shape[:-1] != input2.shape[:-1]:
        raise RuntimeError(
            "bilinear(): input batch dimensions do not match, or weight is not 3-D: got "
            f"{tuple(input1.shape)}, {tuple(input2.shape)} and weight {tuple(weight.shape)}"
        )
    outputs, first, second = weight.shape
    for k, (given, size) in enumerate(((input1, first), (input2, second)), 1):
        if given.shape[-1] != size:
            raise RuntimeError(
                f"bilinear(): input{k} size does not match weight size: got {given.shape[-1]} but expected {size}"
            )
    if bias is not None and tuple(bias.shape) != (outputs,):
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {tuple(bias.shape)} but expected ({outputs},)"
        )
    left = input1.reshape(-1, first)
    right = input2.reshape(-1, second)
    inner = (left @ weight.permute(1, 0, 2).reshape(first, outputs * second)).view(-1, outputs, second)
    result = (inner @ right.unsqueeze(-1)).squeeze(-1).view(*input1.shape[:-1], outputs)
    return result if bias is None else result + bias
