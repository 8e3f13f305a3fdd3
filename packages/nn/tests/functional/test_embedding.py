"""Rows of a table by their numbers, alone and in bags: by definition, gradients, edges."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F


@pytest.fixture
def table():
    taeda.manual_seed(0)
    return taeda.randn(6, 3, dtype=taeda.float64)


@pytest.mark.parametrize("shape", [(), (0,), (4,), (2, 3)])
@pytest.mark.parametrize("dtype", [taeda.int64, taeda.int32])
def test_every_index_is_a_row(table, shape, dtype):
    index = taeda.randint(0, 6, shape, dtype=dtype)
    made = F.embedding(index, table)
    np.testing.assert_array_equal(made.numpy(), table.numpy()[index.numpy()])
    turned = table.t().contiguous().t()
    assert taeda.equal(F.embedding(index, turned), made)


def test_gradients(table):
    index = taeda.tensor([0, 2, 2, 5])
    assert gradcheck(lambda t: F.embedding(index, t), (table.requires_grad_(),))


@pytest.mark.parametrize("padding", [2, -4])
def test_the_padding_gets_no_gradient(table, padding):
    table.requires_grad_()
    F.embedding(taeda.tensor([0, 2, 2, 5]), table, padding).sum().backward()
    assert table.grad.sum(1).tolist() == [3, 0, 0, 0, 0, 3]


def test_gradients_by_frequency(table):
    table.requires_grad_()
    F.embedding(taeda.tensor([0, 2, 2]), table, scale_grad_by_freq=True).sum().backward()
    assert table.grad[:3, 0].tolist() == [1, 0, 1]


@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_used_rows_are_shortened(table, norm):
    before = table.numpy().copy()
    made = F.embedding(taeda.tensor([[0, 1], [1, 0]]), table, max_norm=0.5, norm_type=norm)
    lengths = np.linalg.norm(before, norm, axis=1)
    assert (lengths > 0.5).all()
    np.testing.assert_allclose(table.numpy()[:2], before[:2] * 0.5 / (lengths[:2, None] + 1e-7))
    np.testing.assert_array_equal(table.numpy()[2:], before[2:])
    assert taeda.equal(made[0, 0], table[0])


# ---- bags ----

INDEX, OFFSETS = taeda.tensor([1, 2, 4, 5, 4, 0]), taeda.tensor([0, 2, 2, 5])
BAGS = [[1, 2], [], [4, 5, 4], [0]]
REDUCE = {"sum": np.sum, "mean": np.mean, "max": np.max}


@pytest.mark.parametrize("mode", REDUCE)
def test_bags(table, mode):
    rows = [table.numpy()[bag] for bag in BAGS]
    wanted = [REDUCE[mode](r, 0) if len(r) else np.zeros(3) for r in rows]
    made = F.embedding_bag(INDEX, table, OFFSETS, mode=mode)
    np.testing.assert_allclose(made.numpy(), wanted)
    ends = taeda.tensor([0, 2, 2, 5, 6])
    last = F.embedding_bag(INDEX, table, ends, mode=mode, include_last_offset=True)
    assert taeda.equal(last, made)
    rows = F.embedding_bag(INDEX.reshape(3, 2), table, mode=mode)
    wanted = REDUCE[mode](table.numpy()[INDEX.numpy().reshape(3, 2)], 1)
    np.testing.assert_allclose(rows.numpy(), wanted)


@pytest.mark.parametrize("mode", REDUCE)
def test_gradients_of_bags(table, mode):
    run = lambda t: F.embedding_bag(INDEX, t, OFFSETS, mode=mode)  # noqa: E731 - of one line
    assert gradcheck(run, (table.requires_grad_(),))


def test_weights_of_samples(table):
    weights = taeda.arange(1.0, 7.0, dtype=taeda.float64)
    given = INDEX, table.requires_grad_(), OFFSETS
    made = F.embedding_bag(*given, mode="sum", per_sample_weights=weights)
    t = table.detach().numpy()
    wanted = [t[1] + 2 * t[2], 0 * t[0], 3 * t[4] + 4 * t[5] + 5 * t[4], 6 * t[0]]
    np.testing.assert_allclose(made.detach().numpy(), wanted)
    assert gradcheck(
        lambda t, w: F.embedding_bag(INDEX, t, OFFSETS, mode="sum", per_sample_weights=w),
        (table, weights.requires_grad_()),
    )


@pytest.mark.parametrize("mode", REDUCE)
@pytest.mark.parametrize("padding", [4, -2])
def test_the_padding_does_not_count(table, mode, padding):
    made = F.embedding_bag(INDEX, table, OFFSETS, mode=mode, padding_idx=padding)
    assert taeda.equal(made[2], table[5]) and not made[1].any()


def test_rows_of_no_length_are_empty_bags(table):
    assert not F.embedding_bag(taeda.zeros(2, 0).long(), table).any()
    assert F.embedding_bag(taeda.zeros(0, 2).long(), table).shape == (0, 3)


def test_rows_in_bags_are_shortened(table):
    F.embedding_bag(taeda.tensor([[0, 1]]), table, max_norm=0.5)
    assert table[:2].norm(dim=1).tolist() == pytest.approx([0.5, 0.5])
    assert table[2].norm() > 0.5


T, I, O = taeda.ones(4, 2), taeda.tensor([0, 3]), taeda.tensor([0])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: F.embedding(I + 1, T), IndexError, "4|range"),
        (lambda: F.embedding(I, T, padding_idx=4), AssertionError, r"4 is not in \[-4, 3\]"),
        (lambda: F.embedding_bag(I, T, O, mode="most"), ValueError, "but got 'most'"),
        (lambda: F.embedding_bag(I, T, O, mode="sum", per_sample_weights=T), ValueError,
            r"\(4, 2\).* \(\(2,\)\)"),
        (lambda: F.embedding_bag(I, T, O, per_sample_weights=T[0]), NotImplementedError, "got mode='mean'"),
        (lambda: F.embedding_bag(I, T, O, mode="max", scale_grad_by_freq=True), ValueError,
            "max mode does not"),
        (lambda: F.embedding_bag(I, T[0], O), ValueError, "got Tensor of dimension 1"),
        (lambda: F.embedding_bag(I[None], T, O), ValueError, "offsets has to be None"),
        (lambda: F.embedding_bag(I, T), ValueError, "1D Tensor but got None"),
        (lambda: F.embedding_bag(I, T, O[None]), ValueError, "got Tensor of dimension 2"),
        (lambda: F.embedding_bag(I[0], T), ValueError, "1D or 2D Tensor, but got Tensor of dimension 0"),
        (lambda: F.embedding_bag(I.float(), T, O), RuntimeError, "input must be of dtype int64 or int32"),
        (lambda: F.embedding_bag(I, T, O, mode="sum", per_sample_weights=T[0].double()),
            RuntimeError, "the same dtype"),
        (lambda: F.embedding_bag(I + 1, T, O), RuntimeError, r"Index 1 of input takes value 4.*\[0, 4\)"),
        (lambda: F.embedding_bag(I, T, O + 1), RuntimeError, r"offsets\[0\] has to be 0.*got 1"),
        (lambda: F.embedding_bag(I, T, taeda.tensor([0, 3])), RuntimeError,
            r"length 2 but got offsets\[-1\] of 3"),
        (lambda: F.embedding_bag(I, T, O[:0], include_last_offset=True), RuntimeError, "at least 1"),
    ],
)  # fmt: skip
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
