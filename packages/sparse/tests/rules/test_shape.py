"""Copies and transposed tensors."""

from __future__ import annotations

import copy
import pickle

import pytest
from sparse_tensors import BOTH, DENSE, coo, csr

import taeda


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_copies(make):
    x = make()
    for made in (x.clone(), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x.double().float()):
        assert made.layout is x.layout and taeda.equal(made.to_dense(), x.to_dense())
        made.mul_(0)
    assert taeda.equal(x.to_dense(), make().to_dense())
    assert x.detach().to_dense().tolist() == DENSE


def test_transposed():
    assert taeda.equal(coo().t().to_dense(), taeda.tensor(DENSE).t())
    assert taeda.equal(coo().T.to_dense(), taeda.tensor(DENSE).t())
    assert csr().t().layout is taeda.sparse_csc
    assert taeda.equal(csr().t().to_dense(), taeda.tensor(DENSE).t())
