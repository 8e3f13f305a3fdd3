"""Modules change: parameters, modes, children, hooks."""

from __future__ import annotations

import taeda
from taeda import nn

from ._scenario import data, kept, scenario, thrice


class Net(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        taeda.manual_seed(0)
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        self.dropout = nn.Dropout(dropout)
        self.power = 1

    def forward(self, x):
        x = self.first(x).relu() ** self.power
        return self.second(self.dropout(x))


def inference(c, net):
    f = c(net)

    def run(x):
        with taeda.no_grad():
            return f(x)

    return run


@scenario("train() and eval()")
def s_train_eval(c):
    net = Net(0.5)
    f = inference(c, net)
    taeda.manual_seed(1)
    found = thrice(f, data())
    net.eval()
    found += thrice(f, data())
    net.train()
    taeda.manual_seed(1)
    return found + thrice(f, data())


@scenario("a number of a module")
def s_module_number(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.power = 2
    return found + thrice(f, data())


@scenario("a child is exchanged")
def s_child(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    taeda.manual_seed(5)
    net.second = nn.Linear(8, 3)
    return found + thrice(f, data())


@scenario("a parameter is exchanged")
def s_parameter(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.first.weight = nn.Parameter(data(8, 4, seed=9))
    return found + thrice(f, data())


@scenario("a parameter is written in place")
def s_parameter_written(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    with taeda.no_grad():
        net.first.weight.zero_()
    return found + thrice(f, data())


@scenario("load_state_dict")
def s_load_state(c):
    net, other = Net(), Net()
    with taeda.no_grad():
        other.first.weight.mul_(3)
    f = inference(c, net)
    found = thrice(f, data())
    net.load_state_dict(other.state_dict())
    found += thrice(f, data())
    net.load_state_dict(Net().state_dict(), assign=True)
    return found + thrice(f, data())


@scenario("the dtype of a module")
def s_double(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.double()
    return found + thrice(f, data().double())


@scenario("a forward hook is added later, and removed")
def s_forward_hook(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    handle = net.first.register_forward_hook(lambda m, a, out: out * 2)
    found += thrice(f, data())
    handle.remove()
    return found + thrice(f, data())


@scenario("a global forward hook")
def s_global_hook(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    handle = nn.modules.module.register_module_forward_hook(lambda m, a, out: out + 1)
    try:
        found += thrice(f, data())
    finally:
        handle.remove()
    return found + thrice(f, data())


@scenario("forward of a class is replaced")
def s_forward_replaced(c):
    class Own(Net):
        pass

    net = Own()
    f = inference(c, net)
    found = thrice(f, data())
    Own.forward = lambda self, x: self.first(x)
    return found + thrice(f, data())


@scenario("forward of one module is replaced")
def s_forward_of_instance(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.forward = lambda x: x * 5
    return found + thrice(f, data())


@scenario("a Sequential grows")
def s_sequential(c):
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    f = inference(c, net)
    found = thrice(f, data())
    net.append(nn.Tanh())
    return found + thrice(f, data())


@scenario("a ModuleList that is walked through")
def s_module_list(c):
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            taeda.manual_seed(0)
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).tanh()
            return x

    net = Stack()
    f = inference(c, net)
    found = thrice(f, data())
    net.layers.append(nn.Linear(4, 4))
    return found + thrice(f, data())


@scenario("statistics of batch norm in training")
def s_batch_norm(c):
    net = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU())
    f = inference(c, net)
    found = thrice(f, data(8, 4))
    found.append(kept(list(net.state_dict().values())))
    net.eval()
    return found + thrice(f, data(8, 4))


@scenario("an attribute of a hidden dict of a module")
def s_module_dict_attribute(c):
    class Own(Net):
        def __init__(self):
            super().__init__()
            self.options = {"k": 2.0}

        def forward(self, x):
            return self.first(x) * self.options["k"]

    net = Own()
    f = inference(c, net)
    found = thrice(f, data())
    net.options["k"] = 5.0
    return found + thrice(f, data())


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.by = 2.0

    def forward(self, x):
        return x * self.by


@scenario("a number of a parametrization")
def s_parametrization(c):
    net = Net()
    nn.utils.parametrize.register_parametrization(net.first, "weight", Scaled())
    f = inference(c, net)
    found = thrice(f, data())
    net.first.parametrizations.weight[0].by = 3.0
    found += thrice(f, data())
    nn.utils.parametrize.remove_parametrizations(net.first, "weight")
    return found + thrice(f, data())


@scenario("a module called with other parameters (`functional_call`), and its own are exchanged")
def s_functional_call(c):
    net = Net()
    f = c(lambda given, x: taeda.func.functional_call(net, given, (x,)))
    given = {name: p.detach() * 2 for name, p in net.named_parameters() if "first" in name}
    found = thrice(f, given, data())
    net.second.weight = nn.Parameter(taeda.ones(2, 8))
    return found + thrice(f, given, data()) + thrice(f, {}, data())
