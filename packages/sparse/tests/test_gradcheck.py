"""gradcheck of functions of sparse tensors."""

from __future__ import annotations

import pytest
from sparse_tensors import matrix

import taeda
from taeda.autograd import gradcheck


def test_gradcheck_wants_to_know_what_the_inputs_are():
    x = matrix().to_sparse().requires_grad_()
    with pytest.raises(ValueError, match="masked=True"):
        gradcheck(lambda x: x.to_dense(), x)
    check = taeda.sparse.as_sparse_gradcheck(gradcheck)
    assert check(lambda x: x.to_dense() * 2, x)
    assert check(lambda x: x * 2, x, masked=True)
