"""Gradients of fake quantization pass where nothing is clamped, derivatives of them too."""

from __future__ import annotations

import pytest

import taeda

SCALE, ZERO = taeda.tensor([0.25, 1.0]), taeda.tensor([0, 3], dtype=taeda.int32)
WAYS = {
    "numbers": lambda x: taeda.fake_quantize_per_tensor_affine(x, 0.25, 0, -8, 7),
    "tensors": lambda x: taeda.fake_quantize_per_tensor_affine(x, SCALE[:1], ZERO[:1], -8, 7),
    "channels": lambda x: taeda.fake_quantize_per_channel_affine(x, SCALE[:1], ZERO[:1], 0, -8, 7),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64, taeda.bfloat16])
def test_the_gradient_is_that_of_what_is_not_clamped(way, dtype):
    x = taeda.tensor([[-9.0, -2.0, 0.3, 1.75, 2.0]], dtype=dtype, requires_grad=True)
    kept = taeda.tensor([[0.0, 1.0, 1.0, 1.0, 0.0]], dtype=dtype)
    made = WAYS[way](x)
    (grad,) = taeda.autograd.grad((made * made.detach()).sum(), x, create_graph=True)
    assert taeda.equal(grad, made.detach() * kept)
    assert grad.dtype is dtype


def test_scales_get_none():
    x, scale = taeda.ones(2, 2, requires_grad=True), SCALE.clone().requires_grad_()
    taeda.fake_quantize_per_channel_affine(x, scale, ZERO, 1, -8, 7).sum().backward()
    assert scale.grad is None and x.grad is not None


def test_steps_count_as_a_line_in_second_derivatives():
    x = taeda.tensor([0.3, 0.6], requires_grad=True)
    (grad,) = taeda.autograd.grad(WAYS["numbers"](x).square().sum(), x, create_graph=True)
    (second,) = taeda.autograd.grad(grad.sum(), x)
    assert second.tolist() == [2.0, 2.0]
