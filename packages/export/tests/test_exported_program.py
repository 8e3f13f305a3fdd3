"""`ExportedProgram`: its tensors and its module."""

from __future__ import annotations

import pytest
from program_models import Convolutions, normal

import taeda
from taeda import nn
from taeda.export import export
from taeda.utils._pytree import tree_unflatten


def test_tensors_are_those_of_the_module():
    model = Convolutions()
    program = export(model, (normal(2, 3, 6, 6),))
    mine = program.module()
    assert dict(program.named_parameters()).keys() == dict(model.named_parameters()).keys()
    assert all(a is b for a, b in zip(program.parameters(), model.parameters(), strict=True))
    assert [n for n, _ in program.named_buffers()] == [n for n, _ in model.named_buffers()]
    assert mine.state_dict().keys() == model.state_dict().keys()
    assert mine.get_submodule("norm").running_mean is model.norm.running_mean


def test_modes_of_training_are_refused():
    run = export(nn.Linear(2, 2), (normal(3, 2),)).module()
    for change in (run.train, run.eval):
        with pytest.raises(NotImplementedError, match="decided when it is exported"):
            change()


def test_a_detached_tensor_stays_detached():
    model = nn.Linear(2, 2)
    twice = nn.Module()
    twice.layer = model
    twice.forward = lambda x: twice.layer(x) * twice.layer(x).detach()
    x = normal(3, 2)
    export(twice, (x,)).module()(x).sum().backward()
    got, model.weight.grad = model.weight.grad.clone(), None
    twice.forward(x).sum().backward()
    assert got.equal(model.weight.grad)


def test_a_region_without_gradients_gives_none():
    class Region(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            with taeda.no_grad():
                y = self.layer(x).relu() + 1
            return y * self.layer(x), y.max(0)[0]

    model, x = Region(), normal(3, 2)
    run = export(model, (x,)).module()
    assert not run(x)[1].requires_grad
    run(x)[0].sum().backward()
    got, model.layer.weight.grad = model.layer.weight.grad.clone(), None
    model(x)[0].sum().backward()
    assert got.equal(model.layer.weight.grad)


def test_a_program_without_arguments():
    made = nn.Module()
    made.w = nn.Parameter(taeda.ones(2))
    made.forward = lambda: made.w * 2
    assert export(made, ()).module()().tolist() == [2.0, 2.0]


def test_the_trees_of_a_call():
    class Two(nn.Module):
        def forward(self, x, *, scale):
            return {"a": x * scale, "b": (x,)}

    program = export(Two(), (taeda.ones(2),), {"scale": taeda.ones(2)})
    args, kwargs = tree_unflatten([1, 2], program.call_spec.in_spec)
    assert args == (1,) and kwargs == {"scale": 2}
    assert tree_unflatten([3, 4], program.call_spec.out_spec) == {"a": 3, "b": (4,)}
