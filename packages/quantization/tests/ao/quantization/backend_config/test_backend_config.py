"""What a backend computes, as data."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)


def config():
    dtypes = DTypeConfig(
        DTypeWithConstraints(taeda.quint8, quant_min_lower_bound=0),
        taeda.quint8,
        taeda.qint8,
        taeda.float32,
    )
    pattern = (
        BackendPatternConfig((nn.Linear, nn.ReLU))
        .add_dtype_config(dtypes)
        .set_root_module(nn.Linear)
        .set_observation_type(ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT)
        .set_fused_module(nn.Linear)
        .set_qat_module(nn.Linear)
        .set_reference_quantized_module(nn.Linear)
        .set_fuser_method(max)
    )
    return BackendConfig("mine").set_backend_pattern_configs([pattern])


def test_as_a_dict_and_back():
    made = config()
    again = BackendConfig.from_dict(made.to_dict())
    assert again.to_dict() == made.to_dict()
    (pattern,) = again.configs
    assert pattern.dtype_configs[0].input_dtype is taeda.quint8
    assert pattern.fuser_method is max
    assert pattern.observation_type is ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT


def test_the_last_of_a_pattern_counts():
    made = (
        config()
        .set_name("other")
        .set_backend_pattern_config(BackendPatternConfig((nn.Linear, nn.ReLU)))
    )
    assert (made.name, len(made.configs)) == ("other", 1)
    assert made.configs[0].set_dtype_configs([]).dtype_configs == []
    assert BackendPatternConfig().set_pattern(nn.Linear).pattern is nn.Linear


def test_what_is_refused():
    with pytest.raises(ValueError, match="input_dtype is a dtype"):
        DTypeConfig.from_dict({"input_dtype": 3})
    with pytest.raises(ValueError, match="configs has patterns"):
        BackendConfig.from_dict({"configs": [1]})
    with pytest.raises(ValueError, match="dtype_configs has"):
        BackendPatternConfig.from_dict({"dtype_configs": [1]})
