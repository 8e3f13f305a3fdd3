"""Views and parts: the same is done with the integers, whose memory a view shares."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from .._affine import along
from .._parts import Quantized, is_quantized, parts_of, per_tensor, tensor_of
from ._registry import call, integers_in, rule, same_scale, wrapped

#: computed on the integers, of tensors with one scale
ROWS = """
    as_strided atleast_1d atleast_2d atleast_3d broadcast_to chunk diagonal dsplit.int dsplit.array expand
    expand_as flatten.using_ints flip fliplr flipud hsplit.int hsplit.array index.Tensor index_select
    masked_select movedim.int movedim.intlist narrow numpy_T mT permute pixel_shuffle pixel_unshuffle ravel
    repeat reshape reshape_as roll rot90 select.int slice.Tensor split.Tensor split.sizes split_with_sizes
    squeeze squeeze.dim squeeze.dims swapaxes swapdims t take_along_dim gather tensor_split.sections
    tensor_split.indices tile transpose.int unbind.int unflatten.int unfold unsqueeze view view_as vsplit.int
    vsplit.array channel_shuffle repeat_interleave.self_int
""".split()


def _register(row: str) -> None:
    @rule(row)
    def run(*args: Any) -> Any:
        if not is_quantized(args[0]):
            return NotImplemented
        parts = parts_of(args[0], row)
        if parts.axis is not None:
            return _of_channels(row, parts, args)
        return same_scale(row, *args)


def _of_channels(row: str, parts: Quantized, args: Any) -> Any:
    """What is done with a scale for each channel, along the dimension that they have then: the row is done
    with the numbers of channels as well.
    """
    if row == "as_strided":
        return same_scale(row, *args)  # refuses: memory has no channels
    rest = [integers_in(x) for x in args[1:]]
    made = call(row, parts.integers, *rest)
    try:
        channels = call(row, _channel_numbers(parts), *rest)
    except MemoryError:
        raise
    except RuntimeError:  # no view of them, as places of the dimension would lie along others
        raise RuntimeError(_apart(row, parts)) from None
    return _joined(row, parts, made, channels)


def _apart(row: str, parts: Quantized) -> str:
    return (
        f"{row}: the channels of a tensor that is {parts.scheme} would lie along more than one dimension, "
        "and scales lie along one: dequantize() first"
    )


def _channel_numbers(parts: Quantized) -> Tensor:
    """The number of its channel for each place, without memory for each."""
    assert parts.axis is not None
    count = taeda.arange(len(parts.scale), device=parts.integers.device)
    return along(count, parts.axis, parts.integers.dim()).expand(parts.integers.shape)


def _joined(row: str, parts: Quantized, made: Any, channels: Any) -> Any:
    """Integers with the scales of their channels; of lists each."""
    if not isinstance(made, Tensor):
        return type(made)([_joined(row, parts, *one) for one in zip(made, channels, strict=True)])
    for dim, step in enumerate(channels.stride()):
        if not step and channels.shape[dim]:  # the same along it
            channels = channels.narrow(dim, 0, 1)
    dims = [dim for dim in range(channels.dim()) if _varies(channels, dim)]
    if len(dims) > 1:
        raise RuntimeError(_apart(row, parts))
    axis = dims[0] if dims else _axis_of_one(channels)
    if axis is None:
        return _of_one_channel(row, parts, made, int(channels.flatten()[0]))
    return tensor_of(_picked(parts, made, axis, channels))


def _varies(channels: Tensor, dim: int) -> bool:
    """Whether places along a dimension are of different channels."""
    return channels.shape[dim] > 1 and bool((channels != channels.narrow(dim, 0, 1)).any())


def _axis_of_one(channels: Tensor) -> int | None:
    """Of places that are all of one channel the dimension that it keeps; None if it was selected."""
    kept = [
        dim
        for dim, (size, step) in enumerate(zip(channels.shape, channels.stride(), strict=True))
        if step and (size == 1 or not channels.numel())
    ]
    return kept[0] if kept else None if channels.numel() else 0


def _picked(parts: Quantized, made: Tensor, axis: int, channels: Tensor) -> Quantized:
    if channels.numel():
        for dim in reversed(range(channels.dim())):
            channels = channels if dim == axis else channels.select(dim, 0)
    else:  # any scale will do
        channels = channels.new_zeros(made.shape[axis])
    scale, zero = (part[channels] for part in (parts.scale, parts.zero_point))
    return Quantized(made, parts.dtype, scale, zero, axis, parts.scheme)


def _of_one_channel(row: str, parts: Quantized, made: Tensor, channel: int) -> Tensor:
    if parts.zero_point.is_floating_point():
        raise RuntimeError(f"{row}: one channel with a zero point in float has no form of its own")
    scale, zero = (part[channel].item() for part in (parts.scale, parts.zero_point))
    return per_tensor(made, scale, zero, parts.dtype)


for _row in ROWS:
    _register(_row)


# ---- copies ----


@rule("alias", "detach")
def alias(x: Tensor) -> Tensor:
    return tensor_of(parts_of(x, "detach"))


@rule("resolve_conj", "resolve_neg", "conj", "real")
def real(x: Tensor) -> Tensor:
    """The numbers are real already."""
    return x


@rule("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout(x: Tensor, p: float, train: bool) -> Any:
    return NotImplemented if train and p else x


@rule("clone")
def clone(x: Tensor, memory_format: Any = None) -> Tensor:
    parts = parts_of(x, "clone")
    return wrapped(call("clone", parts.integers, memory_format), parts)


@rule("contiguous")
def contiguous(x: Tensor, *format: Any) -> Tensor:
    parts = parts_of(x, "contiguous")
    made = call("contiguous", parts.integers, *format)
    return x if made is parts.integers else wrapped(made, parts)


@rule("_to_copy")
def to_copy(
    x: Tensor,
    dtype: Any = None,
    device: Any = None,
    non_blocking: bool = False,
    memory_format: Any = None,
) -> Any:
    """To another device; no other dtype holds these integers."""
    parts = parts_of(x, "to")
    if dtype not in (None, parts.dtype):
        raise RuntimeError(
            f"a quantized tensor cannot be converted to {dtype}: use dequantize() for its numbers, "
            "int_repr() for its integers"
        )
    how = memory_format or taeda.preserve_format
    made = parts.integers.to(device=device or x.device, copy=True, memory_format=how)
    if parts.axis is None:
        return wrapped(made, parts)
    scale, zero = (part.to(made.device) for part in (parts.scale, parts.zero_point))
    return tensor_of(Quantized(made, parts.dtype, scale, zero, parts.axis, parts.scheme))


def _like(name: str, fill: float | None) -> None:
    @rule(name)
    def run(
        x: Tensor,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        pin_memory: Any = None,
        memory_format: Any = None,
    ) -> Any:
        if pin_memory or device not in (None, x.device) or dtype not in (None, x.dtype):
            return NotImplemented
        parts = parts_of(x, name)
        made = wrapped(call("empty_like", parts.integers, *[None] * 4, memory_format), parts)
        return made if fill is None else made.fill_(fill)


_like("empty_like", None)
_like("ones_like", 1.0)
_like("zeros_like", 0.0)


@rule("full_like")
def full_like(x: Tensor, fill_value: Any, *how: Any) -> Any:
    made = call("empty_like", x, *how)
    return made.fill_(fill_value)


# ---- dimensions of the tensor itself ----


def _turned(row: str, method: str) -> None:
    @rule(row)
    def run(x: Tensor, *args: Any) -> Tensor:
        x.data = getattr(x.detach(), method)(*args)
        return x


for (
    _row
) in "t_ transpose_ swapaxes_ swapdims_ unsqueeze_ squeeze_ squeeze_.dim squeeze_.dims".split():
    _turned(_row, _row.partition(".")[0][:-1])
