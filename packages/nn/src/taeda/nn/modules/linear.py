"""Affine maps: Linear and its lazy form, Bilinear, and Identity."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from .. import init
from ..functional import bilinear, linear
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = ["Bilinear", "Identity", "LazyLinear", "Linear", "NonDynamicallyQuantizableLinear"]


class Identity(Module):
    """Returns its input. Accepts and ignores any arguments of construction.

    Args:
        *args, **kwargs: anything; nothing is done with it.

    Shape:
        input and output: (*).

    >>> Identity(54, unused=True)(taeda.ones(2))
    tensor([1., 1.])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        """The input itself."""
        return input


class Linear(Module):
    """y = x Aᵀ + b over the last dimension: (*, in_features) to (*, out_features).

    Weight and bias start uniform in ±1/sqrt(in_features).

    Args:
        in_features: size of the last dimension of the input, at least 0.
        out_features: size of the last dimension of the output, at least 0.
        bias: whether a trained bias is added (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (*, in_features); output: (*, out_features).
        weight: (out_features, in_features); bias: (out_features).

    The same as a function: `nn.functional.linear`.

    >>> Linear(20, 30)(taeda.randn(128, 20)).shape
    taeda.Size([128, 30])
    """

    in_features: int
    out_features: int
    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(
            taeda.empty((out_features, in_features), device=device, dtype=dtype)
        )
        if bias:
            self.bias = Parameter(taeda.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias anew."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Tensor) -> Tensor:
        """(*, in_features) to (*, out_features)."""
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class NonDynamicallyQuantizableLinear(Linear):
    """A Linear that tools which replace layers by type leave alone (the output projection of attention).

    Args:
        in_features: size of the last dimension of the input, at least 0.
        out_features: size of the last dimension of the output, at least 0.
        bias: whether a trained bias is added (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    The same as a function: `nn.functional.linear`.
    """


class Bilinear(Module):
    """y_k = x1 A_k x2 + b_k over the last dimensions of two inputs, whose other dimensions are equal.

    Args:
        in1_features: size of the last dimension of the first input.
        in2_features: size of the last dimension of the second input.
        out_features: size of the last dimension of the output.
        bias: whether a trained bias is added (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        inputs: (*, in1_features) and (*, in2_features); output: (*, out_features).
        weight: (out_features, in1_features, in2_features); bias: (out_features).

    The same as a function: `nn.functional.bilinear`.

    >>> Bilinear(2, 3, 4)(taeda.zeros(5, 2), taeda.zeros(5, 3)).shape
    taeda.Size([5, 4])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"in1_features must be > 0, but got {in1_features}")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        shape = (out_features, in1_features, in2_features)
        self.weight = Parameter(taeda.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(taeda.empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias uniformly in ±1/sqrt(in1_features)."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """(*, in1_features) and (*, in2_features) to (*, out_features)."""
        return bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
            f"out_features={self.out_features}, bias={self.bias is not None}"
        )


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that takes `in_features` from its first input.

    Args:
        out_features: size of the last dimension of the output, at least 0.
        bias: whether a trained bias is added (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (*, in_features); output: (*, out_features).

    The same as a function: `nn.functional.linear`.

    >>> layer = LazyLinear(4)
    >>> _ = layer(taeda.zeros(2, 3))
    >>> layer.in_features
    3
    """

    cls_to_become = Linear
    weight: UninitializedParameter
    bias: UninitializedParameter | None

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False, device, dtype)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw weight and bias anew, once they have a shape."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Take `in_features` from the last dimension of the input."""
        if self.has_uninitialized_params():
            with taeda.no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        elif self.in_features == 0:
            self.in_features = self.weight.shape[-1]
