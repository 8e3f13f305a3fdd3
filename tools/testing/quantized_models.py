"""Float models, and what quantization makes of copies of them."""

from __future__ import annotations

import copy

import taeda
from taeda import nn
from taeda.ao import quantization as q
from taeda.quantization import int8_weight_only, quantize_


def floats():
    taeda.manual_seed(0)
    return nn.Sequential(
        nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32), nn.ReLU(), nn.Linear(32, 8)
    ).eval()


def weights_alone(config=None):
    model = floats()
    small = copy.deepcopy(model)
    quantize_(small, config or int8_weight_only(), measure=False)
    return model, small


def static():
    """(the fused float model, the one on integers)"""
    model = q.QuantWrapper(floats()).eval()
    model.qconfig = q.get_default_qconfig("x86")
    fused = q.fuse_modules(model, [["module.0", "module.1"], ["module.2", "module.3"]])
    ready = q.prepare(fused)
    ready(taeda.randn(200, 64))
    return fused, q.convert(ready)


DATA = [taeda.linspace(-1, 1, 256).reshape(4, 64), taeda.full((1, 64), 0.3)]
