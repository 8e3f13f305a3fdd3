"""Sparse tensors one behind the other."""

from __future__ import annotations

import pytest
from sparse_tensors import NUMBERS, hybrid, made, thirds

import taeda


@pytest.mark.parametrize("layout", [taeda.sparse_coo, *NUMBERS])
def test_one_behind_the_other(layout):
    x = thirds(4, 6)
    a = made(x, layout)
    for dim in (0, 1, -1):
        joined = taeda.cat([a, a * 2], dim)
        assert joined.layout is layout and taeda.equal(
            joined.to_dense(), taeda.cat([x, x * 2], dim)
        )
    assert taeda.equal(taeda.vstack([a, a]).to_dense(), taeda.vstack([x, x]))
    assert taeda.equal(taeda.hstack([a, a]).to_dense(), taeda.hstack([x, x]))


def test_dense_dimensions_and_new_ones():
    a, x = hybrid(), hybrid().to_dense()
    for dim in (0, 1):
        assert taeda.equal(taeda.cat([a, a], dim).to_dense(), taeda.cat([x, x], dim))
    for dim in (0, 1, 2, -1):
        assert taeda.equal(taeda.stack([a, a], dim).to_dense(), taeda.stack([x, x], dim))


def test_what_does_not_fit_is_refused():
    with pytest.raises(RuntimeError, match="same sizes except in dimension 0"):
        taeda.cat([thirds(4, 6).to_sparse(), thirds(4, 5).to_sparse()])
    with pytest.raises(RuntimeError, match="equal size"):
        taeda.stack([thirds(4, 6).to_sparse(), thirds(4, 5).to_sparse()])
    with pytest.raises(NotImplementedError, match="cat"):
        taeda.cat([thirds(4, 6).to_sparse(), thirds(4, 6)])


@pytest.mark.parametrize("join", [taeda.cat, taeda.stack, taeda.hstack, taeda.vstack, taeda.dstack])
@pytest.mark.parametrize("shape", [(3,), (3, 3)])
def test_a_strided_tensor_in_between_is_refused(join, shape):
    strided = taeda.ones(shape)
    for given in ([strided.to_sparse(), strided], [strided, strided.to_sparse()]):
        with pytest.raises(NotImplementedError, match="no kernel"):
            join(given)
