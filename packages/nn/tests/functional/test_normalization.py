"""Normalisation as functions: by definition, running statistics, gradients, edges."""

from __future__ import annotations

import numpy as np
import pytest
from layer_references import normalised

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F


def drawn(*shape):
    taeda.manual_seed(len(shape))
    return taeda.randn(shape, dtype=taeda.float64) * 2 + 1


def scaled(x, weight, bias):
    shape = [-1 if i == 1 else 1 for i in range(x.ndim)]
    return x * weight.numpy().reshape(shape) + bias.numpy().reshape(shape)


def close(made, wanted, rtol=1e-9):
    np.testing.assert_allclose(made.detach().numpy(), wanted, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("shape", [(8, 3), (4, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 4)])
def test_batches(shape):
    x, weight, bias = drawn(*shape), drawn(3), drawn(3) + 1
    mean, var = drawn(3), drawn(3).abs() + 1
    others = tuple(i for i in range(len(shape)) if i != 1)
    before = mean.numpy().copy(), var.numpy().copy()
    by_statistics = F.batch_norm(x, mean, var, weight, bias)
    view = [-1 if i == 1 else 1 for i in range(len(shape))]
    of_batch = (x.numpy() - before[0].reshape(view)) / np.sqrt(before[1].reshape(view) + 1e-5)
    close(by_statistics, scaled(of_batch, weight, bias))
    close(mean, before[0])
    made = F.batch_norm(x, mean, var, weight, bias, training=True, momentum=0.3, eps=1e-3)
    close(made, scaled(normalised(x.numpy(), others, 1e-3), weight, bias))
    close(mean, 0.7 * before[0] + 0.3 * x.numpy().mean(others))
    close(var, 0.7 * before[1] + 0.3 * x.numpy().var(others, ddof=1))


@pytest.mark.parametrize("shape", [(2, 3, 5), (2, 3, 4, 5), (2, 3, 2, 3, 4)])
def test_instances(shape):
    x, weight, bias = drawn(*shape), drawn(3), drawn(3) + 1
    wanted = normalised(x.numpy(), tuple(range(2, len(shape))))
    close(F.instance_norm(x, weight=weight, bias=bias), scaled(wanted, weight, bias))
    mean, var = taeda.zeros(3, dtype=taeda.float64), taeda.ones(3, dtype=taeda.float64)
    F.instance_norm(x, mean, var)
    close(mean, 0.1 * x.flatten(2).mean((0, 2)).numpy())
    close(var, 0.9 + 0.1 * x.flatten(2).numpy().var(2, ddof=1).mean(0))
    by = F.instance_norm(x, mean, var, use_input_stats=False)
    close(by, F.batch_norm(x, mean, var).numpy())


def test_last_dimensions():
    x, weight, bias = drawn(5, 3, 4), drawn(3, 4), drawn(3, 4) + 1
    wanted = normalised(x.numpy(), (1, 2)) * weight.numpy() + bias.numpy()
    close(F.layer_norm(x, (3, 4), weight, bias), wanted)
    turned = x.transpose(0, 1).contiguous().transpose(0, 1)
    close(F.layer_norm(turned, (3, 4), weight, bias), wanted)
    square = (x.numpy() ** 2).mean((1, 2), keepdims=True)
    close(F.rms_norm(x, (3, 4), weight, 0.1), x.numpy() / np.sqrt(square + 0.1) * weight.numpy())
    close(F.rms_norm(x, (3, 4)), x.numpy() / np.sqrt(square + np.finfo(np.float64).eps))
    assert F.layer_norm(x[:0], (3, 4)).shape == (0, 3, 4)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_groups(groups):
    x, weight, bias = drawn(2, 6, 5), drawn(6), drawn(6) + 1
    grouped = normalised(x.numpy().reshape(2, groups, -1), (2,)).reshape(2, 6, 5)
    close(F.group_norm(x, groups, weight, bias), scaled(grouped, weight, bias))


@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 5, 3, 2)])
@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_neighbouring_channels(shape, size):
    x = drawn(*shape)
    array, wanted = x.numpy(), np.empty(shape)
    for c in range(5):
        first = c - size // 2
        window = array[:, max(0, first) : first + size]
        wanted[:, c] = array[:, c] / (2 + 0.5 * (window**2).sum(1) / size) ** 0.7
    close(F.local_response_norm(x, size, 0.5, 0.7, 2.0), wanted)
    assert F.local_response_norm(x[:0], size).shape == x[:0].shape


RUNS = {
    "batch": lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
    "instance": lambda x, w, b: F.instance_norm(x, weight=w, bias=b),
    "layer": lambda x, w, b: F.layer_norm(x.mT, (2,), w, b),
    "rms": lambda x, w, b: F.rms_norm(x.mT, (2,), w) + b,
    "group": lambda x, w, b: F.group_norm(x, 1, w, b),
    "response": lambda x, w, b: F.local_response_norm(x, 2, 0.5) * (w + b).reshape(2, 1),
}


@pytest.mark.parametrize("name", RUNS)
def test_gradients(name):
    given = [drawn(2, 2, 3), drawn(2), drawn(2) + 1]
    assert gradcheck(RUNS[name], [t.requires_grad_() for t in given])


@pytest.mark.parametrize("name", RUNS)
def test_half_keeps_its_dtype_and_is_computed_in_single(name):
    given = [drawn(2, 2, 3).half(), drawn(2).half(), drawn(2).half() + 1]
    made = RUNS[name](*given)
    assert made.dtype is taeda.float16
    wanted = RUNS[name](*(t.double() for t in given))
    assert taeda.allclose(made.double(), wanted, rtol=5e-3, atol=5e-3)


X = taeda.ones(2, 3, 4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.batch_norm(X, None, None, training=True, eps=0.0), ValueError,
            "eps must be positive during training, but got 0.0"),
        (lambda: F.batch_norm(X, X[0, :, 0], X[0, :, 0], eps=-1), ValueError,
            "must be non-negative, but got -1"),
        (lambda: F.batch_norm(X[:1, :, :1], None, None, training=True), ValueError,
            r"input size \[1, 3, 1\]"),
        (lambda: F.batch_norm(X, None, None), RuntimeError, "running_mean"),
        (lambda: F.instance_norm(X[..., :1]), ValueError,
            r"spatial element when training, got input size \[2, 3, 1\]"),
        (lambda: F.layer_norm(X, (3,)), RuntimeError, r"\[3\]"),
        (lambda: F.group_norm(X[0, 0], 1), RuntimeError,
            "at least 2 dimensions for input tensor but received 1"),
        (lambda: F.group_norm(X, 2), RuntimeError, "num_groups"),
        (lambda: F.group_norm(X[:1, :, :1], 3), ValueError, "more than 1 value per channel"),
        (lambda: F.local_response_norm(X[0], 2), ValueError, r"got 2 dimensions"),
        (lambda: F.local_response_norm(X, 0), RuntimeError, "greater than zero, but got 0"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
