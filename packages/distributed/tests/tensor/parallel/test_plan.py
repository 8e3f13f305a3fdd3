"""Tensor parallelism: losses and gradients are those of one process, with the fewest collectives."""

from __future__ import annotations

import copy

import pytest
from rank_threads import on_threads

import taeda
import taeda.distributed as dist
from taeda import nn
from taeda.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from taeda.distributed.tensor.debug import CommDebugMode
from taeda.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from taeda.nn import functional as F


class Block(nn.Module):
    """A norm and two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.w1, self.w2 = nn.Linear(6, 12), nn.Linear(12, 6)

    def forward(self, x):
        return x + self.w2(self.w1(self.norm(x)).relu())


class Model(nn.Module):
    """Words, two blocks, scores."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(12, 6)
        self.blocks = nn.ModuleList([Block(), Block()])
        self.scores = nn.Linear(6, 12, bias=False)

    def forward(self, words):
        x = self.words(words)
        for block in self.blocks:
            x = block(x)
        return self.scores(x)


def made(seed=5):
    taeda.manual_seed(seed)
    return Model().double()


WORDS = taeda.arange(20).view(4, 5) * 7 % 12
MLP = {"blocks.*.w1": ColwiseParallel(), "blocks.*.w2": RowwiseParallel()}
PLANS = {
    "layers": MLP,
    "words by rows": {**MLP, "words": RowwiseParallel(input_layouts=Replicate())},
    "words by columns": {**MLP, "words": ColwiseParallel(output_layouts=Replicate())},
    "sequence": {
        "words": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
        "blocks.*": PrepareModuleInputOutput(
            input_layouts=Shard(1), desired_input_layouts=Shard(1),
            output_layouts=Shard(1), desired_output_layouts=Shard(1), use_local_output=False),
        "blocks.*.norm": SequenceParallel(),
        "blocks.*.w1": ColwiseParallel(input_layouts=Shard(1), use_local_output=False),
        "blocks.*.w2": RowwiseParallel(output_layouts=Shard(1), use_local_output=False),
        "scores": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
    },
    "scores by classes": {**MLP, "scores": ColwiseParallel(use_local_output=False)},
}  # fmt: skip


def loss_of(scores):
    return F.cross_entropy(scores.flatten(0, 1), WORDS.flatten())


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("name", PLANS)
def test_steps_are_those_of_one_process(name, size):
    if name == "sequence" and size == 2:
        words = WORDS[:, :4]  # plain parts are even
    else:
        words = WORDS

    def train(model, inside):
        optimizer = taeda.optim.AdamW(model.parameters(), lr=0.01)
        losses = []
        for _ in range(3):
            optimizer.zero_grad()
            with inside():
                scores = model(words)
                loss = F.cross_entropy(scores.flatten(0, 1), words.flatten())
                loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            optimizer.step()
            losses += [loss.item(), norm.item()]
        return losses

    import contextlib

    wanted = train(made(), contextlib.nullcontext)
    models = [made() for _ in range(size)]

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (size,))
        model = parallelize_module(models[rank], mesh, copy.deepcopy(PLANS[name]))
        return train(model, loss_parallel)

    for found in on_threads(size, work):
        assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("below", [False, True])
def test_a_pair_of_layers_is_one_sum_forward_and_one_backward_for_what_lies_below(below):
    models = [made() for _ in range(2)]

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (2,))
        plan = {"w1": ColwiseParallel(), "w2": RowwiseParallel()}
        block = parallelize_module(models[rank].blocks[0], mesh, plan)
        block.norm.requires_grad_(below)
        with CommDebugMode() as forward:
            loss = block(taeda.ones(3, 6, dtype=taeda.float64)).square().sum()
        with CommDebugMode() as backward:
            loss.backward()
        placements = block.w1.weight.grad.placements
        return forward.get_comm_counts(), backward.get_comm_counts(), placements

    for forward, backward, placements in on_threads(2, work):
        assert forward == {"all_reduce": 1}
        assert backward == ({"all_reduce": 1} if below else {})
        assert placements == (Shard(0),)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_losses_of_cut_classes(reduction, weighted, smoothing):
    taeda.manual_seed(1)
    scores = taeda.randn(6, 7, dtype=taeda.float64)
    target = taeda.tensor([0, 6, -100, 3, 2, 6])
    weight = taeda.rand(7, dtype=taeda.float64) if weighted else None
    plain = scores.clone().requires_grad_()
    loss = F.cross_entropy(plain, target, weight, reduction=reduction, label_smoothing=smoothing)
    loss.sum().backward()

    def work(rank):
        mesh = dist.init_device_mesh("cpu", (3,))
        cut = distribute_tensor(scores, mesh, [Shard(1)]).requires_grad_()
        with loss_parallel(), CommDebugMode() as mode:
            mine = F.cross_entropy(
                cut, target, weight, reduction=reduction, label_smoothing=smoothing
            )
            mine.sum().backward()
        assert smoothing or set(mode.get_comm_counts()) == {"all_reduce"}
        return mine.full_tensor().tolist(), cut.grad.full_tensor().tolist()

    for value, grad in on_threads(3, work):
        assert taeda.allclose(taeda.tensor(value), loss.detach().float(), rtol=1e-6)
        assert taeda.allclose(taeda.tensor(grad), plain.grad.float(), atol=1e-7)


def test_what_a_plan_refuses_and_warns_of():
    def work(rank):
        mesh = dist.init_device_mesh("cpu", (1,))
        model = made()
        with pytest.raises(TypeError, match="ParallelStyle"):
            parallelize_module(model, mesh, 3)
        with pytest.raises(TypeError, match="ParallelStyle"):
            parallelize_module(model, mesh, {"scores": 3})
        with pytest.raises(NotImplementedError, match="Linear and Embedding"):
            parallelize_module(model, mesh, ColwiseParallel())
        with pytest.raises(ValueError, match="2 dimensions"):
            parallelize_module(model, dist.init_device_mesh("cpu", (1, 1)), ColwiseParallel())
        with pytest.warns(UserWarning, match="nothing is cut"):
            assert parallelize_module(model, mesh) is model
        with pytest.warns(UserWarning, match=r"'blocks.\*.w7'.*blocks.1.w2"):
            parallelize_module(model, mesh, {"blocks.*.w7": ColwiseParallel()})
        with pytest.raises(TypeError, match="placement"):
            ColwiseParallel(input_layouts=0)
        with pytest.raises(AssertionError, match="one for each"):
            PrepareModuleInput(input_layouts=(Shard(0),), desired_input_layouts=(Shard(0), None))
        with pytest.raises(AssertionError, match="one for each"):
            PrepareModuleOutput(output_layouts=(Shard(0),), desired_output_layouts=())
        optimizer = taeda.optim.SGD(model.parameters(), lr=1)
        parallelize_module(model, mesh, {"scores": ColwiseParallel()})
        assert isinstance(model.scores.weight, DTensor)
        model(WORDS).sum().backward()
        with pytest.raises(RuntimeError, match="parallelize_module has put"):
            optimizer.step()

    on_threads(1, work)
