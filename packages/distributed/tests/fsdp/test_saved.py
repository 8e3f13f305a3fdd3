"""What the graph keeps in a unit's forward, among hooks of others."""

from __future__ import annotations

import pytest
from rank_threads import on_threads

import taeda
from taeda import nn
from taeda.autograd.graph import saved_tensors_hooks
from taeda.distributed.fsdp import fully_shard


class Layer(nn.Module):
    """A product whose graph keeps the weight in several forms, and an activation."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(taeda.arange(12.0).view(4, 3))

    def forward(self, x):
        return (x @ self.weight.t()).exp() * self.weight[1:2, :].t().reshape(-1).sum() @ self.weight


def test_hooks_around_a_unit_get_activations_and_no_parameters():
    def work(rank):
        model = fully_shard(Layer())
        shapes = []

        def pack(tensor):
            shapes.append(tuple(tensor.shape))
            return tensor.clone()

        with saved_tensors_hooks(pack, lambda tensor: tensor):
            out = model(taeda.full((2, 3), 0.01, requires_grad=True))
        assert shapes and (3, 4) not in shapes and (4, 3) not in shapes
        out.sum().backward()
        return model.weight.grad.full_tensor().tolist()

    plain = Layer()
    plain(taeda.full((2, 3), 0.01)).sum().backward()
    for got in on_threads(2, work):
        assert taeda.allclose(taeda.tensor(got), plain.weight.grad)


def test_hooks_inside_a_unit_hold():
    class Inside(Layer):
        def forward(self, x):
            with saved_tensors_hooks(lambda t: ("kept", t.clone()), lambda kept: kept[1]):
                return super().forward(x)

    def work(rank):
        model = fully_shard(Inside())
        model(taeda.full((2, 3), 0.01)).sum().backward()
        return model.weight.grad.full_tensor().tolist()

    plain = Layer()
    plain(taeda.full((2, 3), 0.01)).sum().backward()
    for got in on_threads(2, work):
        assert taeda.allclose(taeda.tensor(got), plain.weight.grad)


@pytest.mark.parametrize("twice", [False, True])
def test_a_graph_may_be_kept_for_a_second_backward(twice):
    def work(rank):
        model = fully_shard(nn.Linear(2, 2, bias=False))
        loss = model(taeda.ones(1, 2)).square().sum()
        loss.backward(retain_graph=twice)
        first = model.weight.grad.full_tensor().clone()
        if not twice:
            with pytest.raises(RuntimeError, match="second time"):
                loss.backward()
            return
        loss.backward()
        assert taeda.allclose(model.weight.grad.full_tensor(), first * 2)

    on_threads(2, work)
