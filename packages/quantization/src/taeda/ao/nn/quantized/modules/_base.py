"""What layers on integers share: scale and zero point of results, and weights in the state dict."""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.quantization._parts import is_quantized

from ..._weights import (
    activation_parameters,
    choose_weight_observer,
    quantized_weight,
    require_qconfig,
)

__all__ = ["HidesPacked", "LinearPackedParams", "WeightedQuantizedModule", "hide_vals"]


class HidesPacked(nn.Module):
    """A module whose text leaves out what it keeps its packed weights in."""

    _hidden: tuple[str, ...] = ("_packed_params",)

    def __repr__(self) -> str:
        if any(name not in self._hidden for name in self._modules):
            return super().__repr__()  # somebody added a child
        return f"{self._get_name()}({self.extra_repr()})"


class WeightedQuantizedModule(HidesPacked):
    """A layer with a weight in integers: `weight()` and `bias()` give them, `set_weight_bias` sets them,
    `from_float` makes one of an observed float layer.

    >>> layer = taeda.ao.nn.quantized.Linear(2, 3)
    >>> isinstance(layer, WeightedQuantizedModule)
    True
    >>> layer.weight().shape, layer.bias().shape
    (taeda.Size([3, 2]), taeda.Size([3]))
    """

    scale: float
    zero_point: int

    def weight(self) -> Tensor:
        """The weight in integers."""
        raise NotImplementedError(f"{type(self).__name__} says no weight")

    def bias(self) -> Tensor | None:
        """The bias in float32, or None."""
        raise NotImplementedError(f"{type(self).__name__} says no bias")

    def set_weight_bias(self, w: Tensor, b: Tensor | None) -> None:
        """Take over a weight in integers and a bias in float32."""
        raise NotImplementedError(f"{type(self).__name__} takes no weight")

    def _qscheme_text(self) -> str:
        return f", qscheme={self.weight().qscheme()}"

    def _take_observed(self, mod: Any, weight: Tensor, bias: Tensor | None) -> Self:
        """Weight, bias and scale of an observed float layer."""
        require_qconfig(mod, type(self).__name__)
        watch = choose_weight_observer(mod, weight)
        if watch.dtype is not taeda.qint8:
            raise AssertionError(
                f"{type(self).__name__} wants a weight observer of qint8, but got {watch.dtype}"
            )
        self.scale, self.zero_point = activation_parameters(mod, type(self).__name__)
        self.set_weight_bias(quantized_weight(weight, watch), bias)
        return self


def hide_vals(weight: Tensor, name: str) -> None:
    """RuntimeError unless this is a weight in integers."""
    if not is_quantized(weight):
        raise RuntimeError(f"{name}: wanted a quantized weight, but got {weight.dtype}")


class LinearPackedParams(nn.Module):
    """Weight and bias of a linear layer, one entry of the state dict.

    Args:
        dtype: `qint8`, or `float16` for weights of 16 bits.

    >>> part = LinearPackedParams()
    >>> weight = taeda.quantize_per_tensor(taeda.ones(3, 2), 0.5, 0, taeda.qint8)
    >>> part.set_weight_bias(weight, taeda.zeros(3))
    >>> list(part.state_dict())
    ['dtype', '_packed_params']
    """

    _version = 3

    def __init__(self, dtype: Any = taeda.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        empty = taeda.zeros(1, 1)
        self.set_weight_bias(_of_dtype(empty, dtype), None)

    def set_weight_bias(self, weight: Tensor, bias: Tensor | None) -> None:
        """Take over a weight (out, in) and a bias (out) in float32."""
        if weight.dim() != 2:
            raise RuntimeError(
                f"a linear layer has a weight (out, in), but got the shape {tuple(weight.shape)}"
            )
        if bias is not None and bias.shape != weight.shape[:1] and weight.numel() > 1:
            raise RuntimeError(
                f"a bias of shape {tuple(bias.shape)} does not fit a weight {tuple(weight.shape)}"
            )
        self._packed_params = weight, None if bias is None else bias.detach().float()

    def _weight_bias(self) -> tuple[Tensor, Tensor | None]:
        return self._packed_params

    def forward(self, x: Any) -> Any:
        """`x` as it is."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._packed_params

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        metadata: Any,
        strict: bool,
        missing: Any,
        unexpected: Any,
        errors: Any,
    ) -> None:
        for name in ("dtype", "_packed_params"):
            if (key := prefix + name) not in state_dict:
                missing.append(key)
                return
        self.dtype = state_dict.pop(prefix + "dtype")
        self.set_weight_bias(*state_dict.pop(prefix + "_packed_params"))
        super()._load_from_state_dict(
            state_dict, prefix, metadata, False, missing, unexpected, errors
        )

    def __repr__(self) -> str:
        return repr(self._packed_params)


def _of_dtype(weight: Tensor, dtype: Any) -> Tensor:
    if dtype is taeda.qint8:
        made: Tensor = taeda.quantize_per_tensor(weight, 1.0, 0, taeda.qint8)
        return made
    if dtype is taeda.float16:
        return weight.half()
    raise RuntimeError(f"a linear layer has a weight in qint8 or float16, but got {dtype}")
