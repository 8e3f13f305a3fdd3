"""Samples of vmap as tensors: their facts, their writes, their end."""

from __future__ import annotations

import pytest

import taeda
from taeda.func import vmap


def test_a_sample_that_escapes_is_refused():
    kept = []
    vmap(lambda x: kept.append(x) or x)(taeda.ones(2))
    with pytest.raises(RuntimeError, match="after that vmap returned"):
        kept[0] + 1


def test_writes_reach_the_samples_and_not_the_shared():
    x = taeda.zeros(3, 4)

    def f(row, value):
        row[1:3] = value
        row.add_(1)
        row += value
        return row

    made = vmap(f)(x, taeda.arange(3.0))
    assert made.tolist() == [[1, 1, 1, 1], [2, 3, 3, 2], [3, 5, 5, 3]]
    assert x.equal(made)


def test_facts_are_those_of_a_sample():
    seen = []

    def f(x):
        seen.append(
            (x.shape, x.dim(), len(x), x.dtype, x.numel(), x.size(-1), x.device.type, x.ndim)
        )
        assert "BatchedTensor" in repr(x)
        return x

    vmap(f, in_dims=1)(taeda.ones(2, 5, 3))
    assert seen == [((2, 3), 2, 2, taeda.float32, 6, 3, "cpu", 2)]


def test_a_sample_without_dimensions_gives_way_in_types_as_single_ones_do():
    x, s = taeda.ones(3, 4), taeda.ones(3, dtype=taeda.float64)
    assert vmap(lambda x, s: x * s)(x, s).dtype == taeda.float32
    assert vmap(lambda x, s: x.long() * s)(x, s).dtype == taeda.float64
