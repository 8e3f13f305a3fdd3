"""Whole steps of training."""

from __future__ import annotations

import taeda
import taeda.nn.functional as F
from taeda import nn

from ._scenario import data, kept, scenario
from .modules import Net


def training(c, make_optimizer, change=None, steps=8, zero=True):
    net = Net(0.1)
    optimizer = make_optimizer(net.parameters())

    def step(x, y):
        if zero:
            optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = c(step)
    taeda.manual_seed(2)
    found = []
    for n in range(steps):
        if n == steps // 2 and change is not None:
            change(net, optimizer)
        found.append(run(data(6, 4, seed=n), taeda.arange(6) % 2).item())
    return [*found, kept(list(net.state_dict().values()))]


@scenario("a training step with Adam")
def s_adam(c):
    return training(c, lambda p: taeda.optim.Adam(p, lr=0.01))


@scenario("a training step with SGD and momentum")
def s_sgd(c):
    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))


@scenario("a training step with RMSprop")
def s_rmsprop(c):
    return training(c, lambda p: taeda.optim.RMSprop(p, lr=0.01, momentum=0.5, centered=True))


@scenario("batches are slices of one tensor")
def s_slices(c):
    taeda.manual_seed(0)
    rows, net = data(40, 4), nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = taeda.optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    run = c(step)
    found = [run(rows[n : n + 8]).item() for n in (0, 0, 0, 8, 16, 24, 3)]
    return [*found, kept(list(net.state_dict().values()))]


@scenario("the learning rate")
def s_learning_rate(c):
    def change(net, optimizer):
        optimizer.param_groups[0]["lr"] = 0.001

    return training(c, lambda p: taeda.optim.AdamW(p, lr=0.01), change)


@scenario("a parameter is frozen")
def s_frozen(c):
    def change(net, optimizer):
        net.first.weight.requires_grad_(False)

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change)


@scenario("gradients are cleared from outside")
def s_cleared(c):
    def change(net, optimizer):
        for p in net.parameters():
            p.grad = None

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change, zero=False)


@scenario("the state of an optimizer is loaded")
def s_optimizer_state(c):
    def change(net, optimizer):
        optimizer.load_state_dict(optimizer.state_dict())

    return training(c, lambda p: taeda.optim.Adam(p, lr=0.01), change)


@scenario("a group of parameters is added")
def s_group(c):
    def change(net, optimizer):
        optimizer.add_param_group({"params": list(net.second.parameters()), "lr": 0.5})

    def make(parameters):
        return taeda.optim.SGD(list(parameters)[:2], lr=0.1)

    return training(c, make, change)


@scenario("a hook on a parameter")
def s_parameter_hook(c):
    def change(net, optimizer):
        net.first.weight.register_hook(lambda grad: grad * 0)

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change)


@scenario("eval() in the middle of training")
def s_eval_training(c):
    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), lambda net, _: net.eval())


def clipped(c, dtype=taeda.float32, **options):
    net = Net(0.0).to(dtype)
    optimizer = taeda.optim.Adam(net.parameters(), lr=0.05)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(net.parameters(), 0.4, **options)
        optimizer.step()
        return loss.detach(), norm

    run, found = c(step), []
    for n in range(8):  # the norm is above the limit at first, and below it later
        x = data(6, 4, seed=n if n < 4 else 0).to(dtype)
        found += [kept(t) for t in run(x, taeda.arange(6) % 2)]
    return [*found, kept(list(net.state_dict().values()))]


@scenario("gradients are clipped by their norm")
def s_clipped(c):
    return clipped(c)


@scenario("gradients of float64 are clipped by their largest element")
def s_clipped_double(c):
    return clipped(c, taeda.float64, norm_type=float("inf"))
