"""Observers: modules that look at numbers on their way, and say what scale and zero point fits them.

>>> import taeda
>>> watch = MinMaxObserver()
>>> same = watch(taeda.tensor([-1.0, 0.5, 4.0]))
>>> scale, zero_point = watch.calculate_qparams()
>>> zero_point.tolist()
[51]

    _observer_bases.py    what they have in common
    _observer_ranges.py   those that find a range
    _observer_others.py   those that compute none
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import taeda
from taeda import nn

from ._granularity import (
    Granularity,
    MappingType,
    PerAxis,
    PerBlock,
    PerGroup,
    PerRow,
    PerTensor,
    PerToken,
    TorchAODType,
    ZeroPointDomain,
    get_block_size,
)
from ._observer_bases import (
    AffineQuantizedObserverBase,
    ObserverBase,
    UniformQuantizationObserverBase,
)
from ._observer_others import (
    FixedQParamsObserver,
    NoopObserver,
    PlaceholderObserver,
    RecordingObserver,
    ReuseInputObserver,
)
from ._observer_ranges import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
    MovingAveragePerChannelMinMaxObserver,
    PerChannelMinMaxObserver,
)

__all__ = [
    "AffineQuantizedObserverBase", "FixedQParamsObserver", "Granularity", "HistogramObserver",
    "MappingType", "MinMaxObserver", "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver", "NoopObserver", "ObserverBase", "PerAxis", "PerBlock",
    "PerChannelMinMaxObserver", "PerGroup", "PerRow", "PerTensor", "PerToken", "PlaceholderObserver",
    "RecordingObserver", "ReuseInputObserver", "TorchAODType", "UniformQuantizationObserverBase",
    "ZeroPointDomain", "default_affine_fixed_qparams_observer", "default_debug_observer",
    "default_dynamic_quant_observer", "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer", "default_float_qparams_observer",
    "default_float_qparams_observer_4bit", "default_histogram_observer", "default_observer",
    "default_per_channel_weight_observer", "default_placeholder_observer",
    "default_reuse_input_observer", "default_symmetric_fixed_qparams_observer",
    "default_weight_observer", "get_block_size", "get_observer_state_dict",
    "load_observer_state_dict", "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]  # fmt: skip

# ---- observers with arguments ----

default_observer = MinMaxObserver.with_args(quant_min=0, quant_max=127)
default_placeholder_observer = PlaceholderObserver
default_debug_observer = RecordingObserver
default_weight_observer = MinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_tensor_symmetric
)
weight_observer_range_neg_127_to_127 = default_weight_observer.with_args(
    quant_min=-127, quant_max=127, eps=2**-12
)
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.qint8, qscheme=taeda.per_channel_symmetric
)
per_channel_weight_observer_range_neg_127_to_127 = default_per_channel_weight_observer.with_args(
    quant_min=-127, quant_max=127, eps=2**-12
)
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=taeda.quint8, quant_min=0, quant_max=255, is_dynamic=True
)
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=taeda.quint8, qscheme=taeda.per_channel_affine_float_qparams, ch_axis=0
)
default_float_qparams_observer_4bit = default_float_qparams_observer.with_args(dtype=taeda.quint4x2)
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=taeda.quint8, quant_min=0, quant_max=255
)
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_reuse_input_observer = ReuseInputObserver


# ---- what observers have seen, apart from the model ----


def get_observer_state_dict(mod: nn.Module) -> OrderedDict[str, Any]:
    """The entries of a module's state dict that belong to observers: what they have seen.

    Args:
        mod: a prepared model.

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready = taeda.ao.quantization.prepare(model)
    >>> _ = ready(taeda.tensor([[-1.0, 3.0]]))
    >>> found = get_observer_state_dict(ready)
    >>> found["quant.activation_post_process.max_val"]
    tensor(3.)
    """
    words = ("observer", "activation_post_process")
    entries = mod.state_dict().items()
    return OrderedDict((k, v) for k, v in entries if any(word in k for word in words))


def load_observer_state_dict(mod: nn.Module, obs_dict: dict[str, Any]) -> None:
    """Let the observers of a prepared model have seen what others saw.

    Args:
        mod: a prepared model.
        obs_dict: what `get_observer_state_dict` gave.

    RuntimeError for entries that are missing or belong to no observer.

    >>> model = taeda.ao.quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready, other = (taeda.ao.quantization.prepare(model) for _ in range(2))
    >>> _ = ready(taeda.tensor([[-1.0, 3.0]]))
    >>> load_observer_state_dict(other, get_observer_state_dict(ready))
    >>> other.quant.activation_post_process.max_val
    tensor(3.)
    """
    wanted = set(get_observer_state_dict(mod))
    missing, unknown = sorted(wanted - set(obs_dict)), sorted(set(obs_dict) - wanted)
    if missing or unknown:
        raise RuntimeError(
            f"the entries do not fit the observers: missing {missing}, of no observer {unknown}"
        )
    mod.load_state_dict(obs_dict, strict=False)
