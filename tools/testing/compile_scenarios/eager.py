"""What must stay as it is: effects that a graph would lose."""

from __future__ import annotations

import types
from typing import Any

import taeda
from taeda import nn

from ._scenario import data, kept, scenario, thrice
from .attributes import Config
from .modules import inference


@scenario("a branch on a value", eager=True)
def s_value_branch(c):
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    g = c(f)
    return [kept(g(data(seed=n))) for n in range(6)]


@scenario("item()", eager=True)
def s_item(c):
    f = c(lambda x: x * x.sum().item())
    return [kept(f(data(seed=n))) for n in range(5)]


@scenario("a shape that depends on values", eager=True)
def s_nonzero(c):
    f = c(lambda x: x[x > 0].sum())
    return [kept(f(data(seed=n))) for n in range(5)]


@scenario("a counter in a global", eager=True)
def s_counter(c):
    counts = {"n": 0}

    def f(x):
        counts["n"] += 1
        return x * counts["n"]

    g = c(f)
    return [kept(g(data())) for _ in range(5)]


@scenario("a list that collects", eager=True)
def s_collect(c):
    seen: list[Any] = []

    def f(x):
        seen.append(x.shape)
        return x * 2

    g = c(f)
    found = [kept(g(data())) for _ in range(5)]
    return [*found, len(seen)]


@scenario("an attribute that counts", eager=True)
def s_count_attribute(c):
    cfg = Config()

    def f(x):
        cfg.bias += 1
        return x * cfg.bias

    g = c(f)
    return [kept(g(data())) for _ in range(5)]


@scenario("an attribute of a module that counts", eager=True)
def s_count_module(c):
    class Count(nn.Module):
        calls = 0

        def forward(self, x):
            self.calls = self.calls + 1
            return x * self.calls

    f = inference(c, Count())
    return [kept(f(data())) for _ in range(5)]


@scenario("print", eager=True)
def s_print(c):
    lines: list[str] = []

    def f(x):
        print(x.shape, file=types.SimpleNamespace(write=lines.append))
        return x * 2

    g = c(f)
    found = [kept(g(data())) for _ in range(4)]
    return [*found, len(lines)]


@scenario("contents of an array of numpy", eager=True)
def s_numpy(c):
    import numpy as np

    array = np.ones(4, dtype=np.float32)
    f = c(lambda x: x * taeda.from_numpy(array))
    found = thrice(f, data())
    array[0] = 5
    return found + thrice(f, data())


@scenario("an iterator that runs dry", eager=True)
def s_iterator(c):
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    f = c(lambda x: x * next(numbers))
    return [kept(f(data())) for _ in range(5)]


@scenario("a generator of numbers made inside")
def s_generator_inside(c):
    def count(n):
        for k in range(n):
            yield k + 1

    def f(x):
        for k in count(3):
            x = x * k
        return x

    return thrice(c(f), data())
