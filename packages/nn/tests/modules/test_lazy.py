"""Layers that take their sizes from the first input."""

from __future__ import annotations

import copy
import io
import pickle

import pytest

import taeda
from taeda import nn

CASES = [
    (lambda: nn.LazyLinear(3), (2, 5), nn.Linear, {"in_features": 5}),
    (lambda: nn.LazyBatchNorm1d(), (4, 5), nn.BatchNorm1d, {"num_features": 5}),
    (lambda: nn.LazyBatchNorm2d(), (2, 5, 3, 3), nn.BatchNorm2d, {"num_features": 5}),
    (lambda: nn.LazyBatchNorm3d(bias=False), (2, 5, 3, 3, 3), nn.BatchNorm3d, {"num_features": 5}),
    (lambda: nn.LazyInstanceNorm1d(), (2, 5, 4), nn.InstanceNorm1d, {"num_features": 5}),
    (lambda: nn.LazyInstanceNorm2d(), (2, 5, 4, 4), nn.InstanceNorm2d, {"num_features": 5}),
    (lambda: nn.LazyInstanceNorm3d(), (2, 5, 2, 2, 2), nn.InstanceNorm3d, {"num_features": 5}),
]
IDS = [case[2].__name__ for case in CASES]


@pytest.mark.parametrize(("make", "shape", "kind", "facts"), CASES, ids=IDS)
def test_the_first_call_makes_an_ordinary_layer(make, shape, kind, facts):
    lazy = make()
    assert lazy.cls_to_become is kind
    assert lazy.has_uninitialized_params()
    before = list(lazy.parameters())
    lazy(taeda.randn(shape))
    assert type(lazy) is kind
    for name, value in facts.items():
        assert getattr(lazy, name) == value
    assert [a is b for a, b in zip(lazy.parameters(), before, strict=True)] == [True] * len(before)
    assert not lazy._forward_pre_hooks
    assert all(p.requires_grad and p.numel() for p in lazy.parameters())


@pytest.mark.parametrize(("make", "shape", "kind", "facts"), CASES, ids=IDS)
def test_a_state_dict_gives_shapes_too(make, shape, kind, facts):
    source, lazy = make(), make()
    source(taeda.randn(shape))
    lazy.load_state_dict(source.state_dict())
    assert type(lazy) is not kind
    assert not lazy.has_uninitialized_params()
    lazy.eval()
    source.eval()
    x = taeda.randn(shape)
    assert taeda.equal(lazy(x), source(x))
    assert type(lazy) is kind
    for name, value in facts.items():
        assert getattr(lazy, name) == value


def test_before_the_first_call():
    lazy = nn.LazyLinear(3)
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        lazy.weight.shape
    assert lazy.to(taeda.float64).weight.dtype is taeda.float64
    assert repr(lazy) == "LazyLinear(in_features=0, out_features=3, bias=True)"
    with pytest.raises(RuntimeError, match="shape of an uninitialized"):
        nn.Linear(2, 3).load_state_dict(lazy.state_dict())


def test_copies_stay_lazy_and_independent():
    lazy = nn.LazyLinear(3)
    for other in (copy.deepcopy(lazy), pickle.loads(pickle.dumps(lazy))):
        other(taeda.ones(1, 4))
        assert type(other) is nn.Linear
        assert type(lazy) is nn.LazyLinear


def test_a_layer_must_initialize_all():
    class Forgets(nn.LazyLinear):
        def initialize_parameters(self, input):
            pass

    with pytest.raises(RuntimeError, match="not been fully initialized"):
        Forgets(3)(taeda.ones(1, 2))


# ---- states without shapes ----


@pytest.mark.parametrize("assign", [False, True])
def test_the_state_of_one_without_shapes_is_loaded_by_another(assign):
    source, target = nn.LazyLinear(3), nn.LazyLinear(3)
    keys = target.load_state_dict(source.state_dict(), assign=assign)
    assert str(keys) == "<All keys matched successfully>"
    assert target.has_uninitialized_params()
    assert target(taeda.ones(2, 5)).shape == (2, 3)


def test_a_state_without_shapes_does_not_fit_one_with_shapes():
    target = nn.Linear(5, 3)
    before = target.weight.tolist()
    with pytest.raises(RuntimeError, match="weight: the shape of an uninitialized tensor"):
        target.load_state_dict(nn.LazyLinear(3).state_dict())
    assert target.weight.tolist() == before


@pytest.mark.parametrize("format", ["safetensors", "pt"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.LazyLinear(3, dtype=taeda.float64),
        nn.LazyBatchNorm1d,
        lambda: nn.LazyConv2d(2, 1),
    ],
)
def test_the_state_before_the_first_call_is_saved_and_loaded(format, make):
    file = io.BytesIO()
    wanted = make().state_dict()
    taeda.save(wanted, file, format=format)
    file.seek(0)
    state = taeda.load(file)
    assert [(k, type(v), v.dtype) for k, v in state.items()] == [
        (k, getattr(nn.parameter, type(v).__name__, taeda.Tensor), v.dtype)
        for k, v in wanted.items()
    ]
    module = make()
    assert module.load_state_dict(state) == ([], [])
    assert module.has_uninitialized_params()


@pytest.mark.parametrize("format", ["safetensors", "pt"])
def test_a_state_without_values_does_not_fit_a_module_that_has_them(format):
    file = io.BytesIO()
    taeda.save(nn.LazyLinear(3).state_dict(), file, format=format)
    file.seek(0)
    module = nn.Linear(2, 3)
    with pytest.raises(RuntimeError, match="call the lazy module once before its state is saved"):
        module.load_state_dict(taeda.load(file))
