"""Results of every form: tuples, dicts, objects, tensors that share memory."""

from __future__ import annotations

from collections import namedtuple

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
