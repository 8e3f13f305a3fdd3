"""Padding with what is inside, and the rearrangements of channels and pixels."""

from __future__ import annotations

from collections.abc import Sequence

import taeda
from taeda import Tensor
from taeda._C import _nn
from taeda._layers.autocast import FLOAT32_ON_CPU, casts_to_float32

# ---- padding ----


def pad(self: Tensor, pad: Sequence[int], mode: str, value: float | None) -> Tensor:
    """Pairs (before, after) for the last dimension, the one before it, and so on; see nn.functional.pad."""
    if len(pad) % 2:
        raise RuntimeError(
            f"pad: Padding length must be divisible by 2: wanted a pair (before, after) for each dimension, "
            f"the last one first, got {len(pad)} sizes: {list(pad)}"
        )
    if len(pad) > 2 * self.dim():
        raise RuntimeError(
            f"pad: wanted at most {self.dim()} pairs for an input of shape {list(self.shape)}, got "
            f"{list(pad)}"
        )
    if mode == "constant":
        return taeda.constant_pad_nd(self, pad, 0 if value is None else value)
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    if mode not in _PLACES:
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    count = len(pad) // 2
    if not 1 <= count <= 3 or self.dim() not in (count + 1, count + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {self.dim()}D input tensor with mode "
            f"{mode}: it pads the last 1, 2 or 3 "
            "dimensions (2, 4 or 6 sizes) of a tensor with 1 or 2 dimensions before them (a "
            "channel, and a batch)"
        )
    listed = mode == "replicate" or (mode == "reflect" and count < 3)
    return (_pad_in_float32 if listed else _pad_inside)(self, pad, mode)


def _pad_inside(x: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    if mode != "circular" and x.device.type in ("cpu", "meta"):
        return _nn._pad_inside(x, pad, _CODES[mode])
    return pad_by_places(x, pad, mode)


def pad_by_places(x: Tensor, pad: Sequence[int], mode: str) -> Tensor:
    """The same one dimension after the other, by lists of places."""
    if not any(pad):
        return x.clone()  # as other results, which share nothing with what they are made of
    for i in range(len(pad) // 2):
        before, after = pad[2 * i], pad[2 * i + 1]
        if before or after:
            x = x.index_select(-1 - i, _PLACES[mode](x, -1 - i, before, after))
    return x


_pad_in_float32 = casts_to_float32(_pad_inside, FLOAT32_ON_CPU)


def _range(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    if x.size(dim) + before + after < 1:
        raise RuntimeError(
            f"pad: size {x.size(dim)} of dimension {dim} is too small for padding ({before}, {after})"
        )
    return taeda.arange(-before, x.size(dim) + after, device=x.device)


def _reflected(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    size = x.size(dim)
    if before >= size or after >= size:
        raise RuntimeError(
            "Padding size should be less than the corresponding input dimension, but got: padding "
            f"({before}, {after}) at dimension {dim} of input {list(x.shape)}"
        )
    return (size - 1) - ((size - 1) - _range(x, dim, before, after).abs()).abs()


def _replicated(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    if x.size(dim) == 0:
        raise RuntimeError(f"pad: nothing to replicate in dimension {dim} of input {list(x.shape)}")
    return _range(x, dim, before, after).clamp(0, x.size(dim) - 1)


def _circular(x: Tensor, dim: int, before: int, after: int) -> Tensor:
    size = x.size(dim)
    if before > size or after > size:
        raise RuntimeError(
            f"Padding value causes wrapping around more than once: ({before}, {after}) for size {size}"
        )
    # what is left after a cut
    places = taeda.arange(max(-before, 0), size + min(after, 0), device=x.device)
    wanted = taeda.arange(-max(before, 0), places.numel() + max(after, 0), device=x.device)
    if wanted.numel() < 1 or places.numel() < 1:
        raise RuntimeError(
            f"pad: size {size} of dimension {dim} is too small for padding ({before}, {after})"
        )
    return places.index_select(0, wanted % places.numel())


_CODES = {"reflect": 0, "replicate": 1}
_PLACES = {"reflect": _reflected, "replicate": _replicated, "circular": _circular}


def _pad_ranked(self: Tensor, padding: Sequence[int], n: int, mode: str) -> Tensor:
    if self.dim() not in (n + 1, n + 2) or len(padding) != 2 * n:
        raise RuntimeError(
            f"{mode} padding of {n} dimensions: wanted a {n + 1}D or {n + 2}D input and {2 * n} sizes, "
            f"got {list(self.shape)} and {list(padding)}"
        )
    return _pad_inside(self, padding, mode)


def reflection_pad1d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """Mirrored at the edge, which is not repeated."""
    return _pad_ranked(self, padding, 1, "reflect")


def reflection_pad2d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """Mirrored at the edges, which are not repeated."""
    return _pad_ranked(self, padding, 2, "reflect")


def reflection_pad3d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """Mirrored at the edges, which are not repeated."""
    return _pad_ranked(self, padding, 3, "reflect")


def replication_pad1d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """The edge repeated."""
    return _pad_ranked(self, padding, 1, "replicate")


def replication_pad2d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """The edges repeated."""
    return _pad_ranked(self, padding, 2, "replicate")


def replication_pad3d(self: Tensor, padding: Sequence[int]) -> Tensor:
    """The edges repeated."""
    return _pad_ranked(self, padding, 3, "replicate")


# ---- channels and pixels ----


def _check_image(name: str, x: Tensor) -> None:
    if x.dim() < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {x.dim()} dimension(s)"
        )


def channel_shuffle(self: Tensor, groups: int) -> Tensor:
    """Channel i of each group in turn: (g, n) channels become (n, g)."""
    _check_image("channel_shuffle", self)
    if groups <= 0 or self.size(1) % groups:
        raise RuntimeError(
            "channel_shuffle: number of groups must be positive and divide the channels: got "
            f"{groups} and {self.size(1)}"
        )
    batch, channels, *space = self.shape
    groups_last = self.reshape(batch, groups, channels // groups, *space).transpose(1, 2)
    return groups_last.clone(memory_format=taeda.contiguous_format).reshape(self.shape)
