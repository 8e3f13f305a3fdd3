"""Adam for sparse gradients: what it refuses. Its steps are tested with taeda-sparse."""

from __future__ import annotations

import pytest

import taeda
from taeda import optim


def leaf(dtype=taeda.float32):
    param = taeda.ones(2, 3, dtype=dtype).requires_grad_()
    param.grad = taeda.full_like(param.detach(), 0.5)
    return param


def test_dense_gradients_are_not_for_sparse_adam():
    with pytest.raises(RuntimeError, match=r"dense gradients.*Embedding\(sparse=True\)"):
        optim.SparseAdam([leaf()]).step()


def test_parameters_without_a_gradient_stay():
    param = taeda.ones(2).requires_grad_()
    optim.SparseAdam([param]).step()
    assert param.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({"lr": 0.0}, "learning rate: 0.0"),
        ({"eps": -1.0}, "epsilon"),
        ({"betas": (1.0, 0.9)}, "index 0"),
        ({"betas": (0.9, 1.0)}, "index 1"),
    ],
)
def test_refused_options(options, fact):
    with pytest.raises(ValueError, match=fact):
        optim.SparseAdam([leaf()], **options)


def test_complex_parameters_are_refused():
    with pytest.raises(ValueError, match="Complex params"):
        optim.SparseAdam([taeda.ones(2, dtype=taeda.complex64).requires_grad_()])
