"""Fake quantization: what quantized numbers would be, in float, with gradients."""

from __future__ import annotations

import math

import taeda
from taeda import Tensor

__all__ = [
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "fake_quantize_per_tensor_affine_tensor_qparams",
    "fused_moving_avg_obs_fake_quant",
]

#: below it a scale is made larger: its inverse would be inexact
_SMALL_SCALE = 6.1e-5


def _check(name: str, x: Tensor, quant_min: int, quant_max: int) -> None:
    if not x.is_floating_point():
        raise NotImplementedError(f"{name}: not implemented for {x.dtype}: wanted a float tensor")
    if quant_min > quant_max:
        raise RuntimeError(
            f"{name}: quant_min should be less than or equal to quant_max, but got {quant_min} and "
            f"{quant_max}"
        )


def _check_zero(name: str, zero: float, quant_min: int, quant_max: int) -> None:
    if not quant_min <= zero <= quant_max:
        raise RuntimeError(
            f"{name}: zero_point must be between quant_min and quant_max, but got {zero} for {quant_min} "
            f"to {quant_max}"
        )


def fake_quantize_per_tensor_affine(
    self: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Tensor:
    """`(clamp(round(self / scale) + zero_point) - zero_point) * scale`."""
    name = "fake_quantize_per_tensor_affine"
    _check(name, self, quant_min, quant_max)
    _check_zero(name, zero_point, quant_min, quant_max)
    if not (scale > 0 and math.isfinite(scale)):
        raise RuntimeError(f"{name}: wanted a scale above 0, got {scale}")
    one = taeda.full((1,), scale, dtype=taeda.float32, device=self.device)
    zero = taeda.full((1,), zero_point, dtype=taeda.int32, device=self.device)
    return taeda._fake_quantize(self, one, zero, None, quant_min, quant_max)[0]


def fake_quantize_per_tensor_affine_tensor_qparams(
    self: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int
) -> Tensor:
    """The same with scale and zero point in tensors."""
    name = "fake_quantize_per_tensor_affine"
    _check(name, self, quant_min, quant_max)
    if scale.numel() != 1 or zero_point.numel() != 1:
        raise RuntimeError(
            f"{name}: wanted one scale and one zero point, got {scale.numel()} and {zero_point.numel()}"
        )
    if zero_point.is_floating_point():
        zero_point = zero_point.int()
    return taeda._fake_quantize(self, scale, zero_point, None, quant_min, quant_max)[0]


def fake_quantize_per_channel_affine(
    self: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    """As `fake_quantize_per_tensor_affine` for each place along `axis`."""
    name = "fake_quantize_per_channel_affine"
    _check(name, self, quant_min, quant_max)
    if scale.dtype not in (taeda.float32, taeda.bfloat16):
        raise RuntimeError(f"{name}: the scale has dtype {scale.dtype}, wanted float32 or bfloat16")
    if zero_point.dtype not in (taeda.int32, taeda.float32, taeda.float16):
        raise RuntimeError(
            f"{name}: the zero point has dtype {zero_point.dtype}, wanted int32, float32 or float16"
        )
    if scale.dim() != 1 or zero_point.dim() != 1 or scale.numel() != zero_point.numel():
        raise RuntimeError(
            f"{name}: scale and zero-point need to have the same dimensions, one each, but got "
            f"{tuple(scale.shape)} and {tuple(zero_point.shape)}"
        )
    if not 0 <= axis < self.dim():
        raise IndexError(
            f"{name}: axis must be between 0 and the {self.dim()} dimensions of the input, got {axis}"
        )
    if self.shape[axis] != scale.numel():
        raise RuntimeError(
            f"{name}: one scale and zero point for each place along the axis is wanted, got "
            f"{scale.numel()} for the shape {tuple(self.shape)} along {axis}"
        )
    # a float zero point is that of `per_channel_affine_float_qparams`, which may lie outside
    if zero_point.dtype is taeda.int32 and zero_point.numel() and not zero_point.is_meta:
        for zero in (zero_point.min().item(), zero_point.max().item()):
            _check_zero(name, zero, quant_min, quant_max)
    return taeda._fake_quantize(self, scale, zero_point, axis, quant_min, quant_max)[0]


# ---- with an observer ----


def fused_moving_avg_obs_fake_quant(
    self: Tensor,
    observer_on: Tensor,
    fake_quant_on: Tensor,
    running_min: Tensor,
    running_max: Tensor,
    scale: Tensor,
    zero_point: Tensor,
    averaging_const: float,
    quant_min: int,
    quant_max: int,
    ch_axis: int,
    per_row_fake_quant: bool = False,
    symmetric_quant: bool = False,
) -> Tensor:
    """Extremes that are infinite, or not there, are those of `self`; else they move by `averaging_const`."""
    name = "fused_moving_avg_obs_fake_quant"
    _check(name, self, quant_min, quant_max)
    if self.dtype is not taeda.float32:
        raise RuntimeError(f"{name}: expected scalar type Float but found {self.dtype}")
    if per_row_fake_quant and ch_axis != 0:
        raise RuntimeError(
            f"{name}: per_row_fake_quant is only supported on ch_axis 0, got {ch_axis}"
        )
    if quant_min == quant_max:
        raise RuntimeError(
            f"{name}: quant_min and quant_max are both {quant_min}: no range has a scale"
        )
    written = {
        "running_min": running_min,
        "running_max": running_max,
        "scale": scale,
        "zero_point": zero_point,
    }
    read = {"self": self, "observer_on": observer_on, "fake_quant_on": fake_quant_on}
    _refuse_shared(name, written, read)
    if observer_on.item():
        extremes = _extremes(self.detach(), per_row_fake_quant)
        for running, seen in zip((running_min, running_max), extremes, strict=True):
            _move(running, seen, averaging_const)
    if not fake_quant_on.item():
        return self.clone()
    found = [
        choose_parameters(least, most, quant_min, quant_max, symmetric_quant)
        for least, most in zip(
            running_min.reshape(-1).tolist(), running_max.reshape(-1).tolist(), strict=True
        )
    ]
    for target, column in zip((scale, zero_point), zip(*found, strict=True), strict=True):
        _put(target, taeda.tensor(column, dtype=target.dtype, device=target.device))
    if per_row_fake_quant:
        return fake_quantize_per_channel_affine(self, scale, zero_point, 0, quant_min, quant_max)
    return fake_quantize_per_tensor_affine_tensor_qparams(
        self, scale, zero_point, quant_min, quant_max
    )


def _refuse_shared(name: str, written: dict[str, Tensor], read: dict[str, Tensor]) -> None:
    """What is written while the rest is still to be read, or written, has memory of its own."""
    places = {which: _place(x) for which, x in {**written, **read}.items()}
    for one in written:
        for other in places:
            (begin, end), (start, stop) = places[one], places[other]
            if one != other and begin < stop and start < end:
                raise RuntimeError(
                    f"{name}: {one} is written, and shares memory with {other}: clone one of them"
                )


def _place(x: Tensor) -> tuple[int, int]:
    """The bytes from the first element to the last."""
    if x.numel() == 0 or x.is_meta:
        return 0, 0
    reach = sum((n - 1) * step for n, step in zip(x.shape, x.stride(), strict=True))
    return x.data_ptr(), x.data_ptr() + (reach + 1) * x.element_size()


def _extremes(x: Tensor, per_row: bool) -> tuple[Tensor, Tensor]:
    rows = (
        x.flatten(1)
        if per_row and x.dim() > 1
        else x.reshape(-1, 1)
        if per_row
        else x.reshape(1, -1)
    )
    return rows.amin(1), rows.amax(1)


def _put(target: Tensor, values: Tensor) -> None:
    if target.numel() != values.numel():
        target.resize_(values.shape)
    target.copy_(values.reshape(target.shape))


def _move(running: Tensor, seen: Tensor, share: float) -> None:
    if running.numel() != seen.numel():
        _put(running, seen)
        return
    seen = seen.reshape(running.shape)
    by = taeda.full((), share, dtype=taeda.float32, device=running.device)
    running.copy_(taeda.where(running.isinf(), seen, running + by * (seen - running)))


def _float32(x: float) -> float:
    return float(taeda.tensor(x, dtype=taeda.float32).item())


def choose_parameters(
    least: float, most: float, quant_min: int, quant_max: int, symmetric: bool = False
) -> tuple[float, int]:
    """Scale (a double) and zero point of a range, which is made to hold 0. The zero point is the end whose
    integer is the more exact, nudged to an integer within the range.
    """
    steps, both = quant_max - quant_min, least < 0 < most
    if both and symmetric:
        low, high = -(steps // 2 + 1), steps // 2
        size = max(abs(least / low), abs(most / high))
        least, most = _float32(size * low), _float32(size * high)
    least, most = min(least, 0.0), max(most, 0.0)
    scale = (most - least) / steps
    if _float32(scale) == 0 or math.isinf(_float32(1 / _float32(scale))):
        scale = 0.1
    if scale < _SMALL_SCALE:
        least, most = _spread(least, most, scale, steps)
        scale = _float32(_SMALL_SCALE)
    if both and symmetric:
        return scale, round((quant_min + quant_max) / 2)
    by_least = abs(quant_min) - abs(least / scale) < abs(quant_max) - abs(most / scale)
    zero = quant_min - least / scale if by_least else quant_max - most / scale
    return scale, min(max(round(zero), quant_min), quant_max)


def _spread(least: float, most: float, scale: float, steps: int) -> tuple[float, float]:
    """The range whose scale is the least that is taken."""
    if least == 0:
        return least, _float32(_SMALL_SCALE * steps)
    if most == 0:
        return _float32(-_SMALL_SCALE * steps), most
    by = _float32(_SMALL_SCALE / scale)
    return _float32(least * by), _float32(most * by)
