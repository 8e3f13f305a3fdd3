"""Tables of members: the truth about their names, written through to the module; and the number of
every change.
"""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import nn
from taeda.nn.modules import _members, _registration
from taeda.nn.modules import module as registry
from taeda.nn.modules.module import structure_epoch


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(taeda.ones(2))
        self.layer = nn.Linear(2, 2)
        self.register_buffer("total", taeda.zeros(1))
        self.size = 3


def test_writes_to_a_table_reach_the_attribute():
    net = Net()
    net._parameters["weight"] = fresh = nn.Parameter(taeda.zeros(1))
    assert net.weight is fresh
    assert net._parameters.pop("weight") is fresh
    assert not hasattr(net, "weight")
    net._buffers.update(total=None, more=taeda.ones(1))
    assert net.total is None
    assert net.more.item() == 1
    net._modules.clear()
    assert not hasattr(net, "layer")


def test_a_plain_dict_in_place_of_a_table_is_adopted():
    net = Net()
    net._parameters = dict(net._parameters)
    net.weight = fresh = nn.Parameter(taeda.zeros(1))
    assert net._parameters["weight"] is fresh is net.weight


CHANGES = {
    "a parameter": lambda net: setattr(net, "weight", nn.Parameter(taeda.ones(1))),
    "a name without a parameter": lambda net: net.register_parameter("none", None),
    "a child": lambda net: setattr(net, "new", nn.ReLU()),
    "a child of a child": lambda net: net.layer.add_module("inner", nn.ReLU()),
    "a member less": lambda net: delattr(net, "layer"),
    "an attribute": lambda net: setattr(net, "size", 5),
    "another value": lambda net: setattr(net, "text", "new"),
    "an attribute less": lambda net: delattr(net, "text"),
    "a tensor that is no member": lambda net: setattr(net, "plain", taeda.ones(1)),
    "another class": lambda net: setattr(net, "__class__", type("Other", (Net,), {})),
    "a property": lambda net: setattr(net, "shown", 4),
    "a buffer": lambda net: net.register_buffer("more", None),
    "a table": lambda net: setattr(net, "_parameters", dict(net._parameters)),
    "written into a table": lambda net: net._modules.update(layer=nn.Tanh()),
    "evaluation": lambda net: net.eval(),
    "evaluation of a child": lambda net: net.layer.train(False),
    "a state": lambda net: net.__setstate__(net.__getstate__()),
    "a conversion": lambda net: net.register_buffer("b", taeda.ones(1)) or net.double(),
    "a hook": lambda net: net.register_forward_hook(print),
    "a hook before": lambda net: net.register_forward_pre_hook(print, prepend=True),
    "a hook of backward": lambda net: net.register_full_backward_hook(print),
    "a hook of the state": lambda net: net.register_load_state_dict_post_hook(print),
    "a hook less": lambda net: net.kept.remove(),
    "a hook of all modules": lambda _: registry.register_module_forward_hook(id).remove(),
}


class Observed(Net):
    """With one of everything."""

    shown = property(lambda self: 1, lambda self, value: None)

    def __init__(self):
        super().__init__()
        self.text = "old"
        self.kept = self.register_forward_hook(lambda *_: None)

    def forward(self, x):
        return self.layer(x)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_of_a_module_counts(change):
    net = Observed()
    before = structure_epoch()
    change(net)
    assert structure_epoch() != before


def test_the_removal_of_a_hook_counts_in_a_copy_too():
    net = copy.deepcopy(Observed())
    handle = net.register_forward_hook(print)
    before = structure_epoch()
    handle.remove()
    assert structure_epoch() != before


def test_what_changes_nothing_does_not_count():
    net = Observed()
    net.plain = plain = taeda.ones(1)
    before = structure_epoch()
    net.text = net.text
    net.plain = plain
    net.train()
    net(taeda.ones(1, 2))
    net.state_dict()
    list(net.named_parameters())
    net.load_state_dict(net.state_dict())
    net.zero_grad()
    assert structure_epoch() == before


def test_the_number_changes_after_the_module(monkeypatch):
    """Who reads the epoch and then the module, while another thread changes it, will find another epoch."""
    net, child, seen = Net(), nn.ReLU(), []
    assert not net._forward_hooks

    def look():
        seen.append((net.size, net.weight.numel(), len(net._modules), len(net._forward_hooks)))

    for place in (_members, _registration):
        monkeypatch.setattr(place, "note_change", look)
    net.size = 4
    net.weight = nn.Parameter(taeda.ones(1))
    net.new = child
    net.register_forward_hook(print)
    assert seen == [(4, 2, 1, 0), (4, 1, 1, 0), (4, 1, 2, 0), (4, 1, 2, 1)]
