"""Batch normalisation over the batches of all ranks, on threads, against one batch with everything."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn

PARTS = [5, 0, 3]


def data():
    generator = taeda.Generator().manual_seed(1)
    draw = {"generator": generator, "dtype": taeda.float64}
    return taeda.randn(8, 4, 3, **draw), taeda.randn(8, 4, 3, **draw)


@pytest.mark.parametrize("momentum", [0.1, None])
@pytest.mark.parametrize("affine", [True, False])
def test_outputs_gradients_and_statistics_are_those_of_the_whole_batch(momentum, affine):
    whole, weight = data()
    options = {"momentum": momentum, "affine": affine, "dtype": taeda.float64}
    plain = nn.BatchNorm1d(4, **options)
    x = whole.clone().requires_grad_()
    out = plain(x)
    (out * weight).sum().backward()

    def work(rank):
        layer = nn.SyncBatchNorm(4, **options)
        part = whole.split(PARTS)[rank].clone().requires_grad_()
        made = layer(part)
        (made * weight.split(PARTS)[rank]).sum().backward()
        return made.detach(), part.grad, layer.running_mean, layer.running_var

    for rank, (made, grad, mean, var) in enumerate(on_threads(3, work)):
        assert taeda.allclose(made, out.detach().split(PARTS)[rank])
        assert taeda.allclose(grad, x.grad.split(PARTS)[rank], atol=1e-10)
        assert taeda.allclose(mean, plain.running_mean)
        assert taeda.allclose(var, plain.running_var)


def test_a_group_of_one_value_is_refused():
    def work(rank):
        with pytest.raises(ValueError, match="got 1 on all ranks"):
            nn.SyncBatchNorm(2)(taeda.ones(1 - rank, 2))
        return True

    assert on_threads(2, work) == [True, True]


def test_alone_it_is_the_plain_layer():
    x = taeda.arange(6.0).reshape(3, 2)
    wanted = nn.BatchNorm1d(2)(x)
    assert taeda.equal(nn.SyncBatchNorm(2)(x), wanted)
    dist.init_process_group("fake", store=dist.HashStore(), rank=0, world_size=1)
    try:
        assert taeda.equal(nn.SyncBatchNorm(2)(x), wanted)
    finally:
        dist.destroy_process_group()
