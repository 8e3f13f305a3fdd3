"""What the tests of checkpoints run."""

from __future__ import annotations

import functools
import gc

import taeda
from taeda._native import core
from taeda.utils.checkpoint import checkpoint

again = functools.partial(checkpoint, use_reentrant=False)


VARIANTS = [False, True]


def dropout(x, p=0.3):
    """Dropout by the operator, without `nn`."""
    return taeda.native_dropout(x, p, True)[0]


def layers(x, w):
    """Six layers that draw random numbers."""
    for _ in range(6):
        x = dropout((x * w).sin().exp())
    return x


def leaves():
    """Two tensors that want gradients, the same each time."""
    taeda.manual_seed(3)
    return taeda.randn(50, requires_grad=True), taeda.randn(50, requires_grad=True)


def plainly(function, *args):
    """The call without a checkpoint."""
    return function(*args)


def allocated():
    """Bytes that are in use."""
    gc.collect()
    return core.memory_stats()["allocated"]


def changing(first, second):
    """A function that is another one in its second run."""
    state = []

    def function(x):
        state.append(1)
        return (first if len(state) == 1 else second)(x)

    return again, function


def backward_of(first, second, **options):
    """Checkpoint and walk back."""
    run, function = changing(first, second)
    y = run(function, taeda.ones(4, requires_grad=True), **options)
    y.sum().backward()
