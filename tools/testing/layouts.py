"""The same numbers in other memory: every way in which a tensor can differ from its contiguous copy.

A layout takes a tensor and gives one that lies otherwise, or None where there is no such one. Most
have the values of the tensor; `expanded` repeats some of them, so a comparison takes `copy_of` of
what it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import taeda

__all__ = ["LAYOUTS", "OVERLAPPING", "copy_of", "mixed"]

Tensor = taeda.Tensor


def copy_of(t: Tensor) -> Tensor:
    """A contiguous copy of its own storage, without marks."""
    return t.detach().resolve_conj().resolve_neg().clone(memory_format=taeda.contiguous_format)


def _strided(t: Tensor, strides: list[int], offset: int = 0) -> Tensor:
    """The values of `t` with the given strides, which must not let elements meet."""
    reach = sum((n - 1) * s for n, s in zip(t.shape, strides, strict=True)) if t.numel() else -1
    base = taeda.zeros(offset + reach + 1, dtype=t.dtype)
    return base.as_strided(t.shape, strides, offset).copy_(t)


def transposed(t: Tensor) -> Tensor | None:
    """The first dimension is the fastest."""
    order = list(range(t.dim()))[::-1]
    return (
        t.permute(order).clone(memory_format=taeda.contiguous_format).permute(order)
        if t.dim() > 1
        else None
    )


def rotated(t: Tensor) -> Tensor | None:
    """The last dimension is the slowest, the others keep their order."""
    return (
        t.movedim(-1, 0).clone(memory_format=taeda.contiguous_format).movedim(0, -1)
        if t.dim() > 2
        else None
    )


def channels_last(t: Tensor) -> Tensor | None:
    formats = {4: taeda.channels_last, 5: taeda.channels_last_3d}
    return t.contiguous(memory_format=formats[t.dim()]) if t.dim() in formats else None


def stepped(t: Tensor) -> Tensor | None:
    """Every second element of the last dimension."""
    return _strided(t, [2 * s for s in copy_of(t).stride()]) if t.dim() else None


def gapped(t: Tensor) -> Tensor | None:
    """Rows with three elements between them."""
    if t.dim() < 2:
        return None
    strides, step = [], 1
    for size in reversed(t.shape):
        strides.append(step)
        step = step * max(size, 1) + 3
    return _strided(t, strides[::-1])


def offset(t: Tensor) -> Tensor:
    """From the second element of its storage: not aligned as a fresh one is."""
    return _strided(t, list(copy_of(t).stride()), 1)


def odd_ones(t: Tensor) -> Tensor | None:
    """Dimensions of size 1 have strides that mean nothing."""
    if 1 not in t.shape or not t.numel():
        return None
    strides = [
        s if n != 1 else 5 + 2 * d
        for d, (n, s) in enumerate(zip(t.shape, copy_of(t).stride(), strict=True))
    ]
    return copy_of(t).as_strided(t.shape, strides)


def expanded(t: Tensor) -> Tensor | None:
    """The first index of the first dimension, over and over."""
    return copy_of(t)[:1].expand(t.shape) if t.dim() and t.shape[0] > 1 else None


def expanded_last(t: Tensor) -> Tensor | None:
    return copy_of(t)[..., :1].expand(t.shape) if t.dim() and t.shape[-1] > 1 else None


def conjugate(t: Tensor) -> Tensor | None:
    """Marked as conjugate of what its memory holds."""
    return t.conj_physical().conj() if t.is_complex() else None


def negative(t: Tensor) -> Tensor | None:
    """Marked as negative of what its memory holds: an imaginary part of a conjugate."""
    if not t.is_floating_point() or t.dtype not in (taeda.float32, taeda.float64):
        return None
    return taeda.complex(taeda.zeros_like(t), -t).conj().imag


LAYOUTS: dict[str, Callable[[Tensor], Tensor | None]] = {
    f.__name__: f
    for f in (
        *(transposed, rotated, channels_last, stepped, gapped, offset, odd_ones),
        *(expanded, expanded_last, conjugate, negative),
    )
}
#: elements of these share memory, or share it with others: nothing can be written into them
OVERLAPPING = frozenset({"expanded", "expanded_last"})


def mixed(random: Random) -> Callable[[Tensor], Tensor | None]:
    """A layout of its own for every tensor."""
    names = [*LAYOUTS, *["same"] * 4]

    def change(t: Tensor) -> Tensor | None:
        name = random.choice(names)
        return None if name == "same" else LAYOUTS[name](t)

    return change
