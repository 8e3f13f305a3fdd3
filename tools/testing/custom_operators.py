"""Operators that are defined at run time, for tests: kernels that count, functions that are compared with
themselves as graphs.
"""

from __future__ import annotations

import numpy as np

import taeda
from taeda import Tensor


class Kernel:
    """A kernel that counts its calls and hides from taeda what it computes."""

    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def nothing(value):
    return None


def tripled(x):
    return taeda.from_numpy(np.asarray(x.detach().numpy() * 3))


def defined(space, schema, kernel, fake=None):
    name = space.define(schema)
    space.impl(name, kernel, "CPU")
    if fake is not None:
        space.impl(name, fake, "Meta")
    packet, _, overload = name.partition(".")
    found = getattr(getattr(taeda.ops, space.ns), packet)
    return getattr(found, overload) if overload else found


def same(a, b):
    return a.stride() == b.stride() and taeda.equal(a.detach(), b.detach())


def runs(f, make, calls=14):
    """`f` compiled gives in each call what it gives; its arguments are written alike."""
    fast = taeda.compile(f, fullgraph=True, backend="aot_eager")
    for number in range(calls):
        taeda.manual_seed(number)
        ours, theirs = make(), None
        taeda.manual_seed(number)
        theirs = make()
        a, b = f(*ours), fast(*theirs)
        for one, other in zip(tensors(a), tensors(b), strict=True):
            assert same(one, other)
        for one, other in zip(tensors(ours), tensors(theirs), strict=True):
            assert same(one, other)
    assert taeda.compiler.explain(fast)(*make()).graph_count >= 1
    return fast


def tensors(value):
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, list | tuple):
        for entry in value:
            yield from tensors(entry)
