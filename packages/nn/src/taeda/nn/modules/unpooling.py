"""Unpooling, and pools at random places, as modules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from taeda import Tensor

from .. import functional as F
from .module import Module
from .utils import _pair, _single, _triple

__all__ = [
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxUnpoolNd(Module):
    kernel_size: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]

    def _set(self, several: Any, kernel_size: Any, stride: Any, padding: Any) -> None:
        self.kernel_size = several(kernel_size)
        self.stride = several(kernel_size if stride is None else stride)
        self.padding = several(padding)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Maxima put back at the places that `MaxPool1d` gave, zeros elsewhere.

    Args:
        kernel_size: size of the windows of the pool: one int.
        stride: their step: one int (None: `kernel_size`).
        padding: their padding: one int (0).

    Shape:
        output: the input's with spatial sizes (in - 1) · stride - 2 · padding + kernel_size, unless
            `forward` is given others.

    The same as a function: `nn.functional.max_unpool1d`.

    >>> values, places = taeda.nn.MaxPool1d(2, return_indices=True)(taeda.zeros(1, 1, 4))
    >>> MaxUnpool1d(2)(values, places).shape
    taeda.Size([1, 1, 4])
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self._set(_single, kernel_size, stride, padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """`output_size` chooses among the sizes that would be pooled to this one."""
        return F.max_unpool1d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpoolNd):
    """Maxima put back at the places that `MaxPool2d` gave, zeros elsewhere.

    Args:
        kernel_size: size of the windows of the pool: one int for all, or 2 in a tuple.
        stride: their step: one int for all, or 2 in a tuple (None: `kernel_size`).
        padding: their padding: one int for all, or 2 in a tuple (0).

    Shape:
        output: the input's with spatial sizes (in - 1) · stride - 2 · padding + kernel_size, unless
            `forward` is given others.

    The same as a function: `nn.functional.max_unpool2d`.

    >>> values, places = taeda.nn.MaxPool2d(2, return_indices=True)(taeda.zeros(1, 1, 4, 4))
    >>> MaxUnpool2d(2)(values, places).shape
    taeda.Size([1, 1, 4, 4])
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self._set(_pair, kernel_size, stride, padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """`output_size` chooses among the sizes that would be pooled to this one."""
        return F.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpoolNd):
    """Maxima put back at the places that `MaxPool3d` gave, zeros elsewhere.

    Args:
        kernel_size: size of the windows of the pool: one int for all, or 3 in a tuple.
        stride: their step: one int for all, or 3 in a tuple (None: `kernel_size`).
        padding: their padding: one int for all, or 3 in a tuple (0).

    Shape:
        output: the input's with spatial sizes (in - 1) · stride - 2 · padding + kernel_size, unless
            `forward` is given others.

    The same as a function: `nn.functional.max_unpool3d`.

    >>> values, places = taeda.nn.MaxPool3d(2, return_indices=True)(taeda.zeros(1, 1, 4, 4, 4))
    >>> MaxUnpool3d(2)(values, places).shape
    taeda.Size([1, 1, 4, 4, 4])
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self._set(_triple, kernel_size, stride, padding)

    def forward(
        self, input: Tensor, indices: Tensor, output_size: Sequence[int] | None = None
    ) -> Tensor:
        """`output_size` chooses among the sizes that would be pooled to this one."""
        return F.max_unpool3d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


# ---- at random places ----


class _FractionalMaxPoolNd(Module):
    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        several = _pair if isinstance(self, FractionalMaxPool2d) else _triple
        self.kernel_size = several(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else several(output_size)
        self.output_ratio = None if output_ratio is None else several(output_ratio)
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError(
                f"only one of output_size and output_ratio may be specified for {name}"
            )
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def _taeda_options(self) -> tuple[Any, ...]:
        return (
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """Maxima of windows of (N, C, H, W) or (C, H, W) whose steps are random.

    Exactly one of `output_size` and `output_ratio` (in (0, 1)) is needed, else ValueError.

    Args:
        kernel_size: size of a window: one int for all, or 2 in a tuple.
        output_size: spatial sizes of the output: one int for all, or 2 in a tuple (None).
        output_ratio: output sizes by input sizes, in (0, 1): one or one for each (None).
        return_indices: whether the places of the maxima are returned too (False).

    Graham (arXiv:1412.6071). The same as a function: `nn.functional.fractional_max_pool2d`.

    >>> FractionalMaxPool2d(2, output_size=3)(taeda.zeros(1, 1, 7, 7)).shape
    taeda.Size([1, 1, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.fractional_max_pool2d(input, *self._taeda_options())


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """`FractionalMaxPool2d` for (N, C, D, H, W) or (C, D, H, W).

    Args:
        kernel_size: size of a window: one int for all, or 3 in a tuple.
        output_size: spatial sizes of the output: one int for all, or 3 in a tuple (None).
        output_ratio: output sizes by input sizes, in (0, 1): one or one for each (None).
        return_indices: whether the places of the maxima are returned too (False).

    Graham (arXiv:1412.6071). The same as a function: `nn.functional.fractional_max_pool3d`.

    >>> FractionalMaxPool3d(2, output_size=3)(taeda.zeros(1, 1, 7, 7, 7)).shape
    taeda.Size([1, 1, 3, 3, 3])
    """

    def forward(self, input: Tensor) -> Any:
        """The maxima, with their places if `return_indices`."""
        return F.fractional_max_pool3d(input, *self._taeda_options())
