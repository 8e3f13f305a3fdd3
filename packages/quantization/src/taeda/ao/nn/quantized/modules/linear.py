"""A linear layer on integers."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization import _kernels

from ...intrinsic.modules.fused import LinearReLU as FloatLinearReLU
from ._base import LinearPackedParams, WeightedQuantizedModule

__all__ = ["Linear", "LinearPackedParams"]


class Linear(WeightedQuantizedModule):
    """A linear layer on integers (..., in_features), with a weight in qint8.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        bias_: whether there is a bias, in float32 (default: True).
        dtype: of the weight: qint8.

    The state dict has `scale`, `zero_point` and `_packed_params`, as PyTorch's. NotImplementedError for
    floats: a `QuantStub` quantizes them.

    >>> layer = taeda.ao.nn.quantized.Linear(2, 1)
    >>> weight = taeda.quantize_per_tensor(taeda.tensor([[1.0, -0.5]]), 0.5, 0, taeda.qint8)
    >>> layer.set_weight_bias(weight, taeda.tensor([3.0]))
    >>> x = taeda.quantize_per_tensor(taeda.tensor([[4.0, 2.0]]), 0.5, 0, taeda.quint8)
    >>> layer(x).dequantize().tolist()
    [[6.0]]
    """

    _version = 3
    _FLOAT_MODULE: Any = (nn.Linear,)
    _relu = False

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__()
        if dtype is not taeda.qint8:
            raise RuntimeError(f"a quantized Linear has a weight in qint8, but got {dtype}")
        self.in_features, self.out_features = in_features, out_features
        self.scale, self.zero_point = 1.0, 0
        self._packed_params = LinearPackedParams(dtype)
        empty = taeda.quantize_per_tensor(taeda.zeros(out_features, in_features), 1.0, 0, dtype)
        self.set_weight_bias(empty, taeda.zeros(out_features) if bias_ else None)

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, "
            f"zero_point={self.zero_point}{self._qscheme_text()}"
        )

    def forward(self, x: Tensor) -> Tensor:
        """Integers (..., out_features) with the layer's scale."""
        weight, bias = self._packed_params._weight_bias()
        return _kernels.linear(x, weight, bias, self.scale, self.zero_point, self._relu)

    def weight(self) -> Tensor:
        """The weight (out_features, in_features) in qint8."""
        return self._packed_params._weight_bias()[0]

    def bias(self) -> Tensor | None:
        """The bias in float32, or None."""
        return self._packed_params._weight_bias()[1]

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Take over a weight in qint8 and a bias in float32."""
        self._packed_params.set_weight_bias(w, b)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "scale"] = taeda.tensor(self.scale)
        destination[prefix + "zero_point"] = taeda.tensor(self.zero_point)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        missing = rest[2]
        for name, kind in (("scale", float), ("zero_point", int)):
            if (key := prefix + name) in state_dict:
                setattr(self, name, kind(state_dict.pop(key)))
            else:
                missing.append(key)
        super()._load_from_state_dict(state_dict, prefix, rest[0], False, *rest[2:])

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an observed `nn.Linear`, or of one that was trained for it (`nn.qat.Linear`).

        Args:
            mod: a prepared and calibrated layer.
            use_precomputed_fake_quant: kept for callers: the scales of training are used in any
                case.

        AssertionError without a `qconfig` or for another class, RuntimeError if an observer saw nothing.
        """
        watch = getattr(mod, "activation_post_process", None)
        if hasattr(mod, "weight_fake_quant"):
            made = cls._empty_like(mod)
            made._take_observed(mod, mod.weight, mod.bias)
            return made
        inner = mod[0] if isinstance(mod, FloatLinearReLU) else mod
        if not isinstance(mod, cls._FLOAT_MODULE):
            wanted = ", ".join(kind.__name__ for kind in cls._FLOAT_MODULE)
            raise AssertionError(
                f"{cls.__name__}.from_float wants {wanted}, but got {type(mod).__name__}"
            )
        if inner is not mod:
            inner.qconfig, inner.activation_post_process = mod.qconfig, watch
        made = cls._empty_like(inner)
        made._take_observed(inner, inner.weight, inner.bias)
        return made

    @classmethod
    def _empty_like(cls, mod: Any) -> Self:
        return cls(mod.in_features, mod.out_features, dtype=taeda.qint8)

    @classmethod
    def from_reference(cls, ref_qlinear: Any, output_scale: float, output_zero_point: int) -> Self:
        """The layer of a reference layer, whose `get_quantized_weight()` gives the weight.

        Args:
            ref_qlinear: a layer in float that knows its quantized weight.
            output_scale, output_zero_point: those of results.
        """
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made
