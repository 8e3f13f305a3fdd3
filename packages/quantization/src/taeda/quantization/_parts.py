"""What a quantized tensor is made of: integers, and what they stand for.

Views share the memory of the integers, and writes go into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core

from ._affine import BITS, LIMITS, STORED, floats, integers_of, refuse_dtype
from ._nibbles import packed

__all__ = ["Quantized", "is_quantized", "parts_of", "per_channel", "per_tensor", "tensor_of"]

_LAYOUT = core._quantized
#: the ends of positive numbers in float32
_LEAST, _GREATEST = 2.0**-149, taeda.finfo(taeda.float32).max


class Quantized:
    """Integers of the tensor's shape (those of fewer bits in a byte each), a scale and a zero point: numbers,
    or of channels tensors of them and the dimension `axis`.
    """

    __slots__ = ("_made", "axis", "dtype", "integers", "scale", "scheme", "zero_point")
    in_files = "quantized"

    def __init__(
        self,
        integers: Tensor,
        dtype: Any,
        scale: Any,
        zero_point: Any,
        axis: int | None,
        scheme: Any,
    ) -> None:
        self.integers, self.dtype = integers, dtype
        self.scale, self.zero_point = scale, zero_point
        self.axis, self.scheme = axis, scheme
        self._made: dict[Any, Any] = {}

    def kept(self, how: Any, make: Callable[[], Any]) -> Any:
        """What `make()` gives of the integers, kept under `how` until they are written into.

        Nothing is kept of tensors of inference mode, whose writes nobody counts, nor of what is made while
        a layer of this thread sees calls: a tracer gives tensors without numbers. Autocast alone gives
        true ones.
        """
        if self.integers.is_inference():
            return make()
        version, made = self.integers._version, self._made
        if made.get("version") != version:  # a new table: another thread may read the old one
            self._made = made = {"version": version}
        if how in made:
            return made[how]
        found = make()
        if not core.get_layers() & ~core.layers["AUTOCAST"]:
            made[how] = found
        return found

    @property
    def version(self) -> int:
        """How often the integers were written into, by whatever tensor has them."""
        return int(self.integers._version)

    def named(self) -> tuple[tuple[str, Tensor], ...]:
        """The plain tensors, by their names."""
        own: tuple[tuple[str, Tensor], ...] = (("integers", self.integers),)
        if self.axis is None:
            return own
        return (*own, ("scales", self.scale), ("zero_points", self.zero_point))

    def saved(self) -> tuple[list[Tensor], tuple[Any, ...]]:
        """What `from_saved` takes."""
        words = [str(word).rpartition(".")[2] for word in (self.dtype, self.scheme)]
        tensors = [part.detach() for _, part in self.named()]
        size = tuple(self.integers.shape)
        if self.dtype in BITS:
            tensors[0] = packed(self.integers, BITS[self.dtype])
        if self.axis is None:
            return tensors, (*words, self.scale, self.zero_point, *size)
        return tensors, (*words, self.axis, *size)

    def like(self, integers: Tensor, axis: int | None = None) -> Quantized:
        """Other integers with the same scales."""
        kept = self.axis if axis is None else axis
        return Quantized(integers, self.dtype, self.scale, self.zero_point, kept, self.scheme)

    def floats(self) -> Tensor:
        """The numbers, in float32."""
        return floats(self.integers, self.scale, self.zero_point, self.axis)

    def integers_of(self, x: Tensor) -> Tensor:
        """The integers of these floats, with the scale of this tensor."""
        return integers_of(x.float(), self.scale, self.zero_point, self.dtype)


def is_quantized(x: Any) -> bool:
    """Is it a tensor of integers with scales?"""
    return isinstance(x, Tensor) and isinstance(core.parts_of(x), Quantized)


def parts_of(x: Tensor, name: str) -> Quantized:
    """The parts of a quantized tensor; NotImplementedError that names the caller for another one."""
    parts = core.parts_of(x) if isinstance(x, Tensor) else None
    if not isinstance(parts, Quantized):
        kind = x.dtype if isinstance(x, Tensor) else type(x).__name__
        raise NotImplementedError(
            f"{name}: wanted a quantized tensor, but got {kind}: quantize it first, with "
            "quantize_per_tensor or a QuantStub"
        )
    return parts


def tensor_of(parts: Quantized) -> Tensor:
    """The tensor of these parts."""
    at = parts.integers
    made: Tensor = core.make_layout(_LAYOUT, tuple(at.shape), parts.dtype, at.device, parts)
    return made


def per_tensor(integers: Tensor, scale: float, zero_point: int, dtype: Any) -> Tensor:
    """A tensor of these integers with one scale and zero point; RuntimeError for such as no number has."""
    low, high = LIMITS[dtype]
    if not (_LEAST <= scale <= _GREATEST and low <= zero_point <= high):
        raise RuntimeError(
            f"a quantized tensor wants a finite scale above 0 in float32, and of {dtype} a zero point from "
            f"{low} to {high}; got {scale} and {zero_point}"
        )
    parts = Quantized(integers, dtype, float(scale), int(zero_point), None, taeda.per_tensor_affine)
    return tensor_of(parts)


def per_channel(integers: Tensor, scales: Tensor, zeros: Tensor, axis: int, dtype: Any) -> Tensor:
    """A tensor of these integers with a scale and a zero point for each place along `axis`."""
    is_float = zeros.is_floating_point()
    scheme = taeda.per_channel_affine_float_qparams if is_float else taeda.per_channel_affine
    scales = scales.to(taeda.float32 if is_float else taeda.float64)
    zeros = zeros.to(taeda.float32 if is_float else taeda.int64)
    refuse_dtype(dtype, "a quantized tensor")
    assert integers.dtype is STORED[dtype]
    return tensor_of(Quantized(integers, dtype, scales.clone(), zeros.clone(), axis, scheme))
