"""distribute_module: parameters, inputs and outputs of a module."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor


@pytest.mark.filterwarnings("ignore:DTensor. _batch_norm has no rule")
def test_what_is_cut_and_what_is_whole():
    models = [nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)) for _ in range(2)]

    def cut(name, part, mesh):
        if isinstance(part, nn.Linear):
            part.weight = nn.Parameter(distribute_tensor(part.weight, mesh, [Shard(0)]))

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        model, before = models[rank], list(models[rank].parameters())
        made = distribute_module(
            model,
            mesh,
            cut,
            lambda part, inputs, mesh: (DTensor.from_local(inputs[0], mesh, [Shard(0)]),),
            lambda part, out, mesh: out.full_tensor(),
        )
        assert made is model and model[0].weight.placements == (Shard(0),)
        assert model[0].bias.placements == model[1].running_mean.placements == (Replicate(),)
        out = model(taeda.ones(3, 4) * (rank + 1))
        assert out.shape == (6, 4) and not isinstance(out, DTensor)
        for param in before:
            with pytest.raises(RuntimeError, match="distribute_module has put"):
                _ = param.grad
        with pytest.raises(RuntimeError, match="before"):
            distribute_module(model, mesh)
        with pytest.raises(TypeError, match="Module"):
            distribute_module(3, mesh)

    on_threads(2, work)


@pytest.mark.filterwarnings("ignore:DTensor. _batch_norm has no rule")
def test_running_means_are_written_where_they_lie():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        norm = distribute_module(nn.BatchNorm1d(4), mesh)
        x = taeda.arange(24.0).view(6, 4)
        norm(distribute_tensor(x, mesh, [Shard(0)]))
        plain = nn.BatchNorm1d(4)
        plain(x)
        assert taeda.allclose(norm.running_mean.full_tensor(), plain.running_mean)
        norm.running_mean = norm.running_mean.redistribute(placements=[Shard(0)])
        with pytest.raises(RuntimeError, match="_batch_norm writes running_mean"):
            norm(distribute_tensor(x, mesh, [Shard(0)]))

    on_threads(2, work)
