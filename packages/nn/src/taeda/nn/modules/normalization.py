"""Normalisation within a sample: LayerNorm, RMSNorm, GroupNorm, local response."""

from __future__ import annotations

import numbers
from typing import Any

import taeda
from taeda import Tensor

from .. import functional as F
from .. import init
from ..parameter import Parameter
from .module import Module

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

_layer_norm = taeda.layer_norm


class LayerNorm(Module):
    """Normalises over the last dimensions, of sizes `normalized_shape`, and scales and shifts each element.

    Args:
        normalized_shape: sizes of the last dimensions, or one int for the last alone.
        eps: added to the variance before the root is taken (1e-5).
        elementwise_affine: whether each element gets a trained factor (True).
        bias: whether it gets a trained offset too (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    y = (x - mean) / sqrt(var + eps) · weight + bias; the variance is the biased one.

    Ba and others (arXiv:1607.06450). The same as a function: `nn.functional.layer_norm`.

    >>> LayerNorm(4)(taeda.tensor([[1.0, 2.0, 3.0, 4.0]])).sum().abs() < 1e-5
    tensor(True)
    """

    normalized_shape: tuple[int, ...]
    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            made = (
                taeda.empty(self.normalized_shape, device=device, dtype=dtype) if wanted else None
            )
            self.register_parameter(name, None if made is None else Parameter(made))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """(*, *normalized_shape), unchanged. Raises RuntimeError for another shape."""
        return _layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


def _shape(given: Any) -> tuple[int, ...]:
    return (int(given),) if isinstance(given, numbers.Integral) else tuple(given)


class RMSNorm(Module):
    """Divides by the root of the mean square over the last dimensions, and scales each element.

    An `eps` of None is the smallest step at 1 of the dtype.

    Args:
        normalized_shape: sizes of the last dimensions, or one int for the last alone.
        eps: added to the mean square before the root is taken (None: by dtype).
        elementwise_affine: whether each element gets a trained factor (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Zhang and Sennrich (arXiv:1910.07467). The same as a function: `nn.functional.rms_norm`.

    >>> RMSNorm(2)(taeda.zeros(3, 2)).shape
    taeda.Size([3, 2])
    """

    normalized_shape: tuple[int, ...]
    weight: Tensor | None

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        if elementwise_affine:
            self.weight = Parameter(taeda.empty(self.normalized_shape, device=device, dtype=dtype))
        else:
            self.register_parameter("weight", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(*, *normalized_shape), unchanged."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """Normalises groups of channels of every sample together, and scales and shifts each channel.

    Raises ValueError unless the channels divide into the groups.

    Args:
        num_groups: number of groups; it divides `num_channels`.
        num_channels: number of channels C of the input.
        eps: added to the variance before the root is taken (1e-5).
        affine: whether each channel gets a trained factor and offset (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).
        bias: whether there is an offset where `affine` holds (True).

    Shape:
        input and output: (N, C, *).

    Wu and He (arXiv:1803.08494). The same as a function: `nn.functional.group_norm`.

    >>> GroupNorm(2, 4)(taeda.zeros(1, 4, 3)).shape
    taeda.Size([1, 4, 3])
    """

    weight: Tensor | None
    bias: Tensor | None

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_groups == 0 or num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            made = taeda.empty(num_channels, device=device, dtype=dtype) if wanted else None
            self.register_parameter(name, None if made is None else Parameter(made))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """(N, num_channels, *), unchanged."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """x / (k + alpha · mean of the squares of `size` neighbouring channels)**beta.

    Args:
        size: number of neighbouring channels, at least 1.
        alpha: factor of the mean of squares (1e-4).
        beta: exponent (0.75).
        k: what is added to it (1).

    Shape:
        input and output: (N, C, *).

    The same as a function: `nn.functional.local_response_norm`.

    >>> LocalResponseNorm(2)(taeda.zeros(1, 4, 3)).shape
    taeda.Size([1, 4, 3])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *), unchanged."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` under the name it has in models that came from elsewhere.

    Args:
        size: number of neighbouring channels, at least 1.
        alpha: factor of the mean of squares (1e-4).
        beta: exponent (0.75).
        k: what is added to it (1).

    The same as a function: `nn.functional.local_response_norm`.

    >>> CrossMapLRN2d(2)(taeda.zeros(1, 4, 3, 3)).shape
    taeda.Size([1, 4, 3, 3])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)
