"""The variant that runs backward inside backward."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils.checkpoint import checkpoint


def test_reentrant_knows_backward_only():
    x = taeda.ones(1, requires_grad=True)
    for run in (
        lambda y: taeda.autograd.grad(y, x),
        lambda y: y.backward(inputs=[x]),
    ):
        with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
            run(checkpoint(taeda.exp, x, use_reentrant=True))


def test_reentrant_needs_an_output_with_a_gradient():
    x = taeda.ones(1, requires_grad=True)
    y = checkpoint(lambda x: x.detach() * 2, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        y.backward()


def test_reentrant_with_several_inputs_and_outputs():
    x, w = taeda.ones(2, requires_grad=True), taeda.ones(2)
    a, b, c = checkpoint(lambda x, w, n: (x * w, w * n, x.exp()), x, w, 3, use_reentrant=True)
    (a.sum() + c.sum()).backward()
    assert taeda.allclose(x.grad, 1 + taeda.ones(2).exp()) and b.tolist() == [3, 3]
