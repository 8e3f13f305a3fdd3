"""Sequential, ModuleList, ModuleDict, ParameterList and ParameterDict."""

from __future__ import annotations

from collections import OrderedDict

import pytest

import taeda
from taeda import nn


def kinds(modules):
    return [type(module).__name__ for module in modules]


def make(kind=nn.Sequential):
    modules = [nn.ReLU(), nn.Tanh(), nn.Sigmoid()]
    return kind(*modules) if kind is nn.Sequential else kind(modules)


BOTH = pytest.mark.parametrize("kind", [nn.Sequential, nn.ModuleList])


# ---- sequences of modules ----


def test_sequential_calls_in_order():
    assert nn.Sequential()(5) == 5
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.ReLU()))
    x = taeda.randn(4, 2)
    assert taeda.equal(net(x), taeda.relu(net.a(x)))


@BOTH
def test_indices_and_slices(kind):
    modules = make(kind)
    assert len(modules) == 3
    assert modules[0] is next(iter(modules))
    assert type(modules[-1]) is nn.Sigmoid
    assert type(modules[1:]) is kind
    assert kinds(modules[::2]) == ["ReLU", "Sigmoid"]
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"index {index} is out of range"):
            modules[index]


@BOTH
def test_changes(kind):
    modules = make(kind)
    modules[1] = nn.GELU()
    modules.insert(1, nn.Identity())
    assert kinds(modules) == ["ReLU", "Identity", "GELU", "Sigmoid"]
    del modules[0]
    del modules[1:2]
    assert kinds(modules) == ["Identity", "Sigmoid"]
    assert list(modules._modules) == ["0", "1"]
    assert modules.append(nn.ReLU()) is modules
    assert modules.extend([nn.Tanh()]) is modules
    assert type(modules.pop(1)) is nn.Sigmoid
    assert kinds(modules) == ["Identity", "ReLU", "Tanh"]
    assert modules[0] is modules._modules["0"]


def test_sums_and_products():
    net = make()
    assert kinds(net + nn.Sequential(nn.GELU())) == ["ReLU", "Tanh", "Sigmoid", "GELU"]
    assert len(net * 2) == len(2 * net) == 6
    net += nn.Sequential(nn.GELU())
    net *= 2
    assert len(net) == 8
    longer = make(nn.ModuleList) + nn.ModuleList([nn.GELU()])
    assert kinds(longer)[-1] == "GELU"


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: make() + 3, ValueError, "only objects of Sequential class, but <class 'int'>"),
        (lambda: make() * 0, ValueError, "Non-positive multiplication factor 0"),
        (lambda: make() * "a", TypeError, "unsupported operand"),
        (lambda: make().insert(7, nn.ReLU()), IndexError, "Index out of range: 7"),
        (lambda: make().insert(0, 3), TypeError, "should be of type"),
        (lambda: nn.Sequential(3), TypeError, "int is not a Module"),
        (lambda: nn.ModuleList(3), TypeError, "iterable, but got int"),
        (lambda: nn.ModuleDict(3), TypeError, "key/value pairs, but got int"),
        (lambda: nn.ModuleDict([(1, 2, 3)]), ValueError, "#0 has length 3; 2 is required"),
        (lambda: nn.ModuleDict([5]), TypeError, "#0 should be Iterable"),
        (lambda: nn.ModuleDict({"keys": nn.ReLU()}), KeyError, "'keys' already exists"),
        (lambda: nn.ModuleDict({})["a"], KeyError, "a"),
        (lambda: nn.ModuleList()(1), NotImplementedError, "ModuleList"),
        (lambda: nn.ParameterList(taeda.ones(2)), TypeError, "iterable, but got Tensor"),
        (lambda: nn.ParameterList([1])[3], IndexError, "index 3 is out of range"),
        (lambda: nn.ParameterDict()["b"], AttributeError, "no attribute 'b'"),
        (
            lambda: nn.ParameterDict({3: taeda.ones(1)}),
            TypeError,
            "keys of a ParameterDict are strings",
        ),
        (lambda: nn.ParameterDict()(1), RuntimeError, "ParameterDict should not be called"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_equal_neighbours_are_written_once():
    modules = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Sequential(nn.Tanh())])
    assert repr(modules) == (
        "ModuleList(\n  (0-1): 2 x ReLU()\n  (2): Sequential(\n    (0): Tanh()\n  )\n)"
    )
    assert repr(nn.ModuleList()) == "ModuleList()"


# ---- modules by name ----


def test_module_dict():
    modules = nn.ModuleDict({"b": nn.ReLU(), "a": nn.Tanh()})
    assert list(modules) == list(modules.keys()) == ["b", "a"]
    modules["c"] = nn.GELU()
    modules.update([("d", nn.Sigmoid())])
    assert "c" in modules
    assert kinds(modules.values()) == ["ReLU", "Tanh", "GELU", "Sigmoid"]
    assert type(modules.pop("b")) is nn.ReLU
    del modules["a"]
    assert [name for name, _ in modules.items()] == ["c", "d"]
    modules.clear()
    assert len(modules) == 0


# ---- parameters ----


def test_parameters_are_found_beside_the_other_containers():
    from taeda.nn.modules import container

    assert container.ParameterList is nn.ParameterList
    assert container.ParameterDict is nn.ParameterDict
