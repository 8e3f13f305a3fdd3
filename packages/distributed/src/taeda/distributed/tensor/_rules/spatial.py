"""Rows over images and signals: samples and channels may be cut, places not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..placement_types import Partial, Shard
from ._call import Call, Strategy, rule

__all__ = ["samples"]

P = Partial()

POOLS = (
    " ".join(
        f"{kind}{count}d{back}"
        for count in (1, 2, 3)
        for kind in ("max_pool", "avg_pool", "adaptive_avg_pool")
        for back in ("", "_backward")
    )
    + " "
    + " ".join(f"max_pool{n}d_with_indices adaptive_max_pool{n}d" for n in (1, 2, 3))
)
UPS = (
    "upsample_linear1d upsample_bilinear2d upsample_trilinear3d upsample_bicubic2d "
    "_upsample_bilinear2d_aa _upsample_bicubic2d_aa _upsample_lanczos2d_aa upsample_nearest1d "
    "_upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d upsample_nearest3d "
    "_upsample_nearest_exact3d"
)
#: linear in what they take
LINEAR = re.compile(r"avg_pool|upsample|max_pool.d_backward|pixel|im2col|col2im")


def _spatial(name: str) -> int:
    """How many of the last dimensions are places."""
    return int(re.findall(r"([123])d", name)[0])


@rule(POOLS)
@rule("pixel_shuffle pixel_unshuffle")
def samples(call: Call) -> Iterator[Strategy]:
    """All dimensions before the places; channels of pixels are mixed with them."""
    first = call.values[0]
    count = 3 if call.name.startswith("pixel") else _spatial(call.name)
    shape = first.shape
    names = [name for name, at in call.index.items() if isinstance(at, int)]
    alike = all(call[name].ndim == first.ndim for name in names)
    for dim in range(first.ndim - count) if alike else ():
        made = [out for out in call.outs if out is not None]
        if all(len(out) == len(shape) and out[dim] == shape[dim] for out in made):
            yield call.strategy({name: Shard(dim) for name in names}, Shard(dim))
    if LINEAR.search(call.name) and (len(names) == 1 or call.name.endswith("_backward")):
        yield call.strategy({names[0]: P}, P)


@rule(*UPS.split())
def ups(call: Call) -> Iterator[Strategy]:
    """Samples and channels."""
    for dim in range(2):
        yield call.strategy({"self": Shard(dim)}, Shard(dim))
    yield call.strategy({"self": P}, P)


@rule(*(f"{name}_backward" for name in UPS.split()))
def ups_backward(call: Call) -> Iterator[Strategy]:
    """Samples and channels; `input_size` is that of a part."""
    for dim in range(2):
        yield call.strategy({"grad_output": Shard(dim)}, Shard(dim))
    yield call.strategy({"grad_output": P}, P)


@rule("im2col col2im")
def columns(call: Call) -> Iterator[Strategy]:
    """Samples."""
    if call.values[0].ndim == (4 if call.name == "im2col" else 3):
        yield call.strategy({"self": Shard(0)}, Shard(0))
    yield call.strategy({"self": P}, P)
