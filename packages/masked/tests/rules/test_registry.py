"""What no rule of masked tensors knows is refused by name."""

from __future__ import annotations

import pytest
from masks import MASK, X

import taeda
from taeda.masked import masked_tensor


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda x: masked_tensor(X, MASK[:2]), ValueError, r"got \(3, 4\) and \(2, 4\)"),
        (lambda x: masked_tensor(X, MASK.float()), TypeError, "dtype bool, but it has"),
        (lambda x: masked_tensor([1.0], MASK), TypeError, "data must be a Tensor"),
        (lambda x: masked_tensor(x, MASK), TypeError, "plain Tensor"),
        (lambda x: masked_tensor(X.to_sparse(), MASK), TypeError, "sparse_coo"),
        (lambda x: x + masked_tensor(X, ~MASK), ValueError, "equal masks"),
        (lambda x: x @ X.T, NotImplementedError, "matmul: .* MaskedTensor"),
        (lambda x: x.sort(), NotImplementedError, "sort: .* get_data"),
        (lambda x: taeda.add(x, 1, out=x), NotImplementedError, "out="),
        (lambda x: x.requires_grad_().add_(1), RuntimeError, "while gradients are"),
        (lambda x: x[2, 0].item(), ValueError, "does not count"),
        (lambda x: x.numpy(), RuntimeError, "numpy"),
        (lambda x: x.untyped_storage(), RuntimeError, "MaskedTensor"),
        (lambda x: x.to_sparse(), NotImplementedError, "MaskedTensor"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call(masked_tensor(X, MASK))
