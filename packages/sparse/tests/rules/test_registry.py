"""Forms in place: they give a tensor other parts."""

from __future__ import annotations

import pytest
from sparse_tensors import coo


def test_in_place_forms_write():
    x = coo()
    same = x
    x.mul_(2).add_(coo()).neg_()
    assert x is same and x.to_dense().tolist() == [[0.0, 0.0, -9.0], [-15.0, 0.0, -15.0]]
    assert x._version == 3
    x.zero_()
    assert x._nnz() == 0 and x.is_coalesced()


def test_writes_amid_a_graph_are_refused():
    x = coo().requires_grad_()
    for write in (lambda: x.mul_(2), lambda: x.zero_(), lambda: x.copy_(coo())):
        with pytest.raises(RuntimeError, match="not changed in place"):
            write()
