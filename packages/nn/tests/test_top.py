"""Layers as functions at the top: the same results as the modules they belong to, and refusals."""

import pytest

import taeda


def test_dropout_keeps_the_mean_and_drops_whole_channels():
    x = taeda.ones(40, 50, 4)
    dropped = taeda.feature_dropout(x, 0.25, True)
    assert sorted(dropped.sum(2).unique().tolist()) == [0.0, pytest.approx(4 / 0.75)]
    assert dropped.mean().item() == pytest.approx(1, abs=0.1)
    assert taeda.feature_dropout_(x, 1.0, True) is x
    assert x.count_nonzero() == 0
    assert taeda.alpha_dropout(taeda.randn(100_000), 0.3, True).std().item() == pytest.approx(
        1, abs=0.02
    )


def test_bags_are_described():
    table = taeda.arange(8.0).reshape(4, 2)
    indices, offsets = taeda.tensor([3, 0, 2]), taeda.tensor([0, 2, 2])
    output, bag, size, source = taeda.embedding_bag(table, indices, offsets, mode=2)
    assert output.tolist() == [[6, 7], [0, 0], [4, 5]]
    assert (bag.tolist(), size.tolist()) == ([0, 0, 2], [2, 0, 1])
    assert source.tolist() == [[3, 3], [-1, -1], [2, 2]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: taeda.ctc_loss(x, x, [1], [1], 0, 3), r"0 \(none\), 1 \(mean\), 2 \(sum\); got 3"),
        (lambda x: taeda.embedding_bag(x, x, x, mode="sum"), "mode is one of"),
        (lambda x: taeda.grid_sampler(x, x, 7, 0, False), "interpolation_mode is one of"),
        (lambda x: taeda.grid_sampler_2d(x, x, 0, 0, False), "wanted input and grid of 4 dimensions"),
        (lambda x: taeda.conv_tbc(x, x, x), "input has 1 dimensions, wanted 3"),
        (lambda x: taeda.feature_alpha_dropout(x, 0.5, True), "at least 2 dimensions"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises((RuntimeError, ValueError), match=message):
        call(taeda.ones(2))


def test_a_norm_leaves_a_dimension_that_is_there():
    v = taeda.ones(2, 3)
    assert taeda.norm_except_dim(v, 2, -2).shape == (2, 1)
    for dim in (2, -3):
        with pytest.raises(IndexError, match=f"dim={dim} of 2 dimensions"):
            taeda.norm_except_dim(v, 2, dim)
        with pytest.raises(IndexError, match=f"dim={dim} of 2 dimensions"):
            taeda.nn.utils.parametrizations.weight_norm(taeda.nn.Linear(3, 2), dim=dim)
