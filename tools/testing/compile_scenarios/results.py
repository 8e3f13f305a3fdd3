"""Results of every form: tuples, dicts, objects, tensors that share memory."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import taeda

from ._scenario import data, kept, scenario

Pair = namedtuple("Pair", "total mean")


@scenario("structures of results")
def s_structures(c):
    f = c(lambda x: {"pair": Pair(x.sum(), x.mean()), "list": [x, 3, None], "text": "a"})
    found = []
    for _ in range(4):
        made = f(data())
        found += [type(made["pair"]).__name__, kept(made)]
    return found


@dataclass
class Output:
    loss: Any
    scale: float = 2.0


@scenario("objects of dataclasses and ordered dicts as results, and a default changes")
def s_records(c):
    f = c(lambda x: [Output(x.sum()), OrderedDict(b=x, a=Output(x * 2, scale=3.0))])
    found = []
    for n in range(8):
        if n == 4:
            Output.__init__.__defaults__ = (5.0,)
        first, rest = f(data(seed=n))
        found += [kept(first.loss), first.scale, list(rest), kept(rest["a"].loss), rest["a"].scale]
    Output.__init__.__defaults__ = (2.0,)
    return found


@scenario("a result twice")
def s_result_twice(c):
    def f(x):
        y = x + 1
        return y, y

    g = c(f)
    return [operator_is(g(data())) for _ in range(4)]


def operator_is(pair):
    return pair[0] is pair[1]


@scenario("results are not written by later calls")
def s_fresh_results(c):
    f = c(lambda x: x + 1)
    found = [f(data(seed=n)) for n in range(5)]
    return [kept(v) for v in found]


@scenario("a constant that is written")
def s_constant(c):
    def f(x):
        total = taeda.tensor([1.0, 2.0, 3.0, 4.0])
        total.add_(x.sum())
        return total

    g = c(f)
    return [kept(g(data(seed=n))) for n in range(5)]


@scenario("results that are computed from each other, with hooks")
def s_chained(c):
    weight = taeda.randn(4, generator=taeda.Generator().manual_seed(0)).requires_grad_()

    def model(x):
        logits = (x * weight).sin()
        return logits, logits.square().sum()

    f, found = c(model), []
    for n in range(8):
        weight.grad = None
        logits, loss = f(data(4, seed=n))
        logits.retain_grad()
        logits.register_hook(lambda g, n=n: g * n)
        (loss if n % 2 else loss + logits.sum()).backward(retain_graph=n > 5)
        if n > 5:
            logits.sum().backward()
        found += [kept(weight.grad), kept(logits.grad)]
    return found
