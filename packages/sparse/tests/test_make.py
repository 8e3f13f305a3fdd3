"""Constructors: what they make, and that no index gets past them."""

from __future__ import annotations

import pytest
from every_kind import KINDS, refused
from sparse_tensors import DENSE, INDICES, VALUES, coo

import taeda


def test_values_at_one_place_are_added_up():
    x = coo()
    assert type(x) is taeda.Tensor
    assert x.layout is taeda.sparse_coo and x.is_sparse and not x.is_sparse_csr
    assert x.to_dense().tolist() == DENSE
    assert not x.is_coalesced() and x._nnz() == 4


def test_size_is_the_smallest():
    assert taeda.sparse_coo_tensor(INDICES, VALUES).shape == (2, 3)
    assert taeda.sparse_csr_tensor([0, 1, 2], [2, 0], [1.0, 2.0]).shape == (2, 3)


def test_no_values():
    x = taeda.sparse_coo_tensor((2, 3), dtype=taeda.float64)
    assert x._nnz() == 0 and x.dtype is taeda.float64
    assert x.to_dense().tolist() == [[0.0] * 3] * 2


def test_dense_dimensions():
    x = taeda.sparse_coo_tensor([[1, 0]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))
    assert (x.sparse_dim(), x.dense_dim()) == (1, 1)
    assert x.to_dense().tolist() == [[3.0, 4.0], [1.0, 2.0], [0.0, 0.0]]


def test_rows():
    x = taeda.sparse_csr_tensor([0, 1, 2], [2, 0], [3.0, 4.0], (2, 3))
    assert x.layout is taeda.sparse_csr and x.is_sparse_csr
    assert x.to_dense().tolist() == [[0.0, 0.0, 3.0], [4.0, 0.0, 0.0]]


def test_index_types_of_rows_stay():
    index = [taeda.tensor(i, dtype=taeda.int32) for i in ([0, 1, 2], [2, 0])]
    assert taeda.sparse_csr_tensor(*index, [1.0, 2.0]).col_indices().dtype is taeda.int32


def test_gradients_flow_to_the_values():
    values = taeda.tensor(VALUES, requires_grad=True)
    x = taeda.sparse_coo_tensor(INDICES, values, (2, 3))
    (x.to_dense() * taeda.arange(6.0).reshape(2, 3)).sum().backward()
    assert values.grad.tolist() == [2.0, 3.0, 5.0, 3.0]


def test_a_leaf_of_its_own():
    x = taeda.sparse_coo_tensor(INDICES, VALUES, (2, 3), requires_grad=True)
    assert x.is_leaf and x.requires_grad


@pytest.mark.parametrize(
    ("indices", "values", "size", "fact"),
    [
        ([[0, 5]], [1.0, 2.0], (2,), "size is 2 but found index 5"),
        ([[0, -1]], [1.0, 2.0], (2,), "negative index -1"),
        ([0, 1], [1.0, 2.0], (2,), "sparse_dim x nnz"),
        ([[0, 1, 1]], [1.0, 2.0], (2,), "same nnz"),
        ([[0, 1]], [1.0, 2.0], (2, 2), "number of dimensions"),
        ([[0, 1]], [[1.0], [2.0]], (2, 2), "values has incorrect size"),
        ([[0.5, 1]], [1.0, 2.0], (2,), "integers"),
        ([[0, 1]], [1.0, 2.0], (-2,), "no negative"),
    ],
)
def test_refused(indices, values, size, fact):
    with pytest.raises(RuntimeError, match=fact):
        taeda.sparse_coo_tensor(indices, values, size)


@pytest.mark.parametrize(
    ("crow", "col", "fact"),
    [
        ([0, 1, 3], [2, 0], "rise from 0 to 2"),
        ([1, 1, 2], [2, 0], "rise from 0 to 2"),
        ([0, 2, 1, 2], [2, 0], "fall in between"),
        ([0, 1, 2], [3, 0], "from 0 to 2, but they are from 0 to 3"),
        ([0, 1, 2], [-1, 0], "from -1"),
        ([0, 2, 2], [2, 0], "rise within each row"),
        ([0, 2, 2], [1, 1], "rise within each row"),
    ],
)
def test_refused_rows(crow, col, fact):
    with pytest.raises(RuntimeError, match=fact):
        taeda.sparse_csr_tensor(crow, col, [1.0, 2.0], (len(crow) - 1, 3))


def test_a_false_claim_to_be_coalesced():
    with pytest.raises(RuntimeError, match="uncoalesced"):
        taeda.sparse_coo_tensor(INDICES, VALUES, is_coalesced=True, check_invariants=True)


MADE_OF = {
    "values": lambda x: taeda.sparse_coo_tensor([[0, 1]], x),
    "indices": lambda x: taeda.sparse_coo_tensor(x, taeda.ones(2)),
    "values of rows": lambda x: taeda.sparse_csr_tensor([0, 1, 2], [0, 1], x, (2, 2)),
    "crow_indices": lambda x: taeda.sparse_csr_tensor(x, [0, 1], taeda.ones(2), (2, 2)),
    "col_indices": lambda x: taeda.sparse_csr_tensor([0, 1, 2], x, taeda.ones(2), (2, 2)),
    "values of blocks": lambda x: taeda.sparse_bsr_tensor([0, 1, 2], [0, 1], x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", MADE_OF)
def test_parts_are_plain_tensors(part, kind):
    assert f"{part.split()[0]} must be a plain tensor, but got a" in refused(MADE_OF[part], kind)


@pytest.mark.parametrize(
    "layout", ["sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"]
)
def test_parts_on_meta_have_no_numbers_to_check(layout, tmp_path):
    block = (1, 1) if "bs" in layout else None
    made = taeda.eye(2).to_sparse(layout=getattr(taeda, layout), blocksize=block)
    taeda.save({"x": made}, tmp_path / "x.pt")
    loaded = taeda.load(tmp_path / "x.pt", map_location="meta")["x"]
    assert loaded.is_meta and loaded.layout is made.layout and loaded.shape == (2, 2)


def test_a_size_is_not_taken_from_indices_on_meta():
    index = taeda.zeros(1, 2, dtype=taeda.int64, device="meta")
    values = taeda.ones(2, device="meta")
    assert taeda.sparse_coo_tensor(index, values, (3,)).shape == (3,)
    with pytest.raises(RuntimeError, match="give size"):
        taeda.sparse_coo_tensor(index, values)
    with pytest.raises(RuntimeError, match="give size"):
        taeda.sparse_csr_tensor(taeda.zeros(3, dtype=taeda.int64, device="meta"), index[0], values)
