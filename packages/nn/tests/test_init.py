"""First values of parameters: distributions, structure, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda.nn import init

SHAPE = (200, 150)


def filled(function, *args, shape=SHAPE, **kwargs):
    taeda.manual_seed(0)
    tensor = taeda.full(shape, math.nan)
    assert function(tensor, *args, **kwargs) is tensor
    return tensor.numpy()


@pytest.mark.parametrize(
    ("function", "args", "low", "high", "deviation"),
    [
        (init.uniform_, (-2.0, 3.0), -2, 3, 5 / math.sqrt(12)),
        (init.normal_, (0.0, 0.5), -4, 4, 0.5),
        (init.xavier_uniform_, (2.0,), None, None, 2 * math.sqrt(2 / 350)),
        (init.xavier_normal_, (2.0,), None, None, 2 * math.sqrt(2 / 350)),
        (init.kaiming_uniform_, (), None, None, math.sqrt(2 / 150)),
        (init.kaiming_normal_, (0.1, "fan_out"), None, None, math.sqrt(2 / (1 + 0.01) / 200)),
        (init.trunc_normal_, (0.0, 1.0, -2.0, 2.0), -2, 2, 0.8796),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_deviation_and_bounds(function, args, low, high, deviation):
    values = filled(function, *args)
    assert values.std() == pytest.approx(deviation, rel=0.03)
    if low is not None:
        assert low <= values.min()
        assert values.max() <= high


def test_uniform_bounds_follow_from_the_fan():
    bound = math.sqrt(6 / (1 + 5) / 150)
    values = filled(init.kaiming_uniform_, a=math.sqrt(5))
    assert np.abs(values).max() <= bound
    assert np.abs(values).max() > 0.99 * bound


def test_fans_count_the_window():
    assert init._calculate_fan_in_and_fan_out(taeda.empty(8, 4, 3, 5)) == (60, 120)


@pytest.mark.parametrize(
    ("function", "args", "expected"),
    [(init.ones_, (), 1), (init.zeros_, (), 0), (init.constant_, (2.5,), 2.5)],
)
def test_constants(function, args, expected):
    assert (filled(function, *args) == expected).all()


def test_eye():
    assert (filled(init.eye_, shape=(3, 5)) == np.eye(3, 5)).all()


def test_dirac_passes_channels_through_a_convolution():
    weight = taeda.empty(6, 2, 3, 3)
    init.dirac_(weight, groups=2)
    x = taeda.randn(1, 4, 5, 5)
    y = taeda.conv2d(x, weight, padding=1, groups=2)
    wanted = taeda.zeros(1, 6, 5, 5)
    wanted[:, 0:2], wanted[:, 3:5] = x[:, 0:2], x[:, 2:4]
    assert taeda.allclose(y, wanted)


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (4, 2, 3)])
def test_orthogonal(shape):
    values = filled(init.orthogonal_, gain=2.0, shape=shape).reshape(shape[0], -1) / 2
    small = values if values.shape[0] <= values.shape[1] else values.T
    np.testing.assert_allclose(small @ small.T, np.eye(len(small)), atol=1e-5)


def test_sparse_zeroes_a_fraction_of_each_column():
    values = filled(init.sparse_, 0.25, shape=(8, 5))
    assert ((values == 0).sum(0) == 2).all()


def test_nothing_is_recorded():
    weight = taeda.nn.Parameter(taeda.empty(3, 3))
    init.xavier_uniform_(weight)
    assert weight.is_leaf
    assert weight.grad_fn is None


def test_a_generator_decides():
    def drawn(seed):
        generator = taeda.Generator()
        generator.manual_seed(seed)
        return init.normal_(taeda.empty(4), generator=generator).tolist()

    assert drawn(1) == drawn(1) != drawn(2)


@pytest.mark.parametrize(
    ("name", "param", "gain"),
    [
        ("linear", None, 1),
        ("conv_transpose2d", None, 1),
        ("tanh", None, 5 / 3),
        ("relu", None, math.sqrt(2)),
        ("leaky_relu", None, math.sqrt(2 / 1.0001)),
        ("leaky_relu", 0.5, math.sqrt(2 / 1.25)),
        ("selu", None, 0.75),
    ],
)
def test_gains(name, param, gain):
    assert init.calculate_gain(name, param) == pytest.approx(gain)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: init.xavier_uniform_(taeda.empty(3)),
            r"fewer than 2 dimensions, got shape \(3,\)",
        ),
        (lambda: init.kaiming_normal_(taeda.empty(3)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_normal_(taeda.empty(3, 3), mode="x"), "Mode x not supported"),
        (lambda: init.eye_(taeda.empty(3)), "2 dimensions"),
        (lambda: init.dirac_(taeda.empty(3, 3)), "3, 4, or 5 dimensions"),
        (lambda: init.dirac_(taeda.empty(3, 3, 3), groups=2), "divisible by groups, got 3 and 2"),
        (lambda: init.orthogonal_(taeda.empty(3)), "2 or more dimensions"),
        (lambda: init.sparse_(taeda.empty(3), 0.1), "2 dimensions"),
        (
            lambda: init.trunc_normal_(taeda.empty(3), std=0.0),
            "std must be greater than 0, got 0.0",
        ),
        (lambda: init.calculate_gain("sine"), "Unsupported nonlinearity sine"),
        (lambda: init.calculate_gain("leaky_relu", True), "not a valid number"),
    ],
)
def test_refusals(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_empty_tensors_warn_and_stay():
    with pytest.warns(UserWarning, match="zero-element"):
        init.kaiming_uniform_(taeda.empty(0, 3))
    assert init.xavier_normal_(taeda.empty(0, 3)).shape == (0, 3)


def test_a_mean_far_outside_warns():
    with pytest.warns(UserWarning, match="more than 2 std"):
        init.trunc_normal_(taeda.empty(3), mean=10.0)


def test_former_names_warn():
    with pytest.warns(FutureWarning, match="`nn.init.uniform_`"):
        init.uniform(taeda.empty(3))


def test_the_names_that_modules_written_elsewhere_call():
    weight = taeda.nn.Parameter(taeda.ones(4, 4))
    init._no_grad_fill_(weight, 2.0)
    assert weight.requires_grad
    assert weight.is_leaf
    assert bool((weight == 2).all())
    init._no_grad_trunc_normal_(weight, 0.0, 1.0, -0.5, 0.5)
    assert bool((weight.abs() <= 0.5).all())
    init._no_grad_zero_(weight)
    assert not weight.any()
