"""Fake quantization: ties, ends, channels, gradients of what is not clamped, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda

NAN, INF = math.nan, math.inf


def test_ties_are_even_before_the_zero_point_is_added():
    x = taeda.tensor([0.5, 1.5, 2.5, -0.5, NAN, INF, -INF, 300.0])
    made = taeda.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 255)
    assert made.tolist() == [0.0, 2.0, 2.0, 0.0, 0.0, 255.0, 0.0, 255.0]
    made = taeda.fake_quantize_per_tensor_affine(x, 1.0, 7, 0, 255)
    assert made.tolist() == [0.0, 2.0, 2.0, 0.0, -7.0, 248.0, -7.0, 248.0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_channels_are_tensors_of_their_own(dtype):
    x = taeda.from_numpy(np.random.default_rng(0).standard_normal((3, 4, 5)) * 4)
    x = x.to(getattr(taeda, dtype))
    scale, zero = (
        taeda.tensor([0.5, 1.0, 0.25, 3.0]),
        taeda.tensor([0, 3, -2, 7], dtype=taeda.int32),
    )
    made = taeda.fake_quantize_per_channel_affine(x, scale, zero, 1, -8, 7)
    each = [
        taeda.fake_quantize_per_tensor_affine(x[:, i], s, z, -8, 7)
        for i, (s, z) in enumerate(zip(scale.tolist(), zero.tolist(), strict=True))
    ]
    assert made.dtype is x.dtype
    assert taeda.allclose(made, taeda.stack(each, 1))
    as_tensors = taeda.fake_quantize_per_tensor_affine(x, scale[:1], zero[:1], -8, 7)
    assert taeda.equal(as_tensors, taeda.fake_quantize_per_tensor_affine(x, 0.5, 0, -8, 7))


@pytest.mark.parametrize("zeros", [[-255.0, 127.5], [0.25, 400.0], [-1e3, 3.75]])
def test_float_zero_points_may_lie_outside(zeros):
    """(clamp(round(x / scale + zero)) - zero) * scale, the arithmetic of affine float parameters."""
    x = np.array([[1.0, 2.0, -3.0], [-1.0, 1.0, 0.125]], np.float32)
    scale = np.array([[1 / 128], [1 / 64]], np.float32)
    made = taeda.fake_quantize_per_channel_affine(
        taeda.from_numpy(x), taeda.tensor(scale[:, 0]), taeda.tensor(zeros), 0, 0, 255
    )
    zero = np.array(zeros, np.float32)[:, None]
    want = (np.clip(np.rint(x / scale + zero), 0, 255) - zero) * scale
    assert np.array_equal(made.numpy(), want)


def test_results_are_steps_within_the_ends():
    x = taeda.linspace(-9, 9, 1001)
    steps = taeda.fake_quantize_per_tensor_affine(x, 0.25, 3, -8, 7) / 0.25 + 3
    assert taeda.equal(steps, steps.round())
    assert (steps.min().item(), steps.max().item()) == (-8, 7)


def test_the_gradient_passes_where_nothing_is_clamped():
    pytest.importorskip("taeda.autograd")
    x = taeda.tensor([-9.0, -2.0, 0.3, 1.75, 2.0, NAN], requires_grad=True)
    made = taeda.fake_quantize_per_tensor_affine(x, 0.25, 0, -8, 7)
    made.backward(taeda.full((6,), 3.0))
    assert x.grad.tolist() == [0, 3, 3, 3, 0, 0]


def test_an_observer_moves_and_makes_the_parameters():
    least, most = taeda.tensor([INF]), taeda.tensor([-INF])
    scale, zero = taeda.ones(1), taeda.zeros(1, dtype=taeda.int32)
    on, off = taeda.tensor([1]), taeda.tensor([0])
    function, x = taeda.fused_moving_avg_obs_fake_quant, taeda.tensor([-1.0, 0.3, 4.1])
    made = function(x, on, off, least, most, scale, zero, 0.01, 0, 255, 0)
    assert taeda.equal(made, x)
    assert (least.item(), scale.item(), zero.item()) == (-1, 1, 0)
    made = function(x, off, on, least, most, scale, zero, 0.01, 0, 255, 0)
    assert (round(scale.item(), 6), zero.item()) == (0.02, 50)
    assert taeda.allclose(made, x, atol=0.01)
    function(x * 2, on, on, least, most, scale, zero, 0.01, 0, 255, 0)
    assert round(least.item(), 6) == -1.01


TENSOR, CHANNEL = taeda.fake_quantize_per_tensor_affine, taeda.fake_quantize_per_channel_affine
OBSERVED = taeda.fused_moving_avg_obs_fake_quant
ONES = taeda.ones(2, 3)
ZERO = taeda.zeros(3, dtype=taeda.int32)


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda: TENSOR(ONES, 1.0, 300, 0, 255), RuntimeError, "300 for 0 to"),
        (lambda: TENSOR(ONES, 1.0, 0, 9, 5), RuntimeError, "9 and 5"),
        (lambda: TENSOR(ONES, 0.0, 0, 0, 5), RuntimeError, "above 0"),
        (lambda: TENSOR(ONES, NAN, 0, 0, 5), RuntimeError, "above 0"),
        (lambda: TENSOR(ONES.long(), 1.0, 0, 0, 5), NotImplementedError, "int64"),
        (lambda: TENSOR(ONES, ONES, ZERO, 0, 5), RuntimeError, "got 6 and 3"),
        (lambda: CHANNEL(ONES, ONES[0].double(), ZERO, 1, 0, 5), RuntimeError,
            "the scale has dtype"),
        (lambda: CHANNEL(ONES, ONES[0], ZERO.long(), 1, 0, 5), RuntimeError,
            "the zero point has dtype"),
        (lambda: CHANNEL(ONES, ONES[0], ZERO[:2], 1, 0, 5), RuntimeError, "same dim"),
        (lambda: CHANNEL(ONES, ONES[0], ZERO, 0, 0, 5), RuntimeError, "one scale and zero point"),
        (lambda: CHANNEL(ONES, ONES[0], ZERO, 2, 0, 5), IndexError, "axis"),
        (lambda: CHANNEL(ONES, ONES[0], ZERO + 9, 1, 0, 5), RuntimeError, "got 9"),
        (lambda: OBSERVED(ONES.double(), ONES[:1, 0], ONES[:1, 0], ONES[0], ONES[0],
            ONES[0], ZERO, 0.1, 0, 5, 0), RuntimeError, "expected scalar type Float"),
        (lambda: OBSERVED(ONES, ONES[:1, 0], ONES[:1, 0], ONES[0], ONES[0],
            ONES[0], ZERO, 0.1, 0, 5, 1, True), RuntimeError, "ch_axis 0"),
    ],
)  # fmt: skip
def test_refusals(call, error, fact):
    with pytest.raises(error, match=fact):
        call()


def test_running_extremes_may_have_no_dimensions():
    one = taeda.tensor([1])
    least, most = taeda.tensor(float("inf")), taeda.tensor(float("-inf"))
    scale, zero = taeda.ones(1), taeda.zeros(1, dtype=taeda.int32)
    x = taeda.tensor([0.0, 2.55])
    taeda.fused_moving_avg_obs_fake_quant(
        x, one, one, least, most, scale, zero, 0.01, 0, 255, -1, False, False
    )
    assert abs(scale.item() - 0.01) < 1e-6
