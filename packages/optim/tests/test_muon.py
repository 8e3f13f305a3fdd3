"""Muon, for matrices."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import optim


def test_muon_steps_along_a_nearly_orthogonal_matrix():
    param = taeda.zeros(3, 5).requires_grad_()
    optimizer = optim.Muon([param], lr=1.0, weight_decay=0, momentum=0, nesterov=False)
    generator = taeda.Generator().manual_seed(0)
    param.grad = taeda.randn(3, 5, generator=generator)
    optimizer.step()
    values = np.linalg.svd(np.array(param.tolist()), compute_uv=False)
    assert 0.5 < values.min() <= values.max() < 1.3
    u, _, v = np.linalg.svd(np.array(param.grad.tolist()), full_matrices=False)
    assert np.linalg.norm(np.array(param.tolist()) + u @ v) < 0.8


def orthogonalized(matrix, steps=5):
    """Newton and Schulz's iteration in float64."""
    a, b, c = 3.4445, -4.7750, 2.0315
    x = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = x / np.linalg.norm(x)
    for _ in range(steps):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x


@pytest.mark.parametrize("shape", [(3, 5), (6, 2)], ids=str)
@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("adjust", [None, "original", "match_rms_adamw"])
def test_formula(shape, nesterov, adjust):
    rng = np.random.default_rng(0)
    start, grads = rng.normal(size=shape), rng.normal(size=(3, *shape))
    param = taeda.tensor(start, dtype=taeda.float32).requires_grad_()
    optimizer = optim.Muon([param], lr=0.1, nesterov=nesterov, adjust_lr_fn=adjust)
    p, v = start, 0.0
    factor = (
        0.2 * max(shape) ** 0.5
        if adjust == "match_rms_adamw"
        else max(1, shape[0] / shape[1]) ** 0.5
    )
    for g in grads:
        param.grad = taeda.tensor(g, dtype=taeda.float32)
        optimizer.step()
        v = 0.95 * v + 0.05 * g
        update = 0.05 * g + 0.95 * v if nesterov else v
        p = p * (1 - 0.1 * 0.1) - 0.1 * factor * orthogonalized(update)
    np.testing.assert_allclose(param.tolist(), p, atol=0.03)  # the iteration runs in bfloat16


def test_refusals():
    with pytest.raises(ValueError, match=r"2D.*\[3\]"):
        optim.Muon([taeda.ones(3).requires_grad_()])
    matrix = taeda.ones(2, 3).requires_grad_()
    matrix.grad = taeda.ones(2, 3)
    for options, fact in (({"adjust_lr_fn": "x"}, "x is not supported"),
                          ({"lr": -1.0}, "Learning rate"), ({"momentum": -1.0}, "momentum"),
                          ({"lr": taeda.ones(2)}, "1-element")):  # fmt: skip
        with pytest.raises(ValueError, match=fact):
            optim.Muon([matrix], **options)
    for options, fact in (
        ({"ns_steps": 100}, "less than 100"),
        ({"ns_coefficients": (1.0, 2.0)}, "exactly 3"),
    ):
        with pytest.raises(ValueError, match=fact):
            optim.Muon([matrix], **options).step()
    numbers = taeda.ones(2, 2, dtype=taeda.complex64).requires_grad_()
    numbers.grad = numbers.detach().clone()
    with pytest.raises(RuntimeError, match="complex"):
        optim.Muon([numbers]).step()
