"""Weights of classes have a gradient, in every reduction, at every shape of class indices."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck

F = pytest.importorskip("taeda.nn.functional")
TARGETS = {(4, 3): [0, 1, 2, 1], (2, 3, 4): [[0, 1, 2, 1], [2, -100, 0, 0]], (3,): 1}


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("shape", TARGETS, ids=str)
def test_both_losses(shape, reduction, smoothing):
    target = taeda.tensor(TARGETS[shape])

    def losses(x, weight):
        options = {"weight": weight, "reduction": reduction}
        smooth = F.cross_entropy(x, target, label_smoothing=smoothing, **options)
        return smooth, F.nll_loss(x, target, **options)

    given = (taeda.randn(shape, dtype=taeda.float64), taeda.rand(3, dtype=taeda.float64) + 0.1)
    given = tuple(t.requires_grad_() for t in given)
    assert gradcheck(losses, given, check_forward_ad=True)
    assert gradgradcheck(losses, given)


def test_16_bits_are_rounded_once():
    x, weight = (make(3).bfloat16() for make in (lambda n: taeda.randn(2000, n), taeda.rand))
    target = taeda.arange(2000) % 3
    grads = []
    for dtype in (taeda.bfloat16, taeda.float64):
        w = weight.detach().to(dtype).requires_grad_()
        F.cross_entropy(x.to(dtype), target, weight=w).backward()
        grads.append(w.grad.double())
    taeda.testing.assert_close(grads[0], grads[1], rtol=0.02, atol=0.002)
