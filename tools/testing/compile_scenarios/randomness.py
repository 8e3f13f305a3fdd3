"""Random numbers are drawn anew at every call."""

from __future__ import annotations

import random

import taeda
import taeda.nn.functional as F

from ._scenario import data, kept, scenario


@scenario("draws of the default generator")
def s_draws(c):
    f = c(lambda x: F.dropout(x, 0.5) + taeda.randn(4) + taeda.rand_like(x))
    taeda.manual_seed(3)
    found = [kept(f(data())) for _ in range(5)]
    return [*found, taeda.randn(2)]


@scenario("a generator of its own")
def s_generator(c):
    own = taeda.Generator().manual_seed(4)
    f = c(lambda x: x + taeda.randn(4, generator=own))
    return [kept(f(data())) for _ in range(5)]


@scenario("random of Python", eager=True)
def s_python_random(c):
    random.seed(0)
    f = c(lambda x: x * random.random())
    return [kept(f(data())) for _ in range(5)]
