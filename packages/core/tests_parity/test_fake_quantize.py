"""Fake quantization has torch's bits: values, gradients, and the scales and zero points of an observer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import taeda

STEPS = [(0, 255), (-128, 127), (0, 15)]
WAYS = ("numbers", "tensors", "channels", "float zero points")


def numbers(rng):
    """Ties, NaN and infinities among random numbers of some size."""
    x = rng.standard_normal((4, 300)) * 10 ** rng.uniform(-3, 3)
    x[:, :80], x[:, 80], x[:, 81] = np.arange(80) * 0.5 - 20, np.nan, -np.inf
    return x.astype("float32")


def faked(lib, way, dtype, x, scale, zero, steps):
    t = lib.from_numpy(x).to(getattr(lib, dtype)).requires_grad_()
    s, z = lib.from_numpy(scale), lib.from_numpy(zero)
    if way == "numbers":
        y = lib.fake_quantize_per_tensor_affine(t, float(scale[0]), int(zero[0]), *steps)
    elif way == "tensors":
        y = lib.fake_quantize_per_tensor_affine(t, s[:1], z[:1], *steps)
    else:
        z = z + 0.3 if way == "float zero points" else z
        y = lib.fake_quantize_per_channel_affine(t, s, z, 0, *steps)
    y.backward(lib.ones_like(y) * 3)
    return y.detach().double().numpy(), t.grad.double().numpy()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_fake_quantization(way, dtype, steps):
    rng = np.random.default_rng(0)
    for scales in (np.ones(4), rng.uniform(0.01, 2, 4)):
        given = (
            numbers(rng),
            scales.astype("float32"),
            rng.integers(*steps, 4).astype("int32"),
            steps,
        )
        for got, want in zip(
            faked(taeda, way, dtype, *given), faked(torch, way, dtype, *given), strict=True
        ):
            np.testing.assert_array_equal(got, want)


def observed(lib, x, running, empty, steps, per_row, symmetric):
    state = [lib.from_numpy(r.copy()) for r in running]
    if empty:
        state = [lib.empty(0), lib.empty(0)]
    scale, zero = lib.ones(len(state[0])), lib.zeros(len(state[0]), dtype=lib.int32)
    on = lib.ones(1, dtype=lib.int64)
    made = []
    for number in (x, x * 2):
        y = lib.fused_moving_avg_obs_fake_quant(
            lib.from_numpy(number), on, on, *state, scale, zero, 0.01, *steps, 0, per_row, symmetric
        )
        made += [t.double().numpy().copy() for t in (y, *state, scale, zero)]
    return made


@pytest.mark.parametrize("per_row", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("kind", ["both", "above", "below", "zero"])
@pytest.mark.parametrize("start", ["infinite", "known", "empty"])
def test_moving_averages(per_row, symmetric, kind, start):
    rng = np.random.default_rng(1)
    count = 4 if per_row else 1
    for size in 10.0 ** np.arange(-7, 4):
        x = (rng.standard_normal((4, 50)) * size).astype("float32")
        x = {"both": x, "above": abs(x), "below": -abs(x), "zero": x * 0}[kind]
        running = [
            np.full(count, n, "float32")
            for n in ((np.inf, -np.inf) if start != "known" else (-1, 2))
        ]
        for steps in (*STEPS, (-64, 63)):
            given = x, running, start == "empty" and per_row, steps, per_row, symmetric
            for got, want in zip(observed(taeda, *given), observed(torch, *given), strict=True):
                np.testing.assert_array_equal(got, want)
