"""What torch refuses is refused by an error that its programs catch."""

import pytest

import taeda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def tensors(lib):
    dense = lib.eye(4)
    twice = lib.sparse_coo_tensor([[0, 0], [1, 1]], [1.0, 2.0], (4, 4))
    return {
        "t": lib,
        "d": dense,
        "coo": dense.to_sparse(),
        "csr": dense.to_sparse_csr(),
        "twice": twice,
    }


CALLS = """
twice.indices()
twice.values()
csr.indices()
coo.crow_indices()
csr.to_sparse_csc().crow_indices()
d.indices()
d.coalesce()
csr.coalesce()
coo.cos()
coo[9]
t.sparse_coo_tensor([[4]], [1.0], (4,), check_invariants=True)
t.sparse_coo_tensor([[0, 1]], [1.0], (4,))
t.sparse_coo_tensor([[0]], [1.0], (4, 4, 4))
t.sparse_csr_tensor([0, 1], [0], [1.0], (4, 4), check_invariants=True)
t.sparse_csr_tensor([0, 2, 1, 1, 1], [0], [1.0], (4, 4), check_invariants=True)
t.sparse_csr_tensor([0, 1, 1, 1, 1], [7], [1.0], (4, 4), check_invariants=True)
t.rand(5, 5).to_sparse_bsr((2, 2))
t.stack([d, t.zeros(4, 4)]).to_sparse_csr()
t.sparse.spsolve(coo, t.ones(4))
t.sparse.sampled_addmm(coo, d, d)
t.sparse.mm(coo, t.ones(3, 2))
t.sparse.mm(csr, d, "prod")
t.sparse.mm(csr, d, "most")
t.sparse.mm(csr, d, 3)
t.sparse.mm(None, d)
t.sparse.sum(None)
t.sparse.softmax(d, 0)
t.sparse.spdiags(t.ones(2, 3), t.tensor([0, 0]), (3, 3))
coo.clone().sparse_resize_((2, 2), 2, 0)
t.ones(3).sparse_mask(coo)
coo.view(16)
coo.numpy()
coo + t.eye(3).to_sparse()
coo * t.ones(3)
coo.clone().add_(d)
t.stack([coo, coo], 5)
t.equal(coo, coo)
coo.item()
bool(coo)
""".strip().splitlines()


@pytest.mark.parametrize("call", CALLS)
def test_the_type_of_the_error(call):
    with pytest.raises(Exception) as theirs:
        eval(call, tensors(torch))
    with pytest.raises(theirs.type):
        eval(call, tensors(taeda))
