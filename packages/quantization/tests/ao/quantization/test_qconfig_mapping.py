"""Which layers are quantized how."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q


def test_as_a_dict_and_back():
    made = (
        q.QConfigMapping()
        .set_global(q.default_qconfig)
        .set_object_type(nn.Linear, None)
        .set_module_name_regex("a.*", None)
        .set_module_name("b", q.default_qconfig)
        .set_module_name_object_type_order("c", nn.Linear, 0, None)
    )
    again = q.QConfigMapping.from_dict(made.to_dict())
    assert again.to_dict() == made.to_dict()
    assert "object_type_qconfigs" in repr(made)
    with pytest.raises(ValueError, match="no key"):
        q.QConfigMapping.from_dict({"modules": []})


@pytest.mark.parametrize("make", [q.get_default_qconfig_mapping, q.get_default_qat_qconfig_mapping])
def test_defaults(make):
    made = make("x86")
    assert made.global_qconfig is not None
    assert float(made.object_type_qconfigs[nn.Sigmoid].activation().scale) == 1 / 256
    watch = made.object_type_qconfigs[nn.ConvTranspose2d].weight()
    assert watch.qscheme is taeda.per_tensor_symmetric
