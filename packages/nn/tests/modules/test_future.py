"""Converting and loading modules by new parameters, or by exchange."""

from __future__ import annotations

import pytest

import taeda
from taeda import __future__ as future
from taeda import nn


@pytest.fixture(params=["overwrite", "swap", "both"])
def way(request):
    future.set_overwrite_module_params_on_conversion(request.param != "swap")
    future.set_swap_module_params_on_conversion(request.param != "overwrite")
    yield request.param
    future.set_overwrite_module_params_on_conversion(False)
    future.set_swap_module_params_on_conversion(False)


def layer():
    module = nn.Linear(2, 3)
    module(taeda.ones(1, 2)).sum().backward()
    module.weight.note = "kept"
    return module


def test_conversion(way):
    module = layer()
    weight, grad = module.weight, module.weight.grad
    module.double()
    assert module.weight.dtype is module.weight.grad.dtype is taeda.float64
    assert isinstance(module.weight, nn.Parameter) and module.weight.requires_grad
    assert (module.weight is weight) is (way != "overwrite")
    assert (module.weight.grad is grad) is (way != "overwrite")
    assert taeda.equal(module.weight.grad, taeda.ones(3, 2).double())
    module.to_empty(device="meta")
    assert module.weight.is_meta
    assert (module.weight is weight) is (way != "overwrite")


def test_without_either_memory_is_exchanged():
    module = layer()
    weight = module.weight
    module.double()
    assert module.weight is weight and module.weight.note == "kept"
    assert not future.get_swap_module_params_on_conversion()
    assert not future.get_overwrite_module_params_on_conversion()


@pytest.mark.parametrize("assign", [False, True])
def test_loading(way, assign):
    module, given = layer(), {"weight": taeda.ones(3, 2).double(), "bias": taeda.zeros(3)}
    weight = module.weight
    assert not module.load_state_dict(given, assign=assign).missing_keys
    assert (module.weight == 1).all() and module.weight.requires_grad
    assert isinstance(module.weight, nn.Parameter)
    assert module.weight.dtype is (taeda.float64 if assign else taeda.float32)
    assert (module.weight is weight) is (way != "overwrite" or not assign)
    module.weight.detach().zero_()
    assert given["weight"].any() is not assign or way == "overwrite"


def test_a_subclass_decides_how_it_is_loaded(way):
    class Doubled(taeda.Tensor):
        def module_load(self, other, assign=False):
            return (other * 2).as_subclass(Doubled)

    module = nn.Module()
    module.weight = nn.Buffer(taeda.zeros(2).as_subclass(Doubled))
    module.load_state_dict({"weight": taeda.ones(2)})
    assert module.weight.tolist() == ([1, 1] if way == "overwrite" else [2, 2])


def test_a_parameter_in_a_live_graph_is_not_exchanged():
    future.set_swap_module_params_on_conversion(True)
    try:
        module = nn.Linear(2, 2)
        out = module(taeda.ones(1, 2))
        with pytest.raises(RuntimeError, match=r"Couldn't swap Linear.weight: .*live graph"):
            module.double()
        assert out.requires_grad
    finally:
        future.set_swap_module_params_on_conversion(False)
