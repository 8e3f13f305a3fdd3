"""From an observed float layer to a weight in integers."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor, nn

__all__ = [
    "activation_parameters", "choose_weight_observer", "quantized_weight", "require_qconfig", "unseen",
]  # fmt: skip


def require_qconfig(mod: nn.Module, name: str) -> Any:
    """The layer's `qconfig`; AssertionError if there is none."""
    found = getattr(mod, "qconfig", None)
    if not found:
        raise AssertionError(
            f"{name}.from_float: the input float module must have a qconfig: prepare() gives it one"
        )
    return found


def choose_weight_observer(mod: nn.Module, weight: Tensor) -> Any:
    """What knows the range of the weight: that of training, or a new one that has seen it now."""
    watch = getattr(mod, "weight_fake_quant", None)
    if watch is None:
        watch = mod.qconfig.weight()
        watch(weight.detach())
    return watch


def quantized_weight(weight: Tensor, watch: Any) -> Tensor:
    """The weight in integers, with the scales that the observer suggests."""
    scale, zero = watch.calculate_qparams()
    weight = weight.detach().float()
    if watch.qscheme in (taeda.per_tensor_symmetric, taeda.per_tensor_affine):
        return taeda.quantize_per_tensor(weight, float(scale), int(zero), watch.dtype)
    if watch.qscheme is taeda.per_channel_affine_float_qparams:
        return taeda.quantize_per_channel(
            weight, scale.float(), zero.float(), watch.ch_axis, watch.dtype
        )
    return taeda.quantize_per_channel(
        weight, scale.double(), zero.to(taeda.int64), watch.ch_axis, watch.dtype
    )


def unseen(mod: nn.Module) -> bool:
    """Whether the layer has an observer of results that saw none."""
    watch = getattr(mod, "activation_post_process", None)
    return watch is not None and hasattr(watch, "has_seen") and not watch.has_seen()


def activation_parameters(mod: nn.Module, name: str) -> tuple[float, int]:
    """Scale and zero point of the layer's results. RuntimeError if the observer saw none."""
    watch: Any = getattr(mod, "activation_post_process", None)
    if watch is None:
        return 1.0, 0
    if unseen(mod):
        raise RuntimeError(
            f"{name}.from_float: the observer of the layer's results saw nothing: run the prepared model on "
            "examples before convert()"
        )
    scale, zero = watch.calculate_qparams()
    return float(scale), int(zero)
