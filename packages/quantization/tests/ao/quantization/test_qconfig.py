"""How a layer is quantized."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q


def test_pairs():
    made = q.QConfig(activation=q.default_observer, weight=q.default_weight_observer)
    assert made == q.default_qconfig
    assert q.qconfig_equals(made, q.default_qconfig)
    with pytest.raises(ValueError, match="with_args"):
        q.QConfig(q.MinMaxObserver(), q.default_weight_observer)


@pytest.mark.parametrize("backend", ["x86", "fbgemm", "onednn", "qnnpack"])
def test_defaults(backend):
    made = q.get_default_qconfig(backend)
    assert made.activation().quant_max == (127 if backend in ("x86", "fbgemm") else 255)
    for version in (0, 1):
        q.get_default_qat_qconfig(backend, version).weight()(taeda.randn(3, 4))


def test_what_is_refused():
    for call in (q.get_default_qconfig, q.get_default_qat_qconfig):
        with pytest.raises(AssertionError, match="is not known"):
            call("tpu")
        with pytest.raises(AssertionError, match="version"):
            call("x86", 7)
    assert isinstance(q.default_weight_only_qconfig.activation(), nn.Identity)
