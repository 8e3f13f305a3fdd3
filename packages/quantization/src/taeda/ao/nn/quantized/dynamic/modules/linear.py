"""A linear layer on floats, with a weight in integers."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization import _kernels

from ...._weights import choose_weight_observer, quantized_weight, require_qconfig
from ...modules.linear import Linear as _Static

__all__ = ["Linear"]

F = nn.functional


class Linear(_Static):
    """A linear layer on floats (..., in_features), with a weight in qint8, or in float16.

    Args:
        in_features, out_features: sizes of the last dimension before and after.
        bias_: whether there is a bias, in float32 (default: True).
        dtype: of the weight: `qint8` or `float16`.

    The input becomes integers with the scale of its own range, of 7 bits as PyTorch's kernels want it. The
    state dict is PyTorch's.

    >>> layer = taeda.ao.nn.quantized.dynamic.Linear(2, 3)
    >>> layer(taeda.ones(4, 2)).dtype, layer.weight().dtype
    (taeda.float32, taeda.qint8)
    """

    _FLOAT_MODULE: Any = (nn.Linear,)
    version = 4

    def __init__(
        self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__(in_features, out_features, bias_)
        self._take_dtype(dtype)

    def _take_dtype(self, dtype: Any) -> None:
        if dtype not in (taeda.qint8, taeda.float16):
            raise RuntimeError(
                f"a dynamic Linear has a weight in qint8 or float16, but got {dtype}"
            )
        self._packed_params.dtype = dtype
        if dtype is taeda.float16 and self.weight().is_quantized:
            self.set_weight_bias(self.weight().dequantize().half(), self.bias())

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        text = (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"dtype={self._packed_params.dtype}"
        )
        return text + (self._qscheme_text() if self.weight().is_quantized else "")

    def forward(self, x: Tensor) -> Tensor:
        """Floats (..., out_features). RuntimeError for integers, and for numbers that are not finite."""
        weight, bias = self._packed_params._weight_bias()
        if weight.is_quantized:
            return _kernels.dynamic_linear(x, weight, bias, True, self._relu)
        made = F.linear(x, weight.float(), bias)
        return made.relu() if self._relu else made

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of an `nn.Linear` with a `qconfig`, or of one that was trained for it.

        Args:
            mod: the layer.
            use_precomputed_fake_quant: kept for callers.

        AssertionError without a `qconfig`, for another class and for a weight observer of another dtype.
        """
        if not isinstance(mod, cls._FLOAT_MODULE):
            wanted = ", ".join(kind.__name__ for kind in cls._FLOAT_MODULE)
            raise AssertionError(
                f"{cls.__name__}.from_float wants {wanted}, but got {type(mod).__name__}"
            )
        how = require_qconfig(mod, cls.__name__)
        inner = mod if isinstance(mod, nn.Linear) else mod[0]
        inner.qconfig = how
        if how.weight().dtype is taeda.float16:
            made = cls(inner.in_features, inner.out_features, dtype=taeda.float16)
            made.set_weight_bias(inner.weight.detach().half(), inner.bias)
            return made
        watch = choose_weight_observer(inner, inner.weight)
        if watch.dtype is not taeda.qint8:
            raise AssertionError(
                f"a dynamic Linear wants a weight observer of qint8 or float16, but got {watch.dtype}"
            )
        made = cls(inner.in_features, inner.out_features)
        made.set_weight_bias(quantized_weight(inner.weight, watch), inner.bias)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Any) -> Self:  # type: ignore[override]  # no scale of results
        """The layer of a reference layer, whose `get_quantized_weight()` gives the weight.

        Args:
            ref_qlinear: a layer in float that knows its quantized weight.
        """
        made = cls(
            ref_qlinear.in_features, ref_qlinear.out_features, dtype=ref_qlinear.weight_dtype
        )
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        return made
