"""Convolutions that take the number of their inputs from the first one."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from ..parameter import UninitializedParameter
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .lazy import LazyModuleMixin

__all__ = [
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _LazyConv(LazyModuleMixin):
    """Takes `in_channels` from the first input."""

    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def __init__(self, out_channels: int, kernel_size: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        module: Any = self
        made = {"device": module.weight.device, "dtype": module.weight.dtype}
        self.weight = UninitializedParameter(**made)
        module.out_channels = out_channels
        if self.bias is not None:
            self.bias = UninitializedParameter(**made)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have a shape."""
        module: Any = self
        if not self.has_uninitialized_params() and module.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]  # of the convolution it is mixed into

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take `in_channels` from the input's channels. Raises RuntimeError for another rank."""
        module: Any = self
        count = len(module.kernel_size)
        if input.dim() not in (count + 1, count + 2):
            raise RuntimeError(
                f"Expected {count + 1}D (unbatched) or {count + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {list(input.shape)}"
            )
        module.in_channels = input.shape[-1 - count]
        if module.in_channels % module.groups:
            raise ValueError(
                f"in_channels must be divisible by groups, got {module.in_channels} and {module.groups}"
            )
        if not self.has_uninitialized_params():  # a state dict was loaded
            return
        self.weight.materialize(module._taeda_weight_shape())
        if self.bias is not None:
            self.bias.materialize((module.out_channels,))
        self.reset_parameters()


class LazyConv1d(_LazyConv, Conv1d):  # type: ignore[misc]
    """A Conv1d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int.
        *args, **kwargs: what `Conv1d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `Conv1d`.

    The same as a function: `nn.functional.conv1d`.

    >>> layer = LazyConv1d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):  # type: ignore[misc]
    """A Conv2d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 2 in a tuple.
        *args, **kwargs: what `Conv2d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `Conv2d`.

    The same as a function: `nn.functional.conv2d`.

    >>> layer = LazyConv2d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):  # type: ignore[misc]
    """A Conv3d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 3 in a tuple.
        *args, **kwargs: what `Conv3d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `Conv3d`.

    The same as a function: `nn.functional.conv3d`.

    >>> layer = LazyConv3d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5, 5, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConv, ConvTranspose1d):  # type: ignore[misc]
    """A ConvTranspose1d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int.
        *args, **kwargs: what `ConvTranspose1d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `ConvTranspose1d`.

    The same as a function: `nn.functional.conv_transpose1d`.

    >>> layer = LazyConvTranspose1d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConv, ConvTranspose2d):  # type: ignore[misc]
    """A ConvTranspose2d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 2 in a tuple.
        *args, **kwargs: what `ConvTranspose2d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `ConvTranspose2d`.

    The same as a function: `nn.functional.conv_transpose2d`.

    >>> layer = LazyConvTranspose2d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConv, ConvTranspose3d):  # type: ignore[misc]
    """A ConvTranspose3d that takes `in_channels` from its first input.

    Args:
        out_channels: number of channels of the output, a multiple of `groups`.
        kernel_size: size of the kernel, at least 1: one int for all, or 3 in a tuple.
        *args, **kwargs: what `ConvTranspose3d` takes after `kernel_size`, with the same defaults.

    Shape:
        input and output: as of `ConvTranspose3d`.

    The same as a function: `nn.functional.conv_transpose3d`.

    >>> layer = LazyConvTranspose3d(8, 3)
    >>> _ = layer(taeda.zeros(2, 4, 5, 5, 5))
    >>> layer.in_channels
    4
    """

    cls_to_become = ConvTranspose3d
