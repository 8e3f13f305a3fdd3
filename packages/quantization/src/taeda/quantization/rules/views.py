"""Views and parts: the same is done with the integers, whose memory a view shares."""

from __future__ import annotations

from typing import Any

from taeda import Tensor
from taeda._core_api.layouts import dimension

from .._parts import Quantized, is_quantized, parts_of, per_tensor, tensor_of
from ._registry import call, rule, same_scale, wrapped

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
    """What is done with a scale for each channel, along the dimension that they have then."""
    change = _CHANNELS.get(row)
    return same_scale(row, *args) if change is None else change(row, parts, *args)


def _moved(row: str, parts: Quantized, x: Tensor, *args: Any) -> Any:
    """A permutation: channels go along."""
    made = call(row, parts.integers, *args)
    places = call(row, _ranks(parts), *args)
    assert parts.axis is not None
    return tensor_of(parts.like(made, list(places.shape).index(parts.axis + 2)))


def _ranks(parts: Quantized) -> Tensor:
    """A tensor without memory whose sizes tell its dimensions apart."""
    sizes = range(2, parts.integers.dim() + 2)
    return parts.integers.new_empty(1).expand(*sizes)


def _select(row: str, parts: Quantized, x: Tensor, dim: int, index: int) -> Tensor:
    """One channel has one scale; the others keep theirs."""
    at = dimension(dim, x.dim())
    made = call(row, parts.integers, dim, index)
    axis = parts.axis
    assert axis is not None
    if at != axis:
        return tensor_of(parts.like(made, axis - (at < axis)))
    if parts.zero_point.is_floating_point():
        raise RuntimeError("select: one channel with a zero point in float has no form of its own")
    return per_tensor(made, parts.scale[index].item(), parts.zero_point[index].item(), parts.dtype)


def _slice(row: str, parts: Quantized, x: Tensor, dim: int = 0, *range: Any) -> Tensor:
    """Channels that are left out leave their scales out."""
    made = call(row, parts.integers, dim, *range)
    if dimension(dim, x.dim()) != parts.axis:
        return tensor_of(parts.like(made))
    scale, zero = (call(row, part, 0, *range) for part in (parts.scale, parts.zero_point))
    return tensor_of(Quantized(made, parts.dtype, scale, zero, parts.axis, parts.scheme))


_CHANNELS = {
    **dict.fromkeys(("permute", "transpose.int", "t", "numpy_T", "mT", "swapaxes", "swapdims"), _moved),
    "select.int": _select, "slice.Tensor": _slice, "narrow": _slice, "index_select": _slice,
}  # fmt: skip

for _row in ROWS:
    _register(_row)


# ---- copies ----


@rule("alias", "detach")
def alias(x: Tensor) -> Tensor:
    return tensor_of(parts_of(x, "detach"))


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
    made = parts.integers.to(device=device or x.device, copy=True)
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
