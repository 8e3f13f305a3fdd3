"""How a layer is quantized: a pair of factories, for its results and for its weights."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import taeda

from .fake_quantize import (
    FakeQuantize,
    FusedMovingAvgObsFakeQuantize,
    default_dynamic_fake_quant,
    default_embedding_fake_quant,
    default_embedding_fake_quant_4bit,
    default_fake_quant,
    default_fused_act_fake_quant,
    default_fused_per_channel_wt_fake_quant,
    default_fused_wt_fake_quant,
    default_per_channel_weight_fake_quant,
    default_weight_fake_quant,
    fused_per_channel_wt_fake_quant_range_neg_127_to_127,
    fused_wt_fake_quant_range_neg_127_to_127,
)
from .observer import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    NoopObserver,
    PlaceholderObserver,
    default_debug_observer,
    default_dynamic_quant_observer,
    default_float_qparams_observer,
    default_float_qparams_observer_4bit,
    default_observer,
    default_per_channel_weight_observer,
    default_placeholder_observer,
    default_reuse_input_observer,
    default_weight_observer,
    per_channel_weight_observer_range_neg_127_to_127,
    weight_observer_range_neg_127_to_127,
)

__all__ = [
    "QConfig", "QConfigAny", "default_activation_only_qconfig", "default_debug_qconfig",
    "default_dynamic_qat_qconfig", "default_dynamic_qconfig", "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit", "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig", "default_per_channel_symmetric_qnnpack_qconfig",
    "default_qat_qconfig", "default_qat_qconfig_v2", "default_qconfig", "default_quint8_weight_qconfig",
    "default_reuse_input_qconfig", "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig", "default_weight_only_qconfig", "float16_dynamic_qconfig",
    "float16_static_qconfig", "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit", "get_default_qat_qconfig", "get_default_qconfig",
    "per_channel_dynamic_qconfig", "qconfig_equals",
]  # fmt: skip


class _Pair(NamedTuple):
    activation: Any
    weight: Any


class QConfig(_Pair):
    """How a layer is quantized.

    Args:
        activation: makes an observer or a fake quantizer for results: a class, or what `with_args`
            gave.
        weight: the same for weights.

    ValueError for modules that are made already: every layer needs its own.

    >>> from taeda.ao.quantization import MinMaxObserver, QConfig
    >>> config = QConfig(MinMaxObserver, MinMaxObserver.with_args(dtype=taeda.qint8))
    >>> config.weight().dtype
    taeda.qint8
    """

    __slots__ = ()

    def __new__(cls, activation: Any, weight: Any) -> QConfig:
        if isinstance(activation, taeda.nn.Module) or isinstance(weight, taeda.nn.Module):
            raise ValueError(
                "QConfig wants classes or factories of observers, but got a module: use "
                "MyObserver.with_args(x=1)"
            )
        return super().__new__(cls, activation, weight)


QConfigAny: TypeAlias = QConfig | None

default_qconfig = QConfig(default_observer, default_weight_observer)
default_debug_qconfig = QConfig(default_debug_observer, default_weight_observer)
default_per_channel_qconfig = QConfig(default_observer, default_per_channel_weight_observer)
default_dynamic_qconfig = QConfig(default_dynamic_quant_observer, default_weight_observer)
float16_dynamic_qconfig = QConfig(
    PlaceholderObserver.with_args(dtype=taeda.float16, is_dynamic=True),
    PlaceholderObserver.with_args(dtype=taeda.float16),
)
float16_static_qconfig = QConfig(
    PlaceholderObserver.with_args(dtype=taeda.float16),
    PlaceholderObserver.with_args(dtype=taeda.float16),
)
per_channel_dynamic_qconfig = QConfig(
    default_dynamic_quant_observer, default_per_channel_weight_observer
)
float_qparams_weight_only_qconfig = QConfig(
    default_placeholder_observer, default_float_qparams_observer
)
float_qparams_weight_only_qconfig_4bit = QConfig(
    default_placeholder_observer, default_float_qparams_observer_4bit
)
default_qat_qconfig = QConfig(default_fake_quant, default_weight_fake_quant)
default_dynamic_qat_qconfig = QConfig(default_dynamic_fake_quant, default_weight_fake_quant)
default_weight_only_qconfig = QConfig(taeda.nn.Identity, default_weight_fake_quant)
default_activation_only_qconfig = QConfig(default_fake_quant, taeda.nn.Identity)
default_qat_qconfig_v2 = QConfig(default_fused_act_fake_quant, default_fused_wt_fake_quant)
default_reuse_input_qconfig = QConfig(default_reuse_input_observer, NoopObserver)
default_symmetric_qnnpack_qconfig = QConfig(
    HistogramObserver.with_args(dtype=taeda.qint8, reduce_range=False, eps=2**-12),
    weight_observer_range_neg_127_to_127,
)
default_per_channel_symmetric_qnnpack_qconfig = QConfig(
    HistogramObserver.with_args(dtype=taeda.qint8, reduce_range=False, eps=2**-12),
    per_channel_weight_observer_range_neg_127_to_127,
)
_SYMMETRIC = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=taeda.qint8,
    reduce_range=False,
    eps=2**-12,
)
default_symmetric_qnnpack_qat_qconfig = QConfig(
    _SYMMETRIC, fused_wt_fake_quant_range_neg_127_to_127
)
default_per_channel_symmetric_qnnpack_qat_qconfig = QConfig(
    _SYMMETRIC, fused_per_channel_wt_fake_quant_range_neg_127_to_127
)
default_embedding_qat_qconfig = QConfig(
    NoopObserver.with_args(dtype=taeda.float32), default_embedding_fake_quant
)
default_embedding_qat_qconfig_4bit = QConfig(
    NoopObserver.with_args(dtype=taeda.float32), default_embedding_fake_quant_4bit
)
default_quint8_weight_qconfig = QConfig(HistogramObserver, MinMaxObserver)

#: by backend: whether one bit is left out, and whether weights have scales for channels
_BACKENDS = {
    "fbgemm": (True, True), "x86": (True, True), "qnnpack": (False, False), "onednn": (False, True),
}  # fmt: skip


def _backend(name: str) -> tuple[bool, bool]:
    if name not in _BACKENDS:
        raise AssertionError(f"backend {name!r} is not known: wanted one of {[*_BACKENDS]}")
    return _BACKENDS[name]


def get_default_qconfig(backend: str = "x86", version: int = 0) -> QConfig:
    """How layers are quantized by default after a calibration.

    Args:
        backend: "x86", "fbgemm", "onednn" or "qnnpack": the kernels whose ranges are respected.
        version: 0.

    AssertionError for another backend or version.

    >>> get_default_qconfig("qnnpack").weight().qscheme
    taeda.per_tensor_symmetric
    """
    reduce_range, channels = _backend(backend)
    if version != 0:
        raise AssertionError(f"version {version} of get_default_qconfig is not known: wanted 0")
    weight = default_per_channel_weight_observer if channels else default_weight_observer
    return QConfig(HistogramObserver.with_args(reduce_range=reduce_range), weight)


def get_default_qat_qconfig(backend: str = "x86", version: int = 1) -> QConfig:
    """How layers are quantized by default while training.

    Args:
        backend: as in `get_default_qconfig` (default: "x86").
        version: 1 with observers and rounding in one operation, 0 apart.

    AssertionError for another backend or version.

    >>> taeda.ao.quantization.get_default_qat_qconfig("x86").weight().dtype
    taeda.qint8
    """
    reduce_range, channels = _backend(backend)
    if version not in (0, 1):
        raise AssertionError(f"version {version} of get_default_qat_qconfig is not known: 0 or 1")
    kind = FusedMovingAvgObsFakeQuantize if version else FakeQuantize
    more: dict[str, Any] = {} if backend == "onednn" else {"reduce_range": reduce_range}
    activation = kind.with_args(
        observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, **more
    )
    weights = {
        (0, False): default_weight_fake_quant, (0, True): default_per_channel_weight_fake_quant,
        (1, False): default_fused_wt_fake_quant, (1, True): default_fused_per_channel_wt_fake_quant,
    }  # fmt: skip
    return QConfig(activation, weights[version, channels])


def qconfig_equals(q1: Any, q2: Any) -> bool:
    """Whether two of them make the same modules.

    Args:
        q1, q2: `QConfig`s, or None.

    >>> qconfig_equals(get_default_qconfig("x86"), get_default_qconfig("x86"))
    True
    >>> qconfig_equals(get_default_qconfig("x86"), None)
    False
    """
    return bool(q1 == q2)
