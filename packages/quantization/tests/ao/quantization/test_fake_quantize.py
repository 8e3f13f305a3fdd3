"""Fake quantizers."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q

X = taeda.tensor([-1.0, 0.1234, 1.55])


def test_numbers_are_those_of_the_integers():
    fake = q.FakeQuantize(quant_min=0, quant_max=255)
    made = fake(X)
    wanted = taeda.fake_quantize_per_tensor_affine(
        X, float(fake.scale), int(fake.zero_point), 0, 255
    )
    assert taeda.equal(made, wanted)


def test_switches():
    model = nn.Sequential(q.default_fused_act_fake_quant())
    model.apply(q.disable_fake_quant)
    assert taeda.equal(model(X), X)
    model.apply(q.disable_observer)
    before = float(model[0].activation_post_process.max_val)
    model.apply(q.enable_fake_quant)
    model(X * 10)
    assert float(model[0].activation_post_process.max_val) == before
    model.apply(q.enable_observer)
    model(X * 10)
    assert float(model[0].activation_post_process.max_val) > before


def test_gradients_pass_where_nothing_was_clamped():
    fake = q.default_fixed_qparams_range_0to1_fake_quant()
    x = taeda.tensor([-1.0, 0.5, 2.0], requires_grad=True)
    fake(x).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 0.0]


def test_state():
    fake = q.default_per_channel_weight_fake_quant()
    fake(taeda.randn(3, 4))
    again = q.default_per_channel_weight_fake_quant()
    again.load_state_dict(fake.state_dict())
    assert taeda.equal(again.scale, fake.scale)


def test_what_is_refused():
    with pytest.raises(AssertionError, match="wants integers from 0 to 255"):
        q.FakeQuantize(quant_min=-1, quant_max=255)
    with pytest.raises(AssertionError, match="moving averages"):
        q.FusedMovingAvgObsFakeQuantize(q.MinMaxObserver)
    with pytest.raises(AssertionError, match="FixedQParamsObserver"):
        q.FixedQParamsFakeQuantize(q.MinMaxObserver)
