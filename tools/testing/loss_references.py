"""Inputs of losses, what the losses are by definition, and the comparison of the two."""

from __future__ import annotations

import numpy as np

import taeda

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 4, 3)).astype("float32")
P, T = RNG.uniform(0.05, 0.95, size=(2, 4, 3)).astype("float32")
SIGN = np.sign(Y)
LABELS = np.array([0, 2, 1, 2])


def softplus(x):
    return np.logaddexp(0, x)


def log_softmax(x):
    return x - np.logaddexp.reduce(x, -1, keepdims=True)


def huber(gap, delta):
    return np.where(gap < delta, gap**2 / 2, delta * (gap - delta / 2))


def distance(a, b, p=2):
    return (np.abs(a - b + 1e-6) ** p).sum(-1) ** (1 / p)


def margins(x, labels, power=1):
    rows = np.maximum(0, 1 - x[range(4), labels][:, None] + x) ** power
    rows[range(4), labels] = 0
    return rows.sum(1) / 3


PICKED = -log_softmax(X)[range(4), LABELS]


def check_loss(kind, options, inputs, expected, reduction):
    """A loss has these values by element, reduced, and its gradient is finite."""
    loss = kind(reduction=reduction, **options)
    tensors = [taeda.from_numpy(np.ascontiguousarray(x)) for x in inputs]
    tensors[0].requires_grad_()
    result = loss(*tensors)
    wanted = expected if reduction == "none" else getattr(np, reduction)(expected)
    np.testing.assert_allclose(result.detach().numpy(), wanted, rtol=2e-4, atol=1e-5)
    result.sum().backward()
    assert tensors[0].grad.isfinite().all()
