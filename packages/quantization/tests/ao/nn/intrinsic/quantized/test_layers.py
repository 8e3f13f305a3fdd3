"""Joined layers on integers."""

from __future__ import annotations

from quantized_tensors import numbers

import taeda
from taeda.ao.nn import intrinsic


def test_results_are_not_below_0():
    layers = [
        (intrinsic.quantized.LinearReLU(4, 3), numbers(5, 4)),
        (intrinsic.quantized.ConvReLU1d(4, 3, 1), numbers(5, 4, 2)),
        (intrinsic.quantized.ConvReLU2d(4, 3, 1), numbers(5, 4, 2, 2)),
        (intrinsic.quantized.BNReLU2d(4), numbers(5, 4, 2, 2)),
        (intrinsic.quantized.ConvReLU3d(4, 3, 1), numbers(5, 4, 2, 2, 2)),
        (intrinsic.quantized.BNReLU3d(4), numbers(5, 4, 2, 2, 2)),
    ]
    for layer, x in layers:
        if "BN" in type(layer).__name__:
            layer.zero_point = taeda.tensor(9)
        else:
            taeda.manual_seed(0)
            w = taeda.randn(*layer.weight().shape)
            layer.set_weight_bias(
                taeda.quantize_per_tensor(w, 0.05, 0, taeda.qint8), taeda.randn(3)
            )
            layer.zero_point = 9
        made = layer.eval()(x)
        assert float(made.dequantize().min()) == 0.0, layer
        assert type(layer).__name__ in repr(layer)
