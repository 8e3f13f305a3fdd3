"""Dimensions exchanged in place."""

from __future__ import annotations

import pytest

import taeda


def matrix():
    return taeda.tensor([[0.0, 0.5, 0.0], [0.25, 0.0, 0.125]])


def test_a_tensor_turned_in_place_is_the_same_object_and_counts_a_version():
    x = matrix().to_sparse()
    version = x._version
    assert x.t_() is x
    assert x.shape == (3, 2)
    assert x._version > version
    hybrid = taeda.stack([matrix(), matrix()]).to_sparse(2)
    with pytest.raises(NotImplementedError, match="transpose_"):
        hybrid.transpose_(1, 2)
    with pytest.raises(RuntimeError, match="not changed in place"):
        matrix().to_sparse().requires_grad_().t_()
    with pytest.raises(NotImplementedError, match="t_"):
        matrix().to_sparse_csr().t_()


@pytest.mark.parametrize("name", ["transpose_", "swapaxes_", "swapdims_"])
def test_any_two_sparse_dimensions(name):
    x = taeda.stack([matrix(), 2 * matrix()]).to_sparse()
    wanted = x.to_dense().transpose(-1, 0)
    assert getattr(x, name)(-1, 0) is x
    assert taeda.equal(x.to_dense(), wanted)
    assert not x.is_coalesced()
    with pytest.raises(IndexError):
        getattr(x, name)(0, 3)
