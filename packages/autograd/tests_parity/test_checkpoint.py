"""Checkpoints against torch's: gradients, how often the function runs, how far it gets, kinds of errors."""

from __future__ import annotations

import pytest
import torch
import torch.utils.checkpoint

import taeda
import taeda.utils.checkpoint

BOTH = [torch, taeda]


def steps(library, early, reentrant):
    """(gradient, what ran in which order)"""
    log = []

    def function(x, w):
        for i in range(3):
            log.append(i)
            x = (x * w).exp()
        log.append("end")
        return x

    x = library.tensor([0.1, 0.2], requires_grad=True)
    w = library.tensor([0.5, -0.5], requires_grad=True)
    checkpoint = library.utils.checkpoint
    with checkpoint.set_checkpoint_early_stop(early):
        y = checkpoint.checkpoint(function, x * 1, w, use_reentrant=reentrant)
    y.sum().backward()
    return [*x.grad.tolist(), *w.grad.tolist()], log


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("early", [True, False])
def test_the_same_gradients_and_runs(early, reentrant):
    (theirs, their_log), (ours, our_log) = (steps(lib, early, reentrant) for lib in BOTH)
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert our_log == their_log


def changing(library, first, second):
    runs = []

    def function(x):
        runs.append(1)
        return (first if len(runs) == 1 else second)(x)

    x = library.ones(4, requires_grad=True)
    library.utils.checkpoint.checkpoint(function, x, use_reentrant=False).sum().backward()


ERRORS = {
    "shape": lambda lib: changing(lib, lambda x: x.exp(), lambda x: x[:2].exp()),
    "count": lambda lib: changing(lib, lambda x: x.exp().exp(), lambda x: x.exp()),
    "grad": lambda lib: lib.autograd.grad(
        lib.utils.checkpoint.checkpoint(lib.exp, x := lib.ones(1, requires_grad=True), use_reentrant=True), x
    ),
    "keywords": lambda lib: lib.utils.checkpoint.checkpoint(
        lib.exp, lib.ones(1, requires_grad=True), use_reentrant=True, more=1
    ),
    "check": lambda lib: lib.utils.checkpoint.checkpoint(
        lib.exp, lib.ones(1, requires_grad=True), use_reentrant=False, determinism_check="all"
    ).backward(),
    "chain": lambda lib: lib.utils.checkpoint.checkpoint_sequential(
        [lib.exp], 1, lib.ones(1), use_reentrant=False, more=1
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", ERRORS.values(), ids=ERRORS)
def test_the_same_kinds_of_errors(call):
    names = []
    for library in BOTH:
        with pytest.raises((RuntimeError, ValueError)) as raised:
            call(library)
        names.append(raised.type.__name__)
    assert names[0] == names[1]
