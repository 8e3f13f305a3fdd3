"""Embedding and EmbeddingBag."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda import nn


def test_rows_by_index():
    layer = nn.Embedding(5, 3)
    index = taeda.tensor([[0, 4], [2, 2]])
    expected = layer.weight.detach().numpy()[index.numpy()]
    np.testing.assert_array_equal(layer(index).detach().numpy(), expected)
    assert layer(index.int()).shape == (2, 2, 3)


def test_gradients_add_up_and_leave_the_padding_out():
    layer = nn.Embedding(4, 2, padding_idx=-1)
    assert layer.padding_idx == 3
    assert layer.weight[3].tolist() == [0, 0]
    layer(taeda.tensor([0, 3, 0, 1])).sum().backward()
    assert layer.weight.grad.tolist() == [[2, 2], [1, 1], [0, 0], [0, 0]]


def test_gradients_scaled_by_frequency():
    layer = nn.Embedding(3, 1, scale_grad_by_freq=True)
    layer(taeda.tensor([0, 0, 1])).sum().backward()
    assert layer.weight.grad.tolist() == [[1], [1], [0]]


def test_max_norm_shortens_used_rows_in_place():
    layer = nn.Embedding.from_pretrained(
        taeda.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]]), max_norm=1.0
    )
    layer(taeda.tensor([0, 1, 0]))
    np.testing.assert_allclose(layer.weight.numpy(), [[0.6, 0.8], [0.3, 0.4], [6, 8]], rtol=1e-5)


def test_from_pretrained():
    table = taeda.ones(3, 2)
    frozen = nn.Embedding.from_pretrained(table)
    assert not frozen.weight.requires_grad
    assert frozen.weight.data_ptr() == table.data_ptr()
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    assert not nn.EmbeddingBag.from_pretrained(table).weight.requires_grad


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Embedding(5, 3)(taeda.tensor([5])), IndexError, "out of range|5"),
        (lambda: nn.Embedding(5, 3)(taeda.tensor([-1])), IndexError, "out of range|-1"),
        (lambda: nn.Embedding(5, 3)(taeda.tensor([1.0])), RuntimeError, "float32|int64"),
        (lambda: nn.Embedding(5, 3, padding_idx=7), AssertionError, r"7 is not in \[-5, 4\]"),
        (
            lambda: nn.Embedding(5, 3, _weight=taeda.ones(2, 3)),
            AssertionError,
            r"\(2, 3\), not \(5, 3\)",
        ),
        (lambda: nn.Embedding.from_pretrained(taeda.ones(3)), AssertionError, "got 1 dimensions"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()


# ---- bags ----

REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max}


@pytest.mark.parametrize("mode", REDUCE)
def test_bags_cut_at_offsets(mode):
    layer = nn.EmbeddingBag(6, 3, mode=mode)
    index, offsets = taeda.tensor([1, 2, 4, 5, 4]), taeda.tensor([0, 2, 2])
    table = layer.weight.detach().numpy()
    rows = [table[[1, 2]], None, table[[4, 5, 4]]]
    expected = [np.zeros(3) if r is None else REDUCE[mode](r, 0) for r in rows]
    np.testing.assert_allclose(layer(index, offsets).detach().numpy(), expected, rtol=1e-5)
    layer.include_last_offset = True
    again = layer(index, taeda.tensor([0, 2, 2, 5]))
    np.testing.assert_allclose(again.detach().numpy(), expected, rtol=1e-5)


def test_bags_as_rows_with_padding_and_weights():
    layer = nn.EmbeddingBag(6, 3, mode="sum", padding_idx=0)
    index, weights = taeda.tensor([[1, 0], [2, 3]]), taeda.tensor([[2.0, 5.0], [1.0, -1.0]])
    table = layer.weight.detach().numpy()
    expected = [2 * table[1], table[2] - table[3]]
    result = layer(index, per_sample_weights=weights)
    np.testing.assert_allclose(result.detach().numpy(), expected, rtol=1e-5)


def test_gradients_of_bags():
    layer = nn.EmbeddingBag(4, 1, mode="mean")
    layer(taeda.tensor([[0, 1], [1, 1]])).sum().backward()
    assert layer.weight.grad.tolist() == [[0.5], [1.5], [0], [0]]


BAG = taeda.tensor([1, 2])
FIRST = taeda.tensor([0])


@pytest.mark.parametrize(
    ("given", "options", "error", "text"),
    [
        ((BAG,), {}, ValueError, "offsets has to be a 1D Tensor but got None"),
        ((BAG, taeda.tensor([1])), {}, RuntimeError, r"offsets\[0\] has to be 0.*got 1"),
        ((BAG, taeda.tensor([0, 3])), {}, RuntimeError, "input's length 2 but got offsets.* of 3"),
        ((BAG, FIRST), {"mode": "x"}, ValueError, "one of sum, mean or max, but got 'x'"),
        (
            (taeda.tensor([1, 9]), FIRST),
            {},
            RuntimeError,
            r"Index 1 of input takes value 9.*\[0, 3\)",
        ),
        ((BAG.view(1, 2), FIRST), {}, ValueError, "input is 2D, then offsets has to be None"),
        ((BAG.view(1, 1, 2),), {}, ValueError, "1D or 2D Tensor, but got Tensor of dimension 3"),
        ((BAG.float(), FIRST), {}, RuntimeError, "int64 or int32, but got taeda.float32"),
        ((BAG, FIRST, taeda.ones(2)), {"mode": "mean"}, NotImplementedError, "mode='sum'"),
        ((BAG, FIRST, taeda.ones(3)), {"mode": "sum"}, ValueError, "same shape as the input"),
        ((BAG, FIRST), {"mode": "max", "scale_grad_by_freq": True}, ValueError, "by the frequency"),
    ],
)
def test_refusals_of_bags(given, options, error, text):
    with pytest.raises(error, match=text):
        nn.EmbeddingBag(3, 2, **options)(*given)


def test_the_first_of_equal_maxima_gets_the_gradient():
    table = taeda.tensor([[1.0, 5.0], [1, 5], [2, 3], [2, 4]], requires_grad=True)
    input, offsets = taeda.tensor([0, 3, 2, 1, 1]), taeda.tensor([0, 0, 4])
    found = nn.functional.embedding_bag(input, table, offsets, mode="max")
    assert found.tolist() == [[0, 0], [2, 5], [1, 5]]
    found.sum().backward()
    assert table.grad.tolist() == [[0, 1], [1, 1], [0, 0], [1, 0]]


def test_the_maximum_of_a_bag_with_nan_is_nan():
    table = taeda.tensor([[1.0], [float("nan")]], requires_grad=True)
    input, offsets = taeda.tensor([0, 1, 0]), taeda.tensor([0, 2])
    found = nn.functional.embedding_bag(input, table, offsets, mode="max")
    assert found[0].isnan()
    assert found[1] == 1
    found.sum().backward()
    assert table.grad.tolist() == [[1], [1]]


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("cut", [True, False])
def test_sparse_gradients_of_bags_are_the_dense_ones(mode, cut):
    table = taeda.randn(5, 3, dtype=taeda.float64)
    input = taeda.tensor([0, 3, 3, 4, 1, 3] if cut else [[0, 3, 3], [4, 1, 3]])
    offsets = taeda.tensor([0, 4]) if cut else None
    found = []
    for sparse in (True, False):
        layer = nn.EmbeddingBag.from_pretrained(
            table.clone(), freeze=False, mode=mode, sparse=sparse
        )
        made = layer(input, offsets)
        (made * taeda.arange(6.0).reshape(2, 3)).sum().backward()
        found.append(layer.weight.grad)
    assert found[0].is_sparse and taeda.allclose(found[0].to_dense(), found[1])
    with pytest.raises(ValueError, match="max mode does not support sparse"):
        nn.functional.embedding_bag(input, table, offsets, mode="max", sparse=True)


def test_the_sparse_gradient_of_gather_is_the_dense_one():
    for dim in (0, -1):
        x = taeda.randn(3, 4, requires_grad=True)
        index = taeda.tensor([[0, 2], [1, 1]])
        taeda.gather(x, dim, index, sparse_grad=True).square().sum().backward()
        sparse, x.grad = x.grad, None
        taeda.gather(x, dim, index).square().sum().backward()
        assert sparse.is_sparse and taeda.equal(sparse.to_dense(), x.grad)
