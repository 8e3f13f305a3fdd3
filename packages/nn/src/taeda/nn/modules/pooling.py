"""Pools as modules."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .. import functional as F
from .module import Module
from .unpooling import (
    FractionalMaxPool2d,
    FractionalMaxPool3d,
    MaxUnpool1d,
    MaxUnpool2d,
    MaxUnpool3d,
    _MaxUnpoolNd,  # noqa: F401 - libraries look for it here
)
from .utils import _single

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]

# ---- maximum ----


class _MaxPoolNd(Module):
    """Options of maximum pools; a stride of None is the kernel's size."""

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _taeda_options(self) -> tuple[Any, ...]:
        return (
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            self.ceil_mode,
            self.return_indices,
        )

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPoolNd):
    """The largest element of every window of (N, C, L) or (C, L).

    Args:
        kernel_size: size of a window, at least 1: one int.
        stride: step between windows, at least 1: one int (None: `kernel_size`).
        padding: -inf at both ends, from 0 to half the kernel: one int (0).
        dilation: step between elements of a window, at least 1: one int (1).
        return_indices: whether the places of the maxima are returned too, for `MaxUnpool` (False).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes floor((in + 2 · padding - dilation · (kernel_size - 1) -
            1) / stride) + 1.

    The same as a function: `nn.functional.max_pool1d`.

    >>> MaxPool1d(2)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.max_pool1d(input, *self._taeda_options())


class MaxPool2d(_MaxPoolNd):
    """The largest element of every window of (N, C, H, W) or (C, H, W).

    Args:
        kernel_size: size of a window, at least 1: one int for all, or 2 in a tuple.
        stride: step between windows, at least 1: one int for all, or 2 in a tuple (None:
            `kernel_size`).
        padding: -inf at both ends, from 0 to half the kernel: one int for all, or 2 in a tuple (0).
        dilation: step between elements of a window, at least 1: one int for all, or 2 in a tuple
            (1).
        return_indices: whether the places of the maxima are returned too, for `MaxUnpool` (False).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes floor((in + 2 · padding - dilation · (kernel_size - 1) -
            1) / stride) + 1.

    The same as a function: `nn.functional.max_pool2d`.

    >>> MaxPool2d(2)(taeda.zeros(1, 3, 6, 6)).shape
    taeda.Size([1, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.max_pool2d(input, *self._taeda_options())


class MaxPool3d(_MaxPoolNd):
    """The largest element of every window of (N, C, D, H, W) or (C, D, H, W).

    Args:
        kernel_size: size of a window, at least 1: one int for all, or 3 in a tuple.
        stride: step between windows, at least 1: one int for all, or 3 in a tuple (None:
            `kernel_size`).
        padding: -inf at both ends, from 0 to half the kernel: one int for all, or 3 in a tuple (0).
        dilation: step between elements of a window, at least 1: one int for all, or 3 in a tuple
            (1).
        return_indices: whether the places of the maxima are returned too, for `MaxUnpool` (False).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes floor((in + 2 · padding - dilation · (kernel_size - 1) -
            1) / stride) + 1.

    The same as a function: `nn.functional.max_pool3d`.

    >>> MaxPool3d(2)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.max_pool3d(input, *self._taeda_options())


# ---- average ----


class _AvgPoolNd(Module):
    kernel_size: Any
    stride: Any
    padding: Any

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The average of every window of (N, C, L) or (C, L).

    Args:
        kernel_size: size of a window, at least 1: one int.
        stride: step between windows, at least 1: one int (None: `kernel_size`).
        padding: zeros at both ends, from 0 to half the kernel: one int (0).
        ceil_mode: whether the output's size is rounded up instead of down (False).
        count_include_pad: whether padding counts as elements (True).

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes floor((in + 2 · padding - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.avg_pool1d`.

    >>> AvgPool1d(2)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 3])
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(kernel_size if stride is None else stride)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.avg_pool1d(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
        )


class _AvgPoolWithDivisor(_AvgPoolNd):
    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _taeda_options(self) -> tuple[Any, ...]:
        return (
            self.kernel_size,
            self.stride,
            self.padding,
            self.ceil_mode,
            self.count_include_pad,
            self.divisor_override,
        )


class AvgPool2d(_AvgPoolWithDivisor):
    """The average of every window of (N, C, H, W) or (C, H, W).

    Padding counts as zeros unless `count_include_pad` is False; `divisor_override` divides instead of the
    number of elements.

    Args:
        kernel_size: size of a window, at least 1: one int for all, or 2 in a tuple.
        stride: step between windows, at least 1: one int for all, or 2 in a tuple (None:
            `kernel_size`).
        padding: zeros at both ends, from 0 to half the kernel: one int for all, or 2 in a tuple
            (0).
        ceil_mode: whether the output's size is rounded up instead of down (False).
        count_include_pad: whether padding counts as elements (True).
        divisor_override: divides the sum instead of the number of elements, not 0 (None).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes floor((in + 2 · padding - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.avg_pool2d`.

    >>> AvgPool2d(2)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W)."""
        return F.avg_pool2d(input, *self._taeda_options())


class AvgPool3d(_AvgPoolWithDivisor):
    """The average of every window of (N, C, D, H, W) or (C, D, H, W); otherwise as `AvgPool2d`.

    Args:
        kernel_size: size of a window, at least 1: one int for all, or 3 in a tuple.
        stride: step between windows, at least 1: one int for all, or 3 in a tuple (None:
            `kernel_size`).
        padding: zeros at both ends, from 0 to half the kernel: one int for all, or 3 in a tuple
            (0).
        ceil_mode: whether the output's size is rounded up instead of down (False).
        count_include_pad: whether padding counts as elements (True).
        divisor_override: divides the sum instead of the number of elements, not 0 (None).

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes floor((in + 2 · padding - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.avg_pool3d`.

    >>> AvgPool3d(2)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.avg_pool3d(input, *self._taeda_options())


class _LPPoolNd(Module):
    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPoolNd):
    """(sum of x**p)**(1/p) of every window of (N, C, L) or (C, L).

    Args:
        norm_type: the power p, not 0.
        kernel_size: size of a window, at least 1: one int.
        stride: step between windows, at least 1: one int (None: `kernel_size`).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with spatial sizes floor((in - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.lp_pool1d`.

    >>> LPPool1d(2, 2)(taeda.ones(1, 2, 6)).shape
    taeda.Size([1, 2, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.lp_pool1d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool2d(_LPPoolNd):
    """(sum of x**p)**(1/p) of every window of (N, C, H, W) or (C, H, W).

    Args:
        norm_type: the power p, not 0.
        kernel_size: size of a window, at least 1: one int for all, or 2 in a tuple.
        stride: step between windows, at least 1: one int for all, or 2 in a tuple (None:
            `kernel_size`).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with spatial sizes floor((in - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.lp_pool2d`.

    >>> LPPool2d(2, 2)(taeda.ones(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W)."""
        return F.lp_pool2d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


class LPPool3d(_LPPoolNd):
    """(sum of x**p)**(1/p) of every window of (N, C, D, H, W) or (C, D, H, W).

    Args:
        norm_type: the power p, not 0.
        kernel_size: size of a window, at least 1: one int for all, or 3 in a tuple.
        stride: step between windows, at least 1: one int for all, or 3 in a tuple (None:
            `kernel_size`).
        ceil_mode: whether the output's size is rounded up instead of down (False).

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with spatial sizes floor((in - kernel_size) / stride) + 1.

    The same as a function: `nn.functional.lp_pool3d`.

    >>> LPPool3d(2, 2)(taeda.ones(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.lp_pool3d(
            input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode
        )


# ---- adapted to an output size ----


class _AdaptiveAvgPoolNd(Module):
    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Averages of `output_size` windows of (N, C, L) or (C, L).

    Args:
        output_size: spatial sizes of the output: one int.

    The same as a function: `nn.functional.adaptive_avg_pool1d`.

    >>> AdaptiveAvgPool1d(3)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Averages of `output_size` windows of (N, C, H, W) or (C, H, W); None keeps a size.

    Args:
        output_size: spatial sizes of the output: one int for all, or 2 in a tuple.

    The same as a function: `nn.functional.adaptive_avg_pool2d`.

    >>> AdaptiveAvgPool2d(3)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W)."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Averages of `output_size` windows of (N, C, D, H, W) or (C, D, H, W); None keeps a size.

    Args:
        output_size: spatial sizes of the output: one int for all, or 3 in a tuple.

    The same as a function: `nn.functional.adaptive_avg_pool3d`.

    >>> AdaptiveAvgPool3d(3)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.adaptive_avg_pool3d(input, self.output_size)


class _AdaptiveMaxPoolNd(Module):
    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of `output_size` windows of (N, C, L) or (C, L).

    Args:
        output_size: spatial sizes of the output: one int.
        return_indices: whether the places of the maxima are returned too (False).

    The same as a function: `nn.functional.adaptive_max_pool1d`.

    >>> AdaptiveMaxPool1d(3)(taeda.zeros(1, 2, 6)).shape
    taeda.Size([1, 2, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of `output_size` windows of (N, C, H, W) or (C, H, W); None keeps a size.

    Args:
        output_size: spatial sizes of the output: one int for all, or 2 in a tuple.
        return_indices: whether the places of the maxima are returned too (False).

    The same as a function: `nn.functional.adaptive_max_pool2d`.

    >>> AdaptiveMaxPool2d(3)(taeda.zeros(1, 2, 6, 6)).shape
    taeda.Size([1, 2, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of `output_size` windows of (N, C, D, H, W) or (C, D, H, W); None keeps a size.

    Args:
        output_size: spatial sizes of the output: one int for all, or 3 in a tuple.
        return_indices: whether the places of the maxima are returned too (False).

    The same as a function: `nn.functional.adaptive_max_pool3d`.

    >>> AdaptiveMaxPool3d(3)(taeda.zeros(1, 2, 6, 6, 6)).shape
    taeda.Size([1, 2, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)
