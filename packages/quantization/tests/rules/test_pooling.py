"""Pooling by its own names."""

from __future__ import annotations

import pytest
from quantized_tensors import numbers

import taeda


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_of_every_rank(rank):
    x = numbers(2, 3, *[4] * rank)
    made = getattr(taeda, f"quantized_max_pool{rank}d")(
        x, [2] * rank, [2] * rank, [0] * rank, [1] * rank
    )
    wanted = getattr(taeda.nn.functional, f"max_pool{rank}d")(x.dequantize(), 2)
    assert taeda.equal(made.dequantize(), wanted)
    with pytest.raises(
        NotImplementedError, match=f"quantized_max_pool{rank}d: wanted a quantized tensor"
    ):
        getattr(taeda, f"quantized_max_pool{rank}d")(x.dequantize(), [2] * rank)


def test_averages_round_half_to_even():
    x = taeda._make_per_tensor_quantized_tensor(
        taeda.tensor([[[1, 2, 3, 4]]], dtype=taeda.uint8), 1.0, 0
    )
    assert taeda.avg_pool1d(x, 2).int_repr().tolist() == [[[2, 4]]]
