"""Dropout as functions: what is dropped, what is scaled, what is refused."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F

ALL = [F.dropout, F.dropout1d, F.dropout2d, F.dropout3d, F.alpha_dropout, F.feature_alpha_dropout]
RANK = {F.dropout2d: 4, F.dropout3d: 5}
LIMIT = -1.7580993408473766  # selu of minus infinity


def ones(function, size=20):
    return taeda.ones(size, 30, *[4] * (RANK.get(function, 3) - 2), dtype=taeda.float64)


@pytest.mark.parametrize("function", ALL)
def test_only_training_drops(function):
    x = ones(function)
    assert taeda.equal(function(x, 0.5, training=False), x)
    assert taeda.equal(function(x, 0.0, training=True), x)
    assert function(x[:0], 0.5, training=True).shape == x[:0].shape


@pytest.mark.parametrize("function", ALL)
def test_all_may_be_dropped(function):
    x = ones(function)
    assert not function(x, 1.0, training=True).any()
    assert function(x, 1.0, training=True, inplace=True) is x or function is F.dropout3d
    assert not x.any()


@pytest.mark.parametrize("function", [F.dropout, F.dropout1d, F.dropout2d, F.dropout3d])
def test_the_rest_is_scaled_so_that_the_mean_stays(function):
    taeda.manual_seed(0)
    y = function(ones(function, 200), 0.25, training=True)
    assert sorted(set(y.flatten().tolist())) == [0, pytest.approx(1 / 0.75)]
    assert y.mean().item() == pytest.approx(1, abs=0.02)
    if function is not F.dropout:
        channels = y.flatten(2)
        assert taeda.equal(channels.amax(-1), channels.amin(-1))


@pytest.mark.parametrize("function", [F.dropout1d, F.dropout3d])
def test_channels_without_a_batch(function):
    taeda.manual_seed(0)
    x = ones(function)[0]
    y = function(x, 0.5, training=True)
    assert y.shape == x.shape
    assert {tuple(set(row.tolist())) for row in y.flatten(1)} == {(0.0,), (2.0,)}


@pytest.mark.parametrize("function", ALL)
def test_in_place_writes_what_is_returned_otherwise(function):
    x = ones(function)
    taeda.manual_seed(3)
    wanted = function(x, 0.5, training=True)
    taeda.manual_seed(3)
    made = function(x, 0.5, training=True, inplace=True)
    assert made.data_ptr() == x.data_ptr()
    assert taeda.equal(x, wanted) and taeda.equal(made, wanted)


@pytest.mark.parametrize("function", [F.alpha_dropout, F.feature_alpha_dropout])
def test_the_dropped_take_the_limit_of_selu(function):
    taeda.manual_seed(0)
    p = 0.3
    scale = ((1 - p) * (1 + p * LIMIT**2)) ** -0.5
    shift = -scale * p * LIMIT
    y = function(ones(function) * 2, p, training=True)
    assert sorted(set(y.flatten().tolist())) == pytest.approx(
        [scale * LIMIT + shift, 2 * scale + shift]
    )
    if function is F.feature_alpha_dropout:
        assert taeda.equal(y.amax(-1), y.amin(-1))


@pytest.mark.parametrize("function", ALL)
def test_gradients_are_the_scales(function):
    x = ones(function).requires_grad_()
    taeda.manual_seed(5)
    y = function(x, 0.4, training=True)
    y.sum().backward()
    taeda.manual_seed(5)
    moved = function(x.detach() + 1, 0.4, training=True)
    assert taeda.allclose(x.grad, moved - y.detach())


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_probabilities_lie_between_zero_and_one(function, p):
    with pytest.raises(ValueError, match=f"between 0 and 1, but got {p}"):
        function(ones(function), p, training=True)


def test_channels_need_two_dimensions():
    wanted = pytest.raises(RuntimeError, match="at least 2 dimensions in the input, got 1")
    with wanted:
        F.feature_alpha_dropout(taeda.ones(3), 0.5, training=True)
    with pytest.warns(UserWarning, match="1-D input to dropout2d"), wanted:
        F.dropout2d(taeda.ones(3), 0.5, training=True)


def test_other_ranks_warn():
    with pytest.warns(UserWarning, match="2-D input to dropout3d.*3 spatial dimensions"):
        F.dropout3d(taeda.ones(2, 3))


@pytest.mark.parametrize(
    "name",
    ["dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"],
)
def test_each_sample_of_a_map_draws_its_own_numbers(name):
    x = taeda.ones(
        4, 2, 8, *([3] * (3 if name == "dropout3d" else 2 if name == "dropout2d" else 1))
    )
    function = getattr(taeda.nn.functional, name)
    made = taeda.func.vmap(lambda z: function(z, 0.5, training=True), randomness="different")(x)
    assert made.shape == x.shape
    assert any(not taeda.equal(made[0], other) for other in made[1:])
