"""The convolutions that programs call, in terms of `convolution`: unbatched input, padding by name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import taeda
from taeda import Tensor

Ints = Sequence[int]


def _convolution(
    name: str,
    spatial: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Ints,
    padding: Ints,
    dilation: Ints,
    groups: int,
    transposed: bool = False,
    output_padding: Ints = (0,),
) -> Tensor:
    if weight.dim() != spatial + 2:
        raise RuntimeError(
            f"{name}: weight should have {spatial + 2} dimensions, but it has shape {list(weight.shape)}"
        )
    rank = input.dim()
    if rank == spatial + 2:
        return taeda.convolution(
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
    if rank != spatial + 1:
        raise RuntimeError(
            f"Expected {spatial + 1}D (unbatched) or {spatial + 2}D (batched) input to {name}, "
            f"but got input of size: {list(input.shape)}"
        )
    batch = input.unsqueeze(0)
    return taeda.convolution(
        batch, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    ).squeeze(0)


def _conv(
    spatial: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    dilation: Ints = (1,),
    groups: int = 1,
) -> Tensor:
    name = f"conv{spatial}d"
    return _convolution(name, spatial, input, weight, bias, stride, padding, dilation, groups)


def _conv_named_padding(
    spatial: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: str = "valid",
    dilation: Ints = (1,),
    groups: int = 1,
) -> Tensor:
    if padding == "valid":
        return _conv(spatial, input, weight, bias, stride, (0,), dilation, groups)
    if padding != "same":
        raise RuntimeError(
            f"conv{spatial}d: invalid padding string {padding!r}; it must be 'valid' or 'same'"
        )
    if any(s != 1 for s in stride):
        raise RuntimeError(
            f"conv{spatial}d: padding='same' is not supported for strided convolutions, "
            f"but stride is {list(stride)}"
        )
    if weight.dim() != spatial + 2:  # refused below
        return _conv(spatial, input, weight, bias, stride, (0,), dilation, groups)
    steps = list(dilation) * (spatial if len(dilation) == 1 else 1)
    totals = [d * (k - 1) for d, k in zip(steps, weight.shape[2:], strict=True)]
    if any(total % 2 for total in totals):  # one more behind than before
        behind = [n for total in reversed(totals) for n in (0, total % 2)]
        input = taeda.constant_pad_nd(input, behind, 0)
    halves = [total // 2 for total in totals]
    return _conv(spatial, input, weight, bias, stride, halves, dilation, groups)


def _conv_transpose(
    spatial: int,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = (1,),
    padding: Ints = (0,),
    output_padding: Ints = (0,),
    groups: int = 1,
    dilation: Ints = (1,),
) -> Tensor:
    name = f"conv_transpose{spatial}d"
    return _convolution(
        name, spatial, input, weight, bias, stride, padding, dilation, groups, True, output_padding
    )


conv1d, conv2d, conv3d = (partial(_conv, n) for n in (1, 2, 3))
conv1d_padding, conv2d_padding, conv3d_padding = (
    partial(_conv_named_padding, n) for n in (1, 2, 3)
)
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    partial(_conv_transpose, n) for n in (1, 2, 3)
)
