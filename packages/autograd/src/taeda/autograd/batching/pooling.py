"""Functions of pictures: samples join the batch."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ._batched import Level, rank
from ._registry import Decline, rule, rules

__all__: list[str] = []


def _folded(spatial: int, leading: int) -> Any:
    """The rule of functions of (N, C, ...) and (C, ...)."""

    def fold(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not level.on(x) or any(isinstance(a, Tensor) for a in args):
            raise Decline
        value = x._value
        if rank(x) == spatial + leading - 1:  # no batch of its own: the samples are it
            return func(value, *args, **kwargs)
        if rank(x) != spatial + leading:
            raise Decline
        made = func(value.reshape(-1, *value.shape[2:]), *args, **kwargs)
        return _unfolded(made, value.shape[:2])

    return fold


def _unfolded(made: Any, shape: Any) -> Any:
    if isinstance(made, Tensor):
        return made.reshape(*shape, *made.shape[1:])
    return type(made)([_unfolded(part, shape) for part in made])


_NAMES = {
    1: "max_pool1d max_pool1d_with_indices avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d "
    "reflection_pad1d replication_pad1d",
    2: "max_pool2d max_pool2d_with_indices avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d "
    "reflection_pad2d replication_pad2d",
    3: "max_pool3d max_pool3d_with_indices avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d "
    "reflection_pad3d replication_pad3d",
}
_UPSAMPLED = {
    1: "upsample_linear1d upsample_nearest1d _upsample_nearest_exact1d",
    2: "upsample_bilinear2d upsample_bicubic2d upsample_nearest2d _upsample_nearest_exact2d "
    "_upsample_bilinear2d_aa _upsample_bicubic2d_aa",
    3: "upsample_trilinear3d upsample_nearest3d _upsample_nearest_exact3d",
}
for _spatial in (1, 2, 3):
    for _name in _NAMES[_spatial].split():
        rules[_name] = _folded(_spatial, 2)


def _resized(spatial: int) -> Any:
    inner = _folded(spatial, 2)

    def resize(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if rank(x) != spatial + 2:
            raise Decline
        return inner(level, func, x, *args, **kwargs)

    return resize


for _spatial in (1, 2, 3):
    for _name in _UPSAMPLED[_spatial].split():
        rules[_name] = _resized(_spatial)


def _leading(least: int) -> Any:
    """The rule of functions that let leading dimensions be."""

    def through(level: Level, func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        if not level.on(x) or rank(x) < least or any(isinstance(a, Tensor) for a in args):
            raise Decline
        return func(x._value, *args, **kwargs)

    return through


for _name in ("pixel_shuffle", "pixel_unshuffle"):
    rules[_name] = _leading(3)


@rule("_pad_inside")
def _pad_inside(level: Level, func: Any, x: Any, pad: Any, *args: Any) -> Any:
    return _leading(max(1, len(pad) // 2))(level, func, x, pad, *args)


def _pad(
    level: Level, func: Any, x: Any, pad: Any, mode: str = "constant", value: Any = None
) -> Any:
    if mode != "constant" or len(pad) // 2 > rank(x) or not level.on(x):
        raise Decline
    return (
        func(x._value, pad, mode, value)
        if func.__name__ == "pad"
        else func(x._value, pad, value or 0)
    )


rules["pad"] = _pad
rules["constant_pad_nd"] = lambda level, func, x, pad, value=0: _pad(
    level, func, x, pad, value=value
)
