"""Tensors of quantized numbers as a GGUF file has them: blocks of bytes, in their order.

Nothing is expanded when a file is read. `dequantize` gives float32, and taeda-quantization computes with
the integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import taeda
from taeda import Tensor

__all__ = ["KINDS", "Blocks", "Integers", "Kind"]

#: 4-bit numbers, lower halves before upper ones, of so many bytes
_RUN = 16
_RUN_K = 32


@dataclass(frozen=True)
class Integers:
    """Numbers q of the shape (rows, columns); a group of columns // scales.shape[1] is q * scale + offset.

    q: int8, or uint8 from 0 to 15 where `offsets` or `zero` say what 0 means: without offsets a number
    is (q - zero) * scale.
    """

    q: Tensor
    scales: Tensor
    offsets: Tensor | None
    zero: int

    def expanded(self) -> Tensor:
        """In float32."""
        if not self.q.numel():
            return self.q.float()
        groups = self.q.unflatten(1, (self.scales.shape[1], -1)).float()
        scales = self.scales.float().unsqueeze(-1)
        if self.offsets is None:
            return ((groups - self.zero) * scales).flatten(1)
        return (groups * scales + self.offsets.float().unsqueeze(-1)).flatten(1)


@dataclass(frozen=True)
class Kind:
    """One form of blocks: how many numbers one holds, in how many bytes, and how they are taken apart."""

    numbers: int
    nbytes: int
    integers: Callable[[Tensor], Integers]


@dataclass(frozen=True)
class Blocks:
    """A tensor in blocks. `data`: uint8, `shape` with the bytes of a row in place of its last number."""

    kind: str
    shape: tuple[int, ...]
    data: Tensor

    def integers(self) -> Integers:
        """Integers and scales of all rows, as they are in the file; copies."""
        kind = KINDS[self.kind]
        rows, row = math.prod(self.shape[:-1]), self.shape[-1] // kind.numbers
        return kind.integers(self.data.reshape(rows, row, kind.nbytes))

    def dequantize(self) -> Tensor:
        """The tensor in float32."""
        return self.integers().expanded().reshape(self.shape)

    def __repr__(self) -> str:
        return f"Blocks({self.kind}, shape={self.shape})"


def _floats(data: Tensor, begin: int) -> Tensor:
    """The float16 number that lies at a byte of every block, (rows, blocks)."""
    return data[..., begin : begin + 2].contiguous().view(taeda.float16).squeeze(-1)


def _halves(data: Tensor, begin: int, run: int) -> Tensor:
    """Numbers of 4 bits from a byte on: for every `run` bytes the lower halves, then the upper ones."""
    part = data[..., begin:].unflatten(-1, (-1, 1, run))
    return taeda.cat([part & 15, part >> 4], -2).flatten(1)


def _q8_0(data: Tensor) -> Integers:
    q = data[..., 2:].contiguous().view(taeda.int8)
    return Integers(q.flatten(1), _floats(data, 0), None, 0)


def _q4_0(data: Tensor) -> Integers:
    return Integers(_halves(data, 2, _RUN), _floats(data, 0), None, 8)


def _q4_1(data: Tensor) -> Integers:
    return Integers(_halves(data, 4, _RUN), _floats(data, 0), _floats(data, 2), 0)


def _q4_k(data: Tensor) -> Integers:
    """Eight groups of 32, whose scales and offsets are 6-bit multiples of two float16 numbers."""
    low, middle, high = data[..., 4:16].unflatten(-1, (3, 4)).unbind(-2)
    scales = taeda.cat([low & 63, (high & 15) | (low >> 2 & 48)], -1)
    offsets = taeda.cat([middle & 63, (high >> 4) | (middle >> 2 & 48)], -1)
    step, least = (_floats(data, at).float().unsqueeze(-1) for at in (0, 2))
    q = _halves(data, 16, _RUN_K)
    return Integers(q, (step * scales).flatten(1), (-(least * offsets)).flatten(1), 0)


def _q6_k(data: Tensor) -> Integers:
    """16 groups of 16. Of 128 numbers 64 bytes hold the four lower bits, 32 bytes the two upper ones."""
    low = data[..., :128].unflatten(-1, (2, 1, 64))
    lower = taeda.cat([low & 15, low >> 4], -2).flatten(-2)
    high = data[..., 128:192].unflatten(-1, (2, 1, 32))
    upper = taeda.cat([high >> shift & 3 for shift in (0, 2, 4, 6)], -2).flatten(-2)
    q = (lower | upper << 4).to(taeda.int8) - 32
    steps = data[..., 192:208].contiguous().view(taeda.int8)
    scales = _floats(data, 208).float().unsqueeze(-1) * steps
    return Integers(q.flatten(1), scales.flatten(1), None, 0)


#: those that are read
KINDS = {
    "Q8_0": Kind(32, 34, _q8_0),
    "Q4_0": Kind(32, 18, _q4_0),
    "Q4_1": Kind(32, 20, _q4_1),
    "Q4_K": Kind(256, 144, _q4_k),
    "Q6_K": Kind(256, 210, _q6_k),
}
