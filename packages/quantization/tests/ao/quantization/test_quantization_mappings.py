"""What becomes what."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.ao.nn import qat, quantized
from taeda.ao.nn.quantized import dynamic


def test_classes():
    assert q.get_static_quant_module_class(nn.Linear) is quantized.Linear
    assert q.get_dynamic_quant_module_class(nn.LSTM) is dynamic.LSTM
    assert q.get_static_quant_module_class(int, {int: float}) is float
    for call in (q.get_static_quant_module_class, q.get_dynamic_quant_module_class):
        with pytest.raises(AssertionError, match="no quantized layer"):
            call(nn.Bilinear)


def test_tables_are_copies():
    q.get_default_static_quant_module_mappings().clear()
    assert q.get_default_static_quant_module_mappings()[nn.Conv2d] is quantized.Conv2d
    assert q.get_embedding_qat_module_mappings()[nn.Embedding] is qat.Embedding
    assert q.get_embedding_static_quant_module_mappings()[qat.Embedding] is quantized.Embedding


def test_everything_that_is_made_has_from_float():
    for table in (
        q.get_default_static_quant_module_mappings(),
        q.get_default_qat_module_mappings(),
        q.get_default_dynamic_quant_module_mappings(),
    ):
        assert all(callable(kind.from_float) for kind in table.values())
    assert nn.Linear in q.get_default_qconfig_propagation_list()
    assert q.QuantStub not in q.get_default_compare_output_module_list()
    assert taeda.quint8
