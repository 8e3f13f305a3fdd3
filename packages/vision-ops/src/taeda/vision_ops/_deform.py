"""Convolution whose taps lie where offsets move them (Dai et al., 2017; with a mask Zhu et al., 2019)."""

from __future__ import annotations

import ctypes
from typing import Any

import taeda
from taeda import Tensor

from ._checks import computed, same_dtype
from ._kernels import Window, call

__all__ = ["OPERATORS", "deform_conv2d"]


def deform_conv2d(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """A convolution that reads between places, each tap moved by its offset and weighed by its mask.

    All tensors are of one dtype; RuntimeError for what does not fit. Returns [N, O, oH, oW].

    Args:
        input: [N, C, H, W]
        weight: [O, C / groups, kH, kW]
        offset: [N, 2 * offset_groups * kH * kW, oH, oW], how far each tap goes down, then right
        mask: [N, offset_groups * kH * kW, oH, oW], or anything without `use_mask`
        bias: [O]
        stride_h, stride_w, pad_h, pad_w, dilation_h, dilation_w: as of a convolution
        groups: as of a convolution
        offset_groups: how many groups of channels have offsets of their own
        use_mask: whether `mask` is read

    >>> picture, weight = taeda.arange(16.0).reshape(1, 1, 4, 4), taeda.ones(1, 1, 1, 1)
    >>> right = taeda.tensor([0.0, 1.0]).reshape(1, 2, 1, 1).expand(1, 2, 4, 4)
    >>> mask, bias = taeda.ones(1, 1, 4, 4), taeda.zeros(1)
    >>> made = deform_conv2d(
    ...     picture, weight, right, mask, bias, 1, 1, 0, 0, 1, 1, 1, 1, False
    ... )
    >>> made[0, 0, 0].tolist()
    [1.0, 2.0, 3.0, 0.0]
    """
    same_dtype("deform_conv2d", input=input, weight=weight, offset=offset, mask=mask, bias=bias)
    window = _window(
        input,
        weight,
        offset,
        mask,
        bias,
        (stride_h, stride_w),
        (pad_h, pad_w),
        (dilation_h, dilation_w),
        groups,
        offset_groups,
        use_mask,
    )
    pictures, kernel = computed(input, "input"), computed(weight, "weight")
    moves, masks = computed(offset, "offset"), computed(mask, "mask")
    by_group = kernel.view(groups, kernel.shape[0] // groups, -1)
    made = [
        by_group @ _columns(window, by_group, *parts)
        for parts in _each(pictures, moves, masks, use_mask)
    ]
    shape = len(pictures), len(kernel), window.out_height, window.out_width
    whole = taeda.stack(made).view(shape) if made else pictures.new_empty(shape)
    return (whole + bias.view(1, -1, 1, 1).to(whole.dtype)).to(input.dtype)


def _each(
    pictures: Tensor, offsets: Tensor, masks: Tensor, use_mask: bool
) -> list[tuple[Tensor, ...]]:
    """Picture, offsets and mask, one after the other; the mask is not read where there is none."""
    return [
        (p, o, masks[i] if use_mask else o)
        for i, (p, o) in enumerate(zip(pictures, offsets, strict=True))
    ]


def _columns(
    window: Window, by_group: Tensor, picture: Tensor, offsets: Tensor, mask: Tensor
) -> Tensor:
    """What each place of the result reads: [groups, taps of a group's channels, places]."""
    places = window.out_height * window.out_width
    made = picture.new_empty(by_group.shape[0], by_group.shape[2], places)
    call("deform_columns", picture.dtype, window, picture, offsets, mask, made)
    return made


def _deform_conv2d_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    window = _window(
        input,
        weight,
        offset,
        mask,
        bias,
        (stride_h, stride_w),
        (pad_h, pad_w),
        (dilation_h, dilation_w),
        groups,
        offset_groups,
        use_mask,
    )
    pictures, kernel = computed(input, "input"), computed(weight, "weight")
    moves, masks = computed(offset, "offset"), computed(mask, "mask")
    by_group = kernel.view(groups, kernel.shape[0] // groups, -1)
    gradient = computed(grad, "grad").view(len(pictures), groups, by_group.shape[1], -1)
    to_weight = taeda.zeros_like(by_group)
    to_pictures, to_offsets, to_masks = map(taeda.zeros_like, (pictures, moves, masks))
    for i, parts in enumerate(_each(pictures, moves, masks, use_mask)):
        to_weight += gradient[i] @ _columns(window, by_group, *parts).mT
        back = (by_group.mT @ gradient[i]).contiguous()
        call(
            "deform_columns_backward",
            kernel.dtype,
            window,
            *parts,
            back,
            to_pictures[i],
            to_offsets[i],
            to_masks[i] if use_mask else to_offsets[i],
        )
    found = (
        to_pictures,
        to_weight.view(kernel.shape),
        to_offsets,
        to_masks,
        gradient.sum((0, 3)).view(-1),
    )
    given = (input, weight, offset, mask, bias)
    a, b, c, d, e = (one.to(like.dtype) for one, like in zip(found, given, strict=True))
    return a, b, c, d, e


def _window(
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride: tuple[int, int],
    padding: tuple[int, int],
    dilation: tuple[int, int],
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Window:
    """The sizes of a call, after a look at all of them."""
    if input.ndim != 4 or weight.ndim != 4 or offset.ndim != 4:
        raise _misfit("input, weight and offset have 4 dimensions", input, weight, offset)
    count, channels, height, width = input.shape
    outputs, of_group, rows, columns = weight.shape
    if min(stride) < 1 or min(dilation) < 1 or min(padding) < 0:
        raise RuntimeError(
            f"deform_conv2d: stride {stride}, padding {padding} and dilation {dilation}: "
            "steps are 1 or more, padding 0 or more"
        )
    if groups < 1 or outputs % groups or of_group * groups != channels:
        raise RuntimeError(
            f"deform_conv2d: {groups} groups of {channels} channels, and a weight of shape "
            f"{list(weight.shape)}, which reads {of_group} of each group"
        )
    if offset_groups < 1 or channels % offset_groups:
        raise RuntimeError(
            f"deform_conv2d: {channels} channels in {offset_groups} groups of offsets"
        )
    sides = zip(input.shape[2:], padding, dilation, (rows, columns), stride, strict=True)
    high, wide = (
        (n + 2 * pad - gap * (taps - 1) - 1) // step + 1 for n, pad, gap, taps, step in sides
    )
    if high < 1 or wide < 1 or not rows * columns:
        raise RuntimeError(
            f"deform_conv2d: the result of a {rows} x {columns} kernel has the size {high} x {wide}"
        )
    taps = offset_groups * rows * columns
    if tuple(offset.shape) != (count, 2 * taps, high, wide):
        raise _misfit(f"offset has the shape [{count}, {2 * taps}, {high}, {wide}]", offset)
    if use_mask and tuple(mask.shape) != (count, taps, high, wide):
        raise _misfit(f"mask has the shape [{count}, {taps}, {high}, {wide}]", mask)
    if tuple(bias.shape) != (outputs,):
        raise _misfit(f"bias has the shape [{outputs}]", bias)
    if not bool((offset.detach().abs() <= 2.0**30).all()):
        raise RuntimeError("deform_conv2d: offset holds NaN, infinity, or moves farther than 2**30")
    pair = ctypes.c_int64 * 2
    steps = pair(*stride), pair(*padding), pair(*dilation)
    return Window(
        height, width, rows, columns, high, wide, *steps, channels, offset_groups, use_mask
    )


def _misfit(wanted: str, *given: Tensor) -> RuntimeError:
    return RuntimeError(
        f"deform_conv2d: {wanted}, got {', '.join(str(list(t.shape)) for t in given)}"
    )


_STEPS = (
    "int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, "
    "int offset_groups, bool use_mask"
)
_TENSORS = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
OPERATORS: dict[str, Any] = {
    f"deform_conv2d({_TENSORS}, {_STEPS}) -> Tensor": deform_conv2d,
    f"_deform_conv2d_backward(Tensor grad, {_TENSORS}, {_STEPS}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": _deform_conv2d_backward,  # noqa: E501
}
