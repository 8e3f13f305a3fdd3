"""Norms of gradients and limits on them."""

from __future__ import annotations

import math

import pytest

import taeda
from taeda import nn
from taeda.nn import utils


def parameters(*grads):
    made = []
    for grad in grads:
        made.append(nn.Parameter(taeda.zeros(len(grad)) if grad else taeda.zeros(2)))
        made[-1].grad = taeda.tensor(grad) if grad else None
    return made


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize(("p", "norm"), [(2.0, 13.0), (1.0, 19.0), (math.inf, 12.0)])
def test_clip_grad_norm(foreach, p, norm):
    params = parameters([3.0, 4.0], None, [12.0])
    total = utils.clip_grad_norm_(params, 1.0, p, foreach=foreach)
    assert total.item() == pytest.approx(norm)
    assert params[0].grad.tolist() == pytest.approx([3 / norm, 4 / norm])
    assert params[2].grad.tolist() == pytest.approx([12 / norm])
    assert params[1].grad is None


def test_small_gradients_stay():
    params = parameters([0.3, 0.4])
    utils.clip_grad_norm_(params, 1.0)
    assert params[0].grad.tolist() == pytest.approx([0.3, 0.4])
    assert params[0].grad._version == 1  # as of a write, whatever the norm is


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize("size", [0.1, 10.0])
def test_clipping_counts_as_a_write_whatever_the_norm_is(foreach, size):
    params = parameters([size, size], [size])
    utils.clip_grad_norm_(params, 1.0, foreach=foreach)
    assert [p.grad._version for p in params] == [1, 1]


def test_one_tensor_a_generator_and_none():
    params = parameters([3.0, 4.0])
    assert utils.clip_grad_norm_(params[0], 1.0).item() == 5
    assert utils.clip_grad_norm_((p for p in params), 1.0).item() == pytest.approx(1)
    assert utils.clip_grad_norm_(parameters(None), 1.0).item() == 0
    with pytest.warns(UserWarning, match="empty generator"):
        utils.clip_grad_norm_((p for p in ()), 1.0)


def test_norms_that_are_not_finite():
    params = parameters([math.inf, 1.0])
    with pytest.raises(RuntimeError, match=r"order 2.0.*non-finite \(inf\)"):
        utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    assert params[0].grad.tolist() == [math.inf, 1]
    assert utils.clip_grad_norm_(params, 1.0).item() == math.inf


def test_the_two_halves():
    params = parameters([3.0, 4.0])
    total = utils.get_total_norm([p.grad for p in params])
    utils.clip_grads_with_norm_(params, 2.5, total)
    assert params[0].grad.tolist() == pytest.approx([1.5, 2.0])
    assert utils.get_total_norm([]).item() == 0


def test_clip_grad_value():
    params = parameters([3.0, -4.0, 0.1])
    utils.clip_grad_value_(params, 1)
    assert params[0].grad.tolist() == pytest.approx([1, -1, 0.1])


def test_former_name():
    with pytest.warns(FutureWarning, match="clip_grad_norm_"):
        utils.clip_grad_norm(parameters([1.0]), 1.0)


@pytest.mark.parametrize("norm_type", [2.0, 3.0])
@pytest.mark.parametrize("foreach", [None, False])
def test_a_norm_that_float16_cannot_hold_erases_nothing(norm_type, foreach):
    parameters = [taeda.nn.Parameter(taeda.zeros(n).half()) for n in (10, 6)]
    for p in parameters:
        p.grad = taeda.full_like(p, 40_000.0)
    total = utils.clip_grad_norm_(parameters, 1.0, norm_type, foreach=foreach)
    assert total.dtype is taeda.float16 and total.isinf()  # 40,000 times the root of 16
    for p in parameters:
        taeda.testing.assert_close(
            p.grad.double(), taeda.full(p.shape, 16 ** (-1 / norm_type)).double(), rtol=2e-3, atol=0
        )
    parameters[0].grad[0] = taeda.inf
    utils.clip_grad_norm_(parameters, 1.0)
    assert parameters[0].grad[0].isnan() and parameters[0].grad[1] == 0
