"""Random numbers are those of one device."""

from __future__ import annotations

import pytest
from dtensor_programs import MESHES
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor, rand, randn


@pytest.mark.parametrize("mesh", MESHES)
def test_random_numbers_are_those_of_one_device_bit_for_bit(mesh):
    ranks = mesh[0] * mesh[1]
    draws = {
        "rand": lambda x, g: taeda.rand_like(x, generator=g),
        "randn": lambda x, g: taeda.randn_like(x, generator=g),
        "normal_": lambda x, g: x.clone().normal_(1, 2, generator=g),
        "uniform_": lambda x, g: x.clone().uniform_(-1, 1, generator=g),
        "bernoulli": lambda x, g: taeda.bernoulli(x.abs().clamp(0, 1), generator=g),
        "exponential_": lambda x, g: x.clone().exponential_(generator=g),
        "randint_like": lambda x, g: taeda.randint_like(x, 9, generator=g),
        "multinomial": lambda x, g: taeda.multinomial(x.abs() + 0.1, 3, generator=g),
    }
    whole = taeda.linspace(-2, 2, 5 * 7).view(5, 7)
    wanted = {}
    for name, draw in draws.items():
        g = taeda.Generator().manual_seed(3)
        wanted[name] = draw(whole, g), g.get_state()
    taeda.manual_seed(11)
    plain = [taeda.rand(5, 7), taeda.randn(3), nn.functional.dropout(whole, 0.4)]
    last = taeda.rand(1)
    taeda.manual_seed(11)

    def work(rank):
        grid = dist.init_device_mesh("cpu", mesh)
        for places in ([Shard(0), Shard(0)], [Shard(1), Shard(0)], [Replicate(), Shard(1)]):
            for name, draw in draws.items():
                g = taeda.Generator().manual_seed(3)
                made = draw(distribute_tensor(whole, grid, places), g)
                assert taeda.equal(made.full_tensor(), wanted[name][0]), name
                assert taeda.equal(g.get_state(), wanted[name][1])
        first = rand(5, 7, device_mesh=grid, placements=[Shard(0), Shard(1)])
        second = randn(3, device_mesh=grid, placements=[Shard(0), Shard(0)])
        x = distribute_tensor(whole, grid, [Shard(1), Shard(0)])
        third = nn.functional.dropout(x, 0.4)
        return [one.full_tensor().tolist() for one in (first, second, third)]

    for found in on_threads(ranks, work):
        assert found == [one.tolist() for one in plain]
    assert taeda.rand(1) == last
