"""Conversions, questions and copies of sparse tensors."""

from __future__ import annotations

import io
import pickle
from multiprocessing.reduction import ForkingPickler

import pytest
from sparse_tensors import BOTH, DENSE, coo, csr

import taeda
import taeda.multiprocessing  # registers how tensors travel


def test_indices_of_repeated_places_are_raw():
    x = coo()
    for what in (x.indices, x.values):
        with pytest.raises(RuntimeError, match="uncoalesced"):
            what()
    assert x._indices().tolist() == [[0, 1, 1, 1], [2, 0, 2, 0]]
    assert x._values().tolist() == [3.0, 4.0, 5.0, 1.0]


def test_mask():
    x = taeda.arange(6.0).reshape(2, 3).requires_grad_()
    made = x.sparse_mask(coo().coalesce())
    assert made.to_dense().tolist() == [[0.0, 0.0, 2.0], [3.0, 0.0, 5.0]]
    made.to_dense().sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
def test_processes_get_the_parts(make):
    found = pickle.loads(bytes(ForkingPickler.dumps(make())))
    assert found.layout is make().layout and found.to_dense().tolist() == DENSE


def test_strided_tensors_are_refused():
    for name in ("coalesce", "indices", "values", "crow_indices", "_nnz", "is_coalesced"):
        with pytest.raises(RuntimeError, match="expected a"):
            getattr(taeda.ones(2), name)()


def test_text():
    assert repr(coo().coalesce().requires_grad_()) == (
        "tensor(indices=tensor([[0, 1, 1],\n"
        "                       [2, 0, 2]]),\n"
        "       values=tensor([3., 5., 5.]),\n"
        "       size=(2, 3), nnz=3, layout=taeda.sparse_coo, requires_grad=True)"
    )
    assert "crow_indices=tensor([0, 1, 3])" in repr(csr())


@pytest.mark.parametrize("form", ["pt", "safetensors"])
def test_files(form):
    weight = taeda.nn.Parameter(csr())
    file = io.BytesIO()
    taeda.save({"a": coo(), "b": [weight], "c": coo().coalesce()}, file, format=form)
    file.seek(0)
    found = taeda.load(file)
    assert found["a"]._indices().tolist() == coo()._indices().tolist()
    assert not found["a"].is_coalesced() and found["c"].is_coalesced()
    again = found["b"][0]
    assert type(again) is taeda.nn.Parameter and again.layout is taeda.sparse_csr
    assert again.requires_grad and taeda.equal(
        again.detach().to_dense(), weight.detach().to_dense()
    )


def test_buffers_and_parameters_of_modules():
    module = taeda.nn.Module()
    module.register_buffer("graph", coo())
    module.weight = taeda.nn.Parameter(csr())
    state = module.state_dict()
    module.double()
    assert module.graph.dtype is module.weight.dtype is taeda.float64
    with taeda.no_grad():
        module.graph.zero_()
    module.load_state_dict(state)
    assert module.graph.to_dense().tolist() == DENSE


@pytest.mark.parametrize("make", BOTH.values(), ids=BOTH)
@pytest.mark.parametrize("key", [0, (0, 0), (0, slice(1)), ..., ([0], [1]), None])
@pytest.mark.parametrize("value", [1.0, taeda.tensor(1.0)])
def test_no_assignment_gets_lost(make, key, value):
    x = make()
    with pytest.raises(TypeError, match="Cannot assign to a sparse tensor"):
        x[key] = value
    assert x.to_dense().tolist() == DENSE


TEXTS = {
    "batches": (
        lambda: taeda.tensor([[[1.0, 0], [2, 3]], [[4, 0], [5, 6]]]).to_sparse_csr(),
        "[4., 5., 6.]]), size=(2, 2, 2), nnz=3,\n       layout=taeda.sparse_csr)",
    ),
    "nothing": (
        lambda: taeda.sparse_coo_tensor(size=(2, 3)),
        "tensor([], size=(0,)),\n       size=(2, 3), nnz=0, layout=taeda.sparse_coo)",
    ),
    "integers": (lambda: coo(taeda.int64), "       size=(2, 3), nnz=4, layout=taeda.sparse_coo)"),
    "float64": (
        lambda: coo(taeda.float64),
        "1.]),\n       size=(2, 3), nnz=4, dtype=taeda.float64, layout=taeda.sparse_coo)",
    ),
}


def test_a_line_of_facts_is_full_before_another_begins():
    ends = taeda.arange(2000.0, dtype=taeda.float64)
    x = taeda.sparse_coo_tensor(taeda.arange(2000).repeat(2, 1), ends, (2000, 2000))
    facts = "size=(2000, 2000), nnz=2000, dtype=taeda.float64, layout=taeda.sparse_coo)"
    assert repr(x).endswith("\n       " + facts)


@pytest.mark.parametrize("name", TEXTS)
def test_texts(name):
    make, text = TEXTS[name]
    assert repr(make()).endswith(text)


def test_eigenpairs_of_a_sparse_matrix():
    dense = taeda.diag(taeda.arange(1.0, 13.0, dtype=taeda.float64))
    values, _ = taeda.lobpcg(dense.to_sparse(), k=2)
    assert taeda.allclose(values, taeda.tensor([12.0, 11.0], dtype=taeda.float64))


def test_claim_that_places_are_in_order_is_taken_and_taken_back():
    x = taeda.sparse_coo_tensor([[0, 2, 2], [1, 0, 1]], [1.0, 2.0, 3.0], (3, 2))
    assert not x.is_coalesced()
    assert x._coalesced_(True) is x
    assert x.is_coalesced()
    assert x.values().tolist() == [1, 2, 3]
    assert not x._coalesced_(False).is_coalesced()
    with pytest.raises(RuntimeError, match="sparse"):
        taeda.ones(2)._coalesced_(True)


def test_new_of_a_tensor_by_coordinates_is_one():
    x = taeda.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,))
    indices, values = taeda.tensor([[0, 2]]), taeda.tensor([5.0, 6.0], dtype=taeda.float64)
    for made, size in ((x.new(indices, values, x.size()), 3), (x.new(indices, values), 3),
                       (x.new(indices, values, (4,)), 4)):  # fmt: skip
        assert (made.layout, made.shape, made.dtype) == (taeda.sparse_coo, (size,), taeda.float64)
        assert made.to_dense().tolist() == [5, 0, 6, 0][:size]
    for made, shape in (
        (x.new(), (0,)),
        (x.new(2, 3), (2, 3)),
        (x.new(taeda.Size([2, 3])), (2, 3)),
    ):
        assert (made.layout, made.shape, made.dtype) == (taeda.sparse_coo, shape, taeda.float32)
        assert made._nnz() == 0
