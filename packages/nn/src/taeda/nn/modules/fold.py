"""Sliding windows as columns, and back."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = ["Fold", "Unfold"]


class Unfold(Module):
    """The windows of (N, C, H, W) as columns: (N, C · kernel elements, windows).

    Args:
        kernel_size: height and width of a window, at least 1: one int for both, or two.
        dilation: step between elements of a window, at least 1 (1).
        padding: zeros at both ends of each spatial dimension, at least 0 (0).
        stride: step between windows, at least 1 (1).

    Shape:
        input: (N, C, H, W) or (C, H, W).
        output: (N, C · kernel elements, L) or (C · kernel elements, L), where L = product over
            height and width of floor((size + 2 · padding - dilation · (kernel_size - 1) - 1) /
            stride) + 1.

    The same as a function: `nn.functional.unfold`.

    >>> Unfold(2)(taeda.zeros(1, 3, 4, 4)).shape
    taeda.Size([1, 12, 9])
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W) to columns."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Unfold):
    """The sum of windows, given as columns, into planes of `output_size`.

    Args:
        output_size: height and width of the output: one int for both, or two.
        kernel_size: height and width of a window, at least 1: one int for both, or two.
        dilation: step between elements of a window, at least 1 (1).
        padding: zeros at both ends of each spatial dimension, at least 0 (0).
        stride: step between windows, at least 1 (1).

    Shape:
        input: (N, C · kernel elements, L) or (C · kernel elements, L), where L = product over
            height and width of floor((size + 2 · padding - dilation · (kernel_size - 1) - 1) /
            stride) + 1, of the size `output_size`.
        output: (N, C, *output_size) or (C, *output_size).

    The same as a function: `nn.functional.fold`.

    >>> Fold((4, 4), 2)(taeda.ones(1, 12, 9)).shape
    taeda.Size([1, 3, 4, 4])
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """Columns, with or without N, to planes."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}, {super().extra_repr()}"
