"""Other sizes of tensors by coordinates, in place."""

from __future__ import annotations

import pytest
from sparse_tensors import coo, hybrid

import taeda


def test_other_sizes_in_place():
    x = coo()
    assert x.sparse_resize_((3, 4), 2, 0) is x and x.shape == (3, 4)
    assert x.to_dense()[:2, :3].tolist() == coo().to_dense().tolist()
    with pytest.raises(RuntimeError, match="shrinking the size of sparse dimensions"):
        x.sparse_resize_((2, 3), 2, 0)
    with pytest.raises(RuntimeError, match="changing the number of dense dimensions"):
        x.sparse_resize_((3, 4, 2), 2, 1)
    version = x._version
    x.sparse_resize_and_clear_((2, 5), 1, 1)
    assert x._nnz() == 0 and (x.shape, x.sparse_dim()) == ((2, 5), 1) and x._version > version
    wide = hybrid().sparse_resize_((4, 3), 1, 1)
    assert (
        taeda.equal(wide.to_dense()[:3, :2], hybrid().to_dense())
        and not wide.to_dense()[:, 2].any()
    )
    assert hybrid().resize_as_(wide).shape == (4, 3)
