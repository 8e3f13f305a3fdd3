"""What the order of numbers decides."""

from __future__ import annotations

from quantized_tensors import numbers

import taeda


def test_pairs():
    x = numbers(4, 6)
    for made, wanted in (
        (x.max(1), x.dequantize().max(1)),
        (x.topk(2), x.dequantize().topk(2)),
        (x.sort(stable=True, dim=-1), x.dequantize().sort(stable=True, dim=-1)),
    ):
        assert taeda.equal(made[0].dequantize(), wanted[0])
        assert taeda.equal(made[1], wanted[1])
    least, most = x.aminmax()
    assert (float(least.dequantize()), float(most.dequantize())) == (
        float(x.dequantize().min()),
        float(x.dequantize().max()),
    )
