"""Activations on integers, with a scale of their own where they need one."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization._activations import mapped, normalised

from ..._weights import activation_parameters, choose_weight_observer, quantized_weight

__all__ = ["ELU", "Hardswish", "LeakyReLU", "PReLU", "ReLU6", "Sigmoid", "Softmax"]

F = nn.functional


class ReLU6(nn.ReLU):
    """`min(max(x, 0), 6)` on integers, with the scale of the input.

    Args:
        inplace: whether results are written into the input (default: False).

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-1.0, 3.0, 8.0]), 0.5, 10, taeda.quint8)
    >>> taeda.ao.nn.quantized.ReLU6()(x).dequantize().tolist()
    [0.0, 3.0, 6.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape and scale of `input`."""
        return input.clamp_(0, 6) if self.inplace else input.clamp(0, 6)

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> ReLU6:
        """The layer of an `nn.ReLU6`."""
        return ReLU6(mod.inplace)


class Hardswish(nn.Hardswish):
    """`x * min(max(x + 3, 0), 6) / 6` on integers.

    Args:
        scale, zero_point: those of results (defaults: scale 1.0, zero_point 0).
        device, dtype: kept for callers (default: None).

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-1.5, 0.0, 3.0]), 0.5, 10, taeda.quint8)
    >>> taeda.ao.nn.quantized.Hardswish(scale=0.25, zero_point=8)(x).dequantize().tolist()
    [-0.5, 0.0, 3.0]
    """

    def __init__(
        self, scale: float, zero_point: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.register_buffer("scale", taeda.tensor(float(scale)))
        self.register_buffer("zero_point", taeda.tensor(int(zero_point)))

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        facts = float(self.scale), int(self.zero_point)
        return mapped(input, "quantized hardswish", F.hardswish, *facts)

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Hardswish:
        """The layer of an observed `nn.Hardswish`."""
        return Hardswish(*activation_parameters(mod, "Hardswish"))


class ELU(nn.ELU):
    """`x` above 0, `alpha * (exp(x) - 1)` below, on integers.

    Args:
        scale, zero_point: those of results (defaults: scale 1.0, zero_point 0).
        alpha: the size of the least value (default: 1.0).

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-4.0, 0.0, 2.0]), 0.5, 10, taeda.quint8)
    >>> taeda.ao.nn.quantized.ELU(scale=0.5, zero_point=10)(x).dequantize().tolist()
    [-1.0, 0.0, 2.0]
    """

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale, self.zero_point = float(scale), int(zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        return mapped(
            input, "quantized elu", lambda x: F.elu(x, self.alpha), self.scale, self.zero_point
        )

    def _get_name(self) -> str:
        return "QuantizedELU"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> ELU:
        """The layer of an observed `nn.ELU`."""
        return ELU(*activation_parameters(mod, "ELU"), mod.alpha)


class LeakyReLU(nn.LeakyReLU):
    """`x` above 0, `negative_slope * x` below, on integers.

    Args:
        scale, zero_point: those of results (defaults: scale 1.0, zero_point 0).
        negative_slope: of what is below 0 (default: 0.01).
        inplace: kept for callers: results have a scale of their own, so nothing is written into
            the input (default: False).
        device, dtype: kept for callers (default: None).

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-4.0, 0.0, 2.0]), 0.5, 10, taeda.quint8)
    >>> layer = taeda.ao.nn.quantized.LeakyReLU(scale=0.5, zero_point=10, negative_slope=0.25)
    >>> layer(x).dequantize().tolist()
    [-1.0, 0.0, 2.0]
    """

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        self.register_buffer("scale", taeda.tensor(float(scale)))
        self.register_buffer("zero_point", taeda.tensor(int(zero_point)))

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        slope = self.negative_slope
        return mapped(
            input,
            "quantized leaky_relu",
            lambda x: F.leaky_relu(x, slope),
            float(self.scale),
            int(self.zero_point),
        )

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.LeakyReLU`."""
        scale, zero = activation_parameters(mod, "LeakyReLU")
        return cls(scale, zero, mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    """`1 / (1 + exp(-x))` on integers.

    Args:
        output_scale, output_zero_point: those of results.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-9.0, 0.0, 9.0]), 1.0, 10, taeda.quint8)
    >>> layer = taeda.ao.nn.quantized.Sigmoid(output_scale=1 / 256, output_zero_point=0)
    >>> layer(x).dequantize().tolist()
    [0.0, 0.5, 0.99609375]
    """

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale, self.output_zero_point = float(output_scale), int(output_zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        return mapped(
            input, "quantized sigmoid", taeda.sigmoid, self.output_scale, self.output_zero_point
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.Sigmoid`."""
        return cls(*activation_parameters(mod, "Sigmoid"))


class Softmax(nn.Softmax):
    """Softmax on integers.

    Args:
        dim: the dimension that adds up to 1; RuntimeError in the call for None (default: None).
        scale, zero_point: those of results (defaults: scale 1.0, zero_point 0).

    >>> x = taeda.quantize_per_tensor(taeda.tensor([[1.0, 1.0]]), 0.5, 10, taeda.quint8)
    >>> taeda.ao.nn.quantized.Softmax(dim=1, scale=1 / 256)(x).dequantize().tolist()
    [[0.5, 0.5]]
    """

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__(dim)
        self.scale, self.zero_point = float(scale), int(zero_point)

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale. RuntimeError without a dimension."""
        dim = self.dim
        if dim is None:
            raise RuntimeError("a quantized Softmax wants a dimension: Softmax(dim=1)")
        return normalised(
            input, "quantized softmax", lambda x: F.softmax(x, dim), self.scale, self.zero_point
        )

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Softmax:
        """The layer of an observed `nn.Softmax`."""
        return Softmax(mod.dim, *activation_parameters(mod, "Softmax"))


class PReLU(nn.Module):
    """`x` above 0, `weight * x` below, on integers, with a weight in integers.

    Args:
        output_scale, output_zero_point: those of results.
        num_parameters: 1, or the number of channels in dimension 1.

    >>> x = taeda.quantize_per_tensor(taeda.tensor([-4.0, 2.0]), 0.5, 10, taeda.quint8)
    >>> layer = taeda.ao.nn.quantized.PReLU(output_scale=0.5, output_zero_point=10)
    >>> layer.set_weight(taeda.quantize_per_tensor(taeda.tensor([0.25]), 0.25, 0, taeda.quint8))
    >>> layer(x).dequantize().tolist()
    [-1.0, 2.0]
    """

    def __init__(
        self, output_scale: float, output_zero_point: int, num_parameters: int = 1
    ) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.scale, self.zero_point = float(output_scale), int(output_zero_point)
        self.set_weight(taeda.quantize_per_tensor(taeda.ones(num_parameters), 1.0, 0, taeda.quint8))

    def set_weight(self, w: Tensor) -> None:
        """Take over a weight in integers, (num_parameters)."""
        self.weight = w

    def forward(self, input: Tensor) -> Tensor:
        """Integers of the shape of `input`, with the layer's scale."""
        slope = self.weight.dequantize()
        return normalised(
            input, "quantized prelu", lambda x: F.prelu(x, slope), self.scale, self.zero_point
        )

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.PReLU`."""
        made = cls(*activation_parameters(mod, "PReLU"), mod.num_parameters)
        made.set_weight(quantized_weight(mod.weight, choose_weight_observer(mod, mod.weight)))
        return made
