"""Calls of the module of a program: which kinds are known, whose tensors are read, what results are."""

from __future__ import annotations

import copy
import pickle

import pytest
from program_models import normal

import taeda
from taeda import nn
from taeda.export import Dim, export
from taeda.export._program_module import KINDS, tensor_of


def layers():
    model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    return model, export(model, (normal(5, 3),), dynamic_shapes=({0: Dim("n", max=64)},)).module()


def test_more_kinds_than_are_known():
    model, run = layers()
    for _ in range(2):
        for n in range(1, KINDS + 4):
            x = normal(n, 3)
            assert run(x).equal(model(x))
    assert len(run._way.kinds.known) == KINDS
    with pytest.raises(AssertionError, match="to 64, got 65"):
        run(normal(65, 3))


def test_a_kind_is_more_than_sizes():
    _, run = layers()
    x = normal(5, 3)
    for _ in range(2):
        run(x)
        for other in (x.double(), x[None], normal(5, 4)):
            with pytest.raises(AssertionError, match="Guard failed"):
                run(other)
    assert run(x.t().contiguous().t()).equal(run(x))


def test_tensors_that_were_replaced_are_read():
    model, run = layers()
    x = normal(2, 3)
    run(x)
    run.get_submodule("0").weight = nn.Parameter(taeda.zeros(4, 3))
    assert run(x).equal(model[2](model[0].bias.expand(2, 4).relu()))
    run.add_module("2", nn.Linear(4, 2))
    assert run(x).equal(run.get_submodule("2")(model[0].bias.expand(2, 4).relu()))
    taeda.nn.utils.parametrize.register_parametrization(
        run.get_submodule("2"), "weight", nn.Flatten(0, -2)
    )
    before = run(x)
    assert before.equal(run.get_submodule("2")(model[0].bias.expand(2, 4).relu()))


@pytest.mark.parametrize(
    "copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m.state_dict()))]
)
def test_copies_have_tensors_of_their_own(copied):
    model, run = layers()
    x = normal(2, 3)
    first = run(x)
    other = copied(run)
    if isinstance(other, nn.Module):
        with taeda.no_grad():
            tensor_of(other, "0.weight").zero_()
        assert not other(x).equal(first)
    assert run(x).equal(first) and model(x).equal(first)


def test_functional_call_gives_tensors_for_one_call():
    _, run = layers()
    x = normal(2, 3)
    first = run(x)
    zeros = {n: taeda.zeros_like(p) for n, p in run.named_parameters()}
    assert taeda.func.functional_call(run, zeros, (x,)).tolist() == [[0.0, 0.0]] * 2
    assert run(x).equal(first)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: x,
        lambda x: (x, x + 1),
        lambda x: [x, (x + 1, {"a": x - 1})],
        lambda x: {"b": x, "a": None},
        lambda x: (x,),
    ],
)
def test_results_are_the_trees_that_they_were(made):
    class Made(nn.Module):
        def forward(self, x):
            return made(x * 2)

    x = normal(3)
    got, wanted = export(Made(), (x,)).module()(x), made(x * 2)
    leaves, spec = taeda.utils._pytree.tree_flatten(got)
    expected, shape = taeda.utils._pytree.tree_flatten(wanted)
    assert spec == shape and type(got) is type(wanted)
    assert all(a is b or a.equal(b) for a, b in zip(leaves, expected, strict=True))


def test_arguments_in_trees():
    class Takes(nn.Module):
        def forward(self, pair, *, options):
            return pair[0] * options["a"] + pair[1][0]

    args, kwargs = ((normal(3), [normal(3)]),), {"options": {"a": normal(3), "b": 2}}
    run = export(Takes(), args, kwargs).module()
    assert run(*args, **kwargs).equal(Takes()(*args, **kwargs))
    with pytest.raises(AssertionError, match="b == 2, got 3"):
        run(*args, options={"a": normal(3), "b": 3})
    with pytest.raises(AssertionError, match="exported for"):
        run(*args, options={"a": normal(3)})
