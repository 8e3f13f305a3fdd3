"""Between floats and integers with a scale and a zero point, to the last bit as PyTorch computes them.

Two ways of rounding are in use. Eight bits with one scale add the zero point before the one rounding of a
fused multiply-add; all others round the product, add the zero point in float32, and round to an integer.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "BITS", "LIMITS", "STORED", "along", "channel_integers", "floats", "integers_of", "refuse_dtype", "steps",
]  # fmt: skip

#: by dtype the integers that are stored
STORED = {
    taeda.quint8: taeda.uint8, taeda.qint8: taeda.int8, taeda.qint32: taeda.int32,
    taeda.quint4x2: taeda.uint8, taeda.quint2x4: taeda.uint8,
}  # fmt: skip
#: of dtypes that share a byte, the bits of a number
BITS = {taeda.quint4x2: 4, taeda.quint2x4: 2}
#: by dtype the least and the greatest integer
LIMITS = {
    taeda.quint8: (0, 255), taeda.qint8: (-128, 127), taeda.qint32: (-(2**31), 2**31 - 1),
    taeda.quint4x2: (0, 15), taeda.quint2x4: (0, 3),
}  # fmt: skip


def refuse_dtype(dtype: Any, name: str) -> None:
    """RuntimeError unless numbers can be quantized to this dtype."""
    if dtype not in STORED:
        wanted = ", ".join(map(str, STORED))
        raise RuntimeError(f"{name}: {dtype} holds no quantized numbers: wanted one of {wanted}")


def along(values: Tensor, axis: int, rank: int) -> Tensor:
    """One value for each place along `axis`, to be broadcast over `rank` dimensions."""
    return values.reshape([-1 if dim == axis else 1 for dim in range(rank)])


def _stored(rounded: Tensor, dtype: Any) -> Tensor:
    """Whole numbers as integers of `dtype`: clamped; NaN is the greatest, or of 32 bits the least."""
    low, high = LIMITS[dtype]
    if dtype is not taeda.qint32:  # fmin takes the number beside NaN
        ends = [taeda.full((), float(n), device=rounded.device) for n in (high, low)]
        return rounded.fmin(ends[0]).fmax(ends[1]).to(STORED[dtype])
    wide = rounded.double()
    return wide.masked_fill(wide.isnan(), low).clamp(low, high).to(STORED[dtype])


def integers_of(x: Tensor, scale: float, zero_point: int, dtype: Any) -> Tensor:
    """The integers of float32 `x` with one scale and zero point."""
    if dtype in (taeda.quint8, taeda.qint8) and x.device.type == "cpu":
        made: Tensor = taeda._quantize_int8(x, scale, zero_point, STORED[dtype])
        return made
    inverse = taeda.tensor(scale, dtype=taeda.float32, device=x.device).reciprocal()
    if dtype is taeda.qint32:
        return _stored((x * inverse + float(zero_point)).round(), dtype)
    exact = x.double() * inverse.double() + zero_point  # rounded once, to float32
    return _stored(exact.to(taeda.float32).round(), dtype)


def steps(x: Tensor, scale: float, zero_point: int, dtype: Any) -> Tensor:
    """The integers as kernels of activations round them: before the zero point is added, but for 32 bits."""
    if dtype is taeda.qint32:
        return integers_of(x, scale, zero_point, dtype)
    inverse = taeda.tensor(scale, dtype=taeda.float32, device=x.device).reciprocal()
    return _stored((x * inverse).round() + float(zero_point), dtype)


def channel_integers(x: Tensor, scales: Tensor, zeros: Tensor, axis: int, dtype: Any) -> Tensor:
    """The integers of float32 `x` with a scale and a zero point for each place along `axis`."""
    inverse = along(scales.float().reciprocal(), axis, x.dim())
    return _stored((x * inverse + along(zeros.float(), axis, x.dim())).round(), dtype)


def floats(integers: Tensor, scale: Any, zero_point: Any, axis: int | None) -> Tensor:
    """The numbers in float32 that integers stand for."""
    if axis is None:
        if integers.dtype is not taeda.int32 and integers.device.type == "cpu":
            made: Tensor = taeda._dequantize_int8(integers, scale, zero_point)
            return made
        if integers.dtype is taeda.int32:
            shifted = (integers.to(taeda.int64) - zero_point).float()
        else:
            shifted = integers.float() - float(zero_point)  # exact, as all are below 2^24
        return shifted * taeda.tensor(scale, dtype=taeda.float32, device=integers.device)
    scales, zeros = (along(part, axis, integers.dim()) for part in (scale, zero_point))
    if zeros.is_floating_point():
        return (integers.float() - zeros) * scales
    shifted = integers.float() - zeros.float()  # rounded where integers have 32 bits, as in PyTorch
    return (shifted.double() * scales).float()
