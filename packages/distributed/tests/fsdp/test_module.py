"""What is set between passes."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.fsdp import (
    fully_shard,
    register_fsdp_forward_method,
)
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor.debug import CommDebugMode

ROWS = 12


class Block(nn.Module):
    """A norm and two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.w1, self.w2 = nn.LayerNorm(6), nn.Linear(6, 10), nn.Linear(10, 6)

    def forward(self, x):
        return x + self.w2(self.w1(self.norm(x)).tanh())


class Net(nn.Module):
    """Three blocks and a layer whose rows do not divide."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(3))
        self.last = nn.Linear(6, 5)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.last(x)

    def scores(self, x):
        return self.forward(x) * 2


def seed():
    taeda.manual_seed(2)
    return Net().double()


def data():
    maker = taeda.Generator().manual_seed(4)
    return taeda.randn(ROWS, 6, generator=maker, dtype=taeda.float64)


def steps(model, x, parts=1, around=None, count=3):
    optimizer = taeda.optim.AdamW(model.parameters(), lr=0.02)
    told = []
    for _ in range(count):
        optimizer.zero_grad()
        total = 0.0
        for number, piece in enumerate(x.chunk(parts)):
            if around is not None:
                around(model, number + 1 == parts)
            loss = model(piece).square().mean() / parts
            loss.backward()
            total += loss.item()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 0.7)
        optimizer.step()
        told.append((total, float(norm)))
    return told, whole(model)


def whole(model):
    return {
        name: (p.detach().full_tensor() if isinstance(p, DTensor) else p.detach()).double().tolist()
        for name, p in model.named_parameters()
    }


def shard(model, mesh, **options):
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def test_ignored_parameters_stay_and_other_methods_gather():
    models = [seed() for _ in range(2)]
    wanted = seed().scores(data()).detach()

    def work(rank):
        model = models[rank]
        left = model.last.weight
        fully_shard(model, ignored_params={left})
        register_fsdp_forward_method(model, "scores")
        register_fsdp_forward_method(nn.Linear(1, 1), "forward")
        assert model.last.weight is left and not isinstance(left, DTensor)
        assert taeda.allclose(model.scores(data()), wanted)
        model.scores(data()).sum().backward()
        assert model.blocks[0].w1.weight.grad is not None and left.grad is not None
        handle = model.unshard(async_op=True)
        handle.wait()
        assert model.blocks[0].w1.weight.shape == (10, 6)
        assert not isinstance(model.blocks[0].w1.weight, DTensor)
        model.reshard()
        assert isinstance(model.blocks[0].w1.weight, DTensor)
        assert model.unshard() is None
        model.reshard()

    on_threads(2, work)


def test_what_is_counted_divided_and_hooked():
    models = [seed() for _ in range(2)]

    def work(rank):
        model = shard(models[rank], dist.init_device_mesh("cpu", (2,)))
        model(data()).sum().backward()
        mean = model.last.bias.grad.full_tensor()
        model.zero_grad()
        model.set_reduce_scatter_divide_factor(1.0)
        with CommDebugMode() as mode:
            model(data()).sum().backward()
        assert mode.get_comm_counts() == {"all_gather_into_tensor": 7, "reduce_scatter_tensor": 4}
        assert taeda.allclose(model.last.bias.grad.full_tensor(), mean * 2)
        model.zero_grad()
        model.set_all_reduce_hook(lambda row: row.zero_())
        model(data()).sum().backward()
        assert not model.last.bias.grad.full_tensor().any()
        with pytest.raises(ValueError, match="fully_shard was called for"):
            model.set_modules_to_forward_prefetch([nn.Linear(1, 1)])
        model.float()
        assert model(data().float()).dtype is taeda.float32

    on_threads(2, work)


def test_errors_of_collectives_name_the_unit_and_the_line():
    def work(rank):
        model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2)))
        for layer in (model[0], model[1][0]):
            fully_shard(layer)
        fully_shard(model)
        lost = model(taeda.ones(1, 2)).sum()
        said = []
        for lines in (lambda: model(taeda.ones(1, 2)), lost.backward):
            try:
                dist.all_reduce(taeda.ones(3)) if rank else lines()
            except dist.DistMismatchError as error:
                said.append(str(error))
        return said

    for said in on_threads(2, work):
        assert len(said) == 2
        assert "(gathers unit 0)" in said[0] and "(gathers unit 1.0)" in said[1]
        assert all("test_module.py:" in text and "contextlib" not in text for text in said)
