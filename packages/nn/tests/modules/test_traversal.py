"""Lists of what is in a module, and members by path."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 3)
        self.b = nn.Sequential(nn.BatchNorm1d(3), nn.ReLU())
        self.tied = self.a
        self.own = nn.Parameter(taeda.ones(1))
        self.empty = None
        self.register_module("none", None)


def names(pairs):
    return [name for name, _ in pairs]


OWN = ["own", "a.weight", "a.bias", "b.0.weight", "b.0.bias"]


def test_parameters_come_in_order_and_once():
    net = Net()
    assert names(net.named_parameters()) == OWN
    assert names(net.named_parameters(remove_duplicate=False)) == [*OWN, "tied.weight", "tied.bias"]
    assert names(net.named_parameters(recurse=False)) == ["own"]
    assert names(net.named_parameters(prefix="p"))[:2] == ["p.own", "p.a.weight"]
    assert len(list(net.parameters())) == 5


def test_buffers():
    found = ["b.0.running_mean", "b.0.running_var", "b.0.num_batches_tracked"]
    assert names(Net().named_buffers()) == found
    assert list(Net().buffers(recurse=False)) == []


def test_modules():
    net = Net()
    assert names(net.named_children()) == ["a", "b"]
    assert names(net.named_modules()) == ["", "a", "b", "b.0", "b.1"]
    assert names(net.named_modules(remove_duplicate=False)) == ["", "a", "b", "b.0", "b.1", "tied"]
    assert next(net.modules()) is net
    assert list(net.children()) == [net.a, net.b]


def test_a_shared_tensor_in_two_modules_comes_once():
    net = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    net[1].weight = net[0].weight
    assert names(net.named_parameters()) == ["0.weight"]
    assert list(net.state_dict()) == ["0.weight", "1.weight"]


def test_members_by_path():
    net = Net()
    assert net.get_submodule("") is net
    assert net.get_submodule("b.0") is net.b[0]
    assert net.get_parameter("b.0.weight") is net.b[0].weight
    assert net.get_buffer("b.0.running_mean") is net.b[0].running_mean


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda net: net.get_submodule("b.7"), "Sequential has no attribute `7`"),
        (lambda net: net.get_submodule("a.weight"), "`weight` is not an nn.Module"),
        (lambda net: net.get_parameter("a.nothing"), "Linear has no attribute `nothing`"),
        (lambda net: net.get_parameter("b.0.running_mean"), "not an nn.Parameter"),
        (lambda net: net.get_buffer("a.weight"), "not a buffer"),
        (lambda net: net.set_submodule("x.y", nn.ReLU()), "Net has no attribute `x`"),
        (
            lambda net: net.set_submodule("new", nn.ReLU(), strict=True),
            "Net has no attribute `new`",
        ),
        (lambda net: net.set_submodule("own", nn.ReLU()), "`own` is not an nn.Module"),
    ],
)
def test_unknown_paths(call, text):
    with pytest.raises(AttributeError, match=text):
        call(Net())


def test_set_submodule():
    net = Net()
    net.set_submodule("b.1", nn.Tanh())
    assert isinstance(net.b[1], nn.Tanh)
    net.set_submodule("new", nn.ReLU())
    assert isinstance(net.new, nn.ReLU)
    with pytest.raises(ValueError, match="without a target name"):
        net.set_submodule("", nn.ReLU())
    with pytest.raises(ValueError, match=r"not an nn\.Module"):
        net.set_submodule("a", 3)
