"""Convolutions and transposed convolutions of one to three dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import lazy_attributes

from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._repr import unusual
from .module import Module
from .utils import _pair, _reverse_repeat_tuple, _single, _triple

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
]

_PADDING_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions share. Options are tuples with one entry for each spatial dimension."""

    weight: Tensor
    bias: Tensor | None
    padding: str | tuple[int, ...]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_options(in_channels, out_channels, groups, padding, stride, padding_mode)
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = self._taeda_pad_sizes()
        self.weight = Parameter(taeda.empty(self._taeda_weight_shape(), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(taeda.empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _taeda_weight_shape(self) -> tuple[int, ...]:
        inner, outer = self.in_channels, self.out_channels
        if self.transposed:
            return inner, outer // self.groups, *self.kernel_size
        return outer, inner // self.groups, *self.kernel_size

    def _taeda_pad_sizes(self) -> list[int]:
        """Padding as `F.pad` wants it, for the modes other than zeros."""
        if not isinstance(self.padding, str):
            return list(_reverse_repeat_tuple(self.padding, 2))
        sizes = []
        for size, dilation in reversed(list(zip(self.kernel_size, self.dilation, strict=True))):
            total = dilation * (size - 1) if self.padding == "same" else 0
            sizes += [total // 2, total - total // 2]
        return sizes

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly in ±1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        zeros = (0,) * len(self.kernel_size)
        ones = (1,) * len(self.kernel_size)
        shown = unusual(self, padding=zeros, dilation=ones, output_padding=zeros, groups=1)
        shown += ["bias=False"] * (self.bias is None) + unusual(self, padding_mode="zeros")
        fixed = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        return ", ".join([fixed, *shown])

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")  # pickles of old versions


def _check_options(
    inner: int, outer: int, groups: int, padding: Any, stride: tuple[int, ...], mode: str
) -> None:
    """Raises ValueError for options that do not fit together."""
    if groups <= 0:
        raise ValueError(f"groups must be a positive integer, got {groups}")
    for name, channels in (("in_channels", inner), ("out_channels", outer)):
        if channels % groups:
            raise ValueError(f"{name} must be divisible by groups, got {channels} and {groups}")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'valid', 'same'}}"
            )
        if padding == "same" and any(step != 1 for step in stride):
            raise ValueError(
                f"padding='same' is not supported for strided convolutions, got stride {stride}"
            )
    if mode not in _PADDING_MODES:
        raise ValueError(
            f"padding_mode must be one of {set(_PADDING_MODES)}, but got padding_mode='{mode}'"
        )


# ---- convolutions ----


class _Conv(_ConvNd):
    """A convolution; subclasses say its dimensions by two functions."""

    _taeda_tuple: Callable[[Any], tuple[Any, ...]]
    _taeda_run: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        several = type(self)._taeda_tuple
        super().__init__(
            in_channels,
            out_channels,
            several(kernel_size),
            several(stride),
            padding if isinstance(padding, str) else several(padding),
            several(dilation),
            False,
            several(0),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if self.padding_mode == "zeros":
            return self._taeda_run(
                input, weight, bias, self.stride, self.padding, self.dilation, self.groups
            )
        padded = F.pad(input, self._reversed_padding_repeated_twice, self.padding_mode)
        return self._taeda_run(padded, weight, bias, self.stride, 0, self.dilation, self.groups)

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *) or (in_channels, *) to the same with out_channels."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Conv):
    """Convolution over (N, C, L) or (C, L).

    Weight and bias start uniform in ±1/sqrt(in_channels / groups · kernel elements).

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int.
        stride: step between places of the kernel, at least 1: one int (1).
        padding: how much is added at both ends of each spatial dimension, at least 0: one int (0);
            "valid" is 0, "same" keeps the size and needs a stride of 1.
        dilation: step between elements of the kernel, at least 1: one int (1).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        padding_mode: what lies outside: "zeros" (default), "reflect", "replicate" or "circular".
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = floor((in + 2 · padding - dilation · (kernel_size - 1) - 1) / stride) + 1.
        weight: (out_channels, in_channels / groups, kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv1d`.

    >>> Conv1d(4, 8, 3, stride=2)(taeda.zeros(2, 4, 5)).shape
    taeda.Size([2, 8, 2])
    """

    _taeda_tuple = staticmethod(_single)
    _taeda_run = staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution over (N, C, H, W) or (C, H, W).

    `padding` may be "same" or "valid"; `padding_mode` says what lies outside. Weight and bias start
    uniform in ±1/sqrt(in_channels / groups · kernel elements).

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 2 in a tuple.
        stride: step between places of the kernel, at least 1: one int for all, or 2 in a tuple (1).
        padding: how much is added at both ends of each spatial dimension, at least 0: one int for
            all, or 2 in a tuple (0); "valid" is 0, "same" keeps the size and needs a stride of 1.
        dilation: step between elements of the kernel, at least 1: one int for all, or 2 in a tuple
            (1).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        padding_mode: what lies outside: "zeros" (default), "reflect", "replicate" or "circular".
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = floor((in + 2 · padding - dilation · (kernel_size - 1) - 1) / stride) + 1.
        weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv2d`.

    >>> Conv2d(3, 8, 3, padding=1)(taeda.zeros(2, 3, 5, 5)).shape
    taeda.Size([2, 8, 5, 5])
    """

    _taeda_tuple = staticmethod(_pair)
    _taeda_run = staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution over (N, C, D, H, W) or (C, D, H, W); otherwise as `Conv2d`.

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 3 in a tuple.
        stride: step between places of the kernel, at least 1: one int for all, or 3 in a tuple (1).
        padding: how much is added at both ends of each spatial dimension, at least 0: one int for
            all, or 3 in a tuple (0); "valid" is 0, "same" keeps the size and needs a stride of 1.
        dilation: step between elements of the kernel, at least 1: one int for all, or 3 in a tuple
            (1).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        padding_mode: what lies outside: "zeros" (default), "reflect", "replicate" or "circular".
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = floor((in + 2 · padding - dilation · (kernel_size - 1) - 1) / stride) + 1.
        weight: (out_channels, in_channels / groups, *kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv3d`.

    >>> Conv3d(4, 8, 3, stride=2)(taeda.zeros(2, 4, 5, 5, 5)).shape
    taeda.Size([2, 8, 2, 2, 2])
    """

    _taeda_tuple = staticmethod(_triple)
    _taeda_run = staticmethod(F.conv3d)


# ---- transposed ----


class _ConvTransposeNd(_ConvNd):
    """A transposed convolution: the gradient of a convolution by its input."""

    _taeda_tuple: Callable[[Any], tuple[Any, ...]]
    _taeda_run: Callable[..., Tensor]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(
                f'Only "zeros" padding mode is supported for {type(self).__name__}, got {padding_mode!r}'
            )
        several = type(self)._taeda_tuple
        super().__init__(
            in_channels,
            out_channels,
            several(kernel_size),
            several(stride),
            several(padding),
            several(dilation),
            True,
            several(output_padding),
            groups,
            bias,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """(N, in_channels, *) or (in_channels, *); `output_size` chooses among the sizes that are
        possible.
        """
        extra = self._output_padding(input, output_size)
        return self._taeda_run(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )

    def _output_padding(self, input: Tensor, output_size: Sequence[int] | None) -> tuple[int, ...]:
        """What to add at the end so that the result has `output_size`. Raises ValueError."""
        if output_size is None:
            return self.output_padding
        count = len(self.kernel_size)
        batched = input.dim() == count + 2
        skipped = 2 if batched else 1
        if len(output_size) == count + skipped:
            output_size = output_size[skipped:]
        if len(output_size) != count:
            raise ValueError(
                f"{type(self).__name__}: for {input.dim()}D input, output_size must have {count} or "
                f"{count + skipped} elements (got {len(output_size)})"
            )
        least = [
            (input.size(i + skipped) - 1) * self.stride[i]
            - 2 * int(self.padding[i])
            + self.dilation[i] * (self.kernel_size[i] - 1)
            + 1
            for i in range(count)
        ]
        most = [low + step - 1 for low, step in zip(least, self.stride, strict=True)]
        for size, low, high in zip(output_size, least, most, strict=True):
            if not low <= size <= high:
                raise ValueError(
                    f"requested an output size of {tuple(output_size)}, but valid sizes range from {least} "
                    f"to {most} (for an input of {list(input.shape[skipped:])})"
                )
        return tuple(size - low for size, low in zip(output_size, least, strict=True))


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution over (N, C, L) or (C, L).

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int.
        stride: step between places of the kernel, at least 1: one int (1).
        padding: how much is cut off at both ends, at least 0: one int (0).
        output_padding: how much larger the output is made at its end, less than `stride` or
            `dilation`: one int (0).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        dilation: step between elements of the kernel, at least 1: one int (1).
        padding_mode: only "zeros" (default); ValueError for another.
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, L) or (C, L).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = (in - 1) · stride - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.
        weight: (in_channels, out_channels / groups, kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv_transpose1d`.

    >>> ConvTranspose1d(4, 8, 3, stride=2)(taeda.zeros(2, 4, 5)).shape
    taeda.Size([2, 8, 11])
    """

    _taeda_tuple = staticmethod(_single)
    _taeda_run = staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution over (N, C, H, W) or (C, H, W).

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 2 in a tuple.
        stride: step between places of the kernel, at least 1: one int for all, or 2 in a tuple (1).
        padding: how much is cut off at both ends, at least 0: one int for all, or 2 in a tuple (0).
        output_padding: how much larger the output is made at its end, less than `stride` or
            `dilation`: one int for all, or 2 in a tuple (0).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        dilation: step between elements of the kernel, at least 1: one int for all, or 2 in a tuple
            (1).
        padding_mode: only "zeros" (default); ValueError for another.
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = (in - 1) · stride - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.
        weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv_transpose2d`.

    >>> ConvTranspose2d(4, 8, 3, stride=2)(taeda.zeros(2, 4, 5, 5)).shape
    taeda.Size([2, 8, 11, 11])
    """

    _taeda_tuple = staticmethod(_pair)
    _taeda_run = staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution over (N, C, D, H, W) or (C, D, H, W).

    Args:
        in_channels: number of channels C of the input, a multiple of `groups`.
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 3 in a tuple.
        stride: step between places of the kernel, at least 1: one int for all, or 3 in a tuple (1).
        padding: how much is cut off at both ends, at least 0: one int for all, or 3 in a tuple (0).
        output_padding: how much larger the output is made at its end, less than `stride` or
            `dilation`: one int for all, or 3 in a tuple (0).
        groups: number of groups of channels that are convolved apart (1); `in_channels` makes it
            depthwise.
        bias: whether a trained bias is added to each output channel (True).
        dilation: step between elements of the kernel, at least 1: one int for all, or 3 in a tuple
            (1).
        padding_mode: only "zeros" (default); ValueError for another.
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, C, D, H, W) or (C, D, H, W).
        output: the same with `out_channels` channels and, for each spatial dimension, the size out
            = (in - 1) · stride - 2 · padding + dilation · (kernel_size - 1) + output_padding + 1.
        weight: (in_channels, out_channels / groups, *kernel_size); bias: (out_channels).

    The same as a function: `nn.functional.conv_transpose3d`.

    >>> ConvTranspose3d(4, 8, 3, stride=2)(taeda.zeros(2, 4, 5, 5, 5)).shape
    taeda.Size([2, 8, 11, 11, 11])
    """

    _taeda_tuple = staticmethod(_triple)
    _taeda_run = staticmethod(F.conv_transpose3d)


# their file needs the classes above
__getattr__, __dir__ = lazy_attributes(
    __name__,
    dict.fromkeys(
        (
            "LazyConv1d",
            "LazyConv2d",
            "LazyConv3d",
            "LazyConvTranspose1d",
            "LazyConvTranspose2d",
            "LazyConvTranspose3d",
        ),
        "nn.modules.lazy_conv",
    ),
)
