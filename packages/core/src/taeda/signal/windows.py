"""Windows for spectra: vectors of M weights.

Every function takes `sym`: True for a window that is its own mirror image, False for one period of
it, as a transform of M points wants. `dtype` is float32 or float64; ValueError for another, and for
a negative M.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _window(
    name: str, M: int, sym: bool, formula: Callable[[Tensor, float], Tensor], **options: Any
) -> Tensor:
    """The formula of the points 0 ... M - 1 and of the distance from the first point to the last of
    the whole window.
    """
    dtype = options["dtype"] or taeda.get_default_dtype()
    requires_grad = options.pop("requires_grad")
    if M < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={M}")
    if options["layout"] not in (None, taeda.strided):
        raise ValueError(
            f"{name} is implemented for strided tensors only, got: {options['layout']}"
        )
    if dtype not in (taeda.float32, taeda.float64):
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {dtype}")
    if M < 2:
        made = taeda.ones(M, dtype=dtype, device=options["device"])
    else:
        points = taeda.arange(M, dtype=dtype, device=options["device"])
        made = formula(points, M - 1 if sym else M)
    return made.requires_grad_() if requires_grad else made


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A triangle from 0 over 1 to 0.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> bartlett(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("bartlett", M, sym, lambda k, n: 1 - (k * (2 / n) - 1).abs(), **options)


def general_cosine(
    M: int,
    *,
    a: Sequence[float],
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """a[0] - a[1] cos x + a[2] cos 2x - ..., for x from 0 to 2 pi.

    TypeError if `a` is no list of numbers, ValueError if it is empty.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        a: at least one number, the weight of each cosine.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> general_cosine(5, a=[0.5, 0.5])
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    if not isinstance(a, Sequence):
        raise TypeError(f"Coefficients must be a list/tuple, got {type(a).__name__}")
    if not a:
        raise ValueError("Coefficients cannot be empty")

    def formula(k: Tensor, n: float) -> Tensor:
        made = taeda.full_like(k, a[0])
        for i, weight in enumerate(a[1:], 1):
            made = made + (k * (2 * math.pi * i / n)).cos() * (weight if i % 2 == 0 else -weight)
        return made

    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("general_cosine", M, sym, formula, **options)


def general_hamming(M: int, *, alpha: float = 0.54, sym: bool = True, **options: Any) -> Tensor:
    """alpha - (1 - alpha) cos x, for x from 0 to 2 pi.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        alpha: the height of the middle line, 0.54 by default.
        sym: True, the default, for a mirror image of itself, False for one period.
        **options: dtype, layout, device and requires_grad, as in `general_cosine`.

    >>> taeda.signal.windows.general_hamming(5, alpha=0.6)
    tensor([0.2000, 0.6000, 1.0000, 0.6000, 0.2000])
    """
    return general_cosine(M, a=[alpha, 1 - alpha], sym=sym, **options)


def hamming(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A cosine on a pedestal: general_hamming with alpha = 0.54.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        **options: dtype, layout, device and requires_grad, as in `general_cosine`.

    >>> taeda.signal.windows.hamming(5)
    tensor([0.0800, 0.5400, 1.0000, 0.5400, 0.0800])
    """
    return general_hamming(M, sym=sym, **options)


def hann(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """A raised cosine: general_hamming with alpha = 0.5.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        **options: dtype, layout, device and requires_grad, as in `general_cosine`.

    >>> hann(5)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
    """
    return general_hamming(M, alpha=0.5, sym=sym, **options)


def blackman(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Three cosines with low side lobes.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        **options: dtype, layout, device and requires_grad, as in `general_cosine`.

    >>> taeda.signal.windows.blackman(5)[1:4]
    tensor([0.3400, 1.0000, 0.3400])
    """
    return general_cosine(M, a=[0.42, 0.5, 0.08], sym=sym, **options)


def nuttall(M: int, *, sym: bool = True, **options: Any) -> Tensor:
    """Four cosines with the lowest side lobes (Nuttall 1981, minimum 4-term).

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        **options: dtype, layout, device and requires_grad, as in `general_cosine`.

    >>> taeda.signal.windows.nuttall(5)
    tensor([3.6280e-04, 2.2698e-01, 1.0000e+00, 2.2698e-01, 3.6280e-04])
    """
    return general_cosine(M, a=[0.3635819, 0.4891775, 0.1365995, 0.0106411], sym=sym, **options)


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Half a sine, taken between the points: sin(pi (k + 1/2) / M).

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> cosine(2)
    tensor([0.7071, 0.7071])
    """
    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window(
        "cosine", M, sym, lambda k, n: ((k + 0.5) * (math.pi / (n + 1))).sin(), **options
    )


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """A normal distribution's bell of height 1 and deviation `std`, in points. ValueError unless std > 0.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        std: the deviation in points, above 0; 1 by default.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> taeda.signal.windows.gaussian(5, std=1.0)
    tensor([0.1353, 0.6065, 1.0000, 0.6065, 0.1353])
    """
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window(
        "gaussian", M, sym, lambda k, n: (-0.5 * ((k - n / 2) / std).square()).exp(), **options
    )


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """exp(-|k - center| / tau); the centre is the middle, and may be another only if `sym` is False.

    ValueError unless tau > 0.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        center: the point of the peak, counted from 0; None is the middle.
        tau: points in which the weight falls to 1 / e, above 0; 1 by default.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> taeda.signal.windows.exponential(5, tau=1.0)
    tensor([0.1353, 0.3679, 1.0000, 0.3679, 0.1353])
    """
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window(
        "exponential",
        M,
        sym,
        lambda k, n: (-(k - (n / 2 if center is None else center)).abs() / tau).exp(),
        **options,
    )


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """i0(beta sqrt(1 - x^2)) / i0(beta), for x from -1 to 1. ValueError for a negative beta.

    Args:
        M: number of weights, 0 or more; ValueError for a negative one. Of one the weight is 1.
        beta: how narrow the window is, 0 (all ones) or more; 12 by default.
        sym: True, the default, for a mirror image of itself, False for one period.
        dtype: float32 or float64; None is the default dtype. ValueError for another.
        layout: strided, or None for that; ValueError for another.
        device: of the result; None is the default device.
        requires_grad: whether the result asks for a gradient; False by default.

    >>> taeda.signal.windows.kaiser(5, beta=4.0)
    tensor([0.0885, 0.6334, 1.0000, 0.6334, 0.0885])
    """
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")

    def formula(k: Tensor, n: float) -> Tensor:
        root = beta * (1 - (k * (2 / n) - 1).square()).clamp_min(0).sqrt()
        return taeda.i0(root) / taeda.i0(taeda.tensor(beta, dtype=k.dtype))

    options = {"dtype": dtype, "layout": layout, "device": device, "requires_grad": requires_grad}
    return _window("kaiser", M, sym, formula, **options)
