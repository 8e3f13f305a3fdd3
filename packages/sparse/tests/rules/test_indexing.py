"""Parts of sparse matrices."""

from __future__ import annotations

import pytest
from sparse_tensors import NUMBERS, made, thirds

import taeda


@pytest.mark.parametrize("layout", [taeda.sparse_coo, *NUMBERS])
def test_parts_of_a_matrix(layout):
    x = thirds(4, 6)
    a = made(x, layout)
    assert taeda.equal(a[1].to_dense(), x[1]) and a[1, 0] == x[1, 0]
    assert a[1:3].layout is layout and taeda.equal(a[1:3].to_dense(), x[1:3])
    assert taeda.equal(a[:, ::2].to_dense(), x[:, ::2])
    assert taeda.equal(a.narrow(1, 2, 3).to_dense(), x.narrow(1, 2, 3))
    wanted = taeda.tensor([3, 0, 3])
    assert taeda.equal(a[wanted].to_dense(), x[wanted])
    assert taeda.equal(a[wanted - 4].to_dense(), x[wanted - 4])
    assert taeda.equal(a[x[:, 0] > 0].to_dense(), x[x[:, 0] > 0])
    assert taeda.equal(a.index_select(1, wanted).to_dense(), x.index_select(1, wanted))
    assert all(taeda.equal(one.to_dense(), two) for one, two in zip(a, x, strict=True))


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x[4],
        lambda x: x.index_select(0, taeda.tensor([4])),
        lambda x: x[taeda.tensor([-5])],
        lambda x: x[taeda.tensor([True])],
        lambda x: x.narrow(0, 3, 2),
        lambda x: x.select(2, 0),
    ],
)
def test_what_is_not_there_is_refused(call):
    with pytest.raises(IndexError):
        call(thirds(4, 6).to_sparse())
