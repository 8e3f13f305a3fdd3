"""Plans: what a recorded call reads, writes, gives back, and when running it again changes nothing."""

from __future__ import annotations

import dataclasses

import pytest

import taeda
from taeda import nn


def planned(program, *args):
    """The plan of the one graph that a program has. The first call of a process may import modules,
    and has none then.
    """
    compiled = taeda.compile(program, backend="aot_eager")
    while not compiled.__taeda_compiled__.traces and len(compiled.__taeda_compiled__.reasons) < 3:
        compiled(*args)
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    return trace.plan


def test_a_plan_never_changes():
    plan = planned(lambda x: x + 1, taeda.ones(2))
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.steps = []
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.inputs.every = []


def test_inputs_are_arguments_and_what_guards_keep():
    weight = taeda.ones(3)
    plan = planned(lambda x: x * weight, taeda.ones(3))
    assert [kind for kind, _ in plan.inputs.every] == ["argument", "kept"]
    assert plan.inputs.varying == [(0, "argument", 0)]
    assert plan.inputs.kept[1] is weight
    assert plan.inputs.tied == [None]


def test_writes_and_what_a_run_leaves_behind():
    def program(x, y):
        z = (y * 2).sin()
        x.add_(z)
        return z

    plan = planned(program, taeda.ones(3), taeda.ones(3))
    assert plan.writes == [0] and not plan.repeats
    assert [step.op for step in plan.steps[: plan.first_write]] == ["mul.Tensor", "sin"]


def test_gradients_are_effects():
    layer = nn.Linear(2, 1, bias=False)

    def program(x):
        layer.weight.grad = None
        layer(x).sum().backward()

    plan = planned(program, taeda.ones(1, 2))
    ((leaf, output),) = plan.effects
    assert plan.inputs.every[leaf][1] is layer.weight
    assert output == 0 and len(plan.outputs) == 1
    assert [numbers for numbers, _ in plan.inputs.gradients] == [(leaf,)]


def test_what_draws_is_put_back_and_does_not_repeat():
    plan = planned(lambda x, index: x[index] + taeda.rand(3), taeda.ones(3), taeda.arange(3))
    assert plan.generators == [taeda.default_generator]
    assert plan.rewinds == plan.generators  # an index may be out of range
    assert not plan.repeats and not plan.repeats_from_draws


def test_results_that_want_gradients_by_their_place():
    x = taeda.ones(3, requires_grad=True)
    plan = planned(lambda x: (x.detach() + 1, [x.sin()]), x)
    assert plan.grown_places == [1] and plan.grown_outputs == {0: 1}
    assert plan.backward is not None and not plan.consumed_outputs
