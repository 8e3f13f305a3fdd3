"""A tensor that was detached shares what it is made of: writes are seen on both sides, as in PyTorch."""

from __future__ import annotations

import pytest

import taeda

D = taeda.tensor(
    [[1.0, 0.0, 2.0, 0.0], [0.0, 0.0, 3.0, 0.0], [0.0, 4.0, 0.0, 5.0], [6.0, 0.0, 0.0, 0.0]]
)
KINDS = {
    "coo": lambda: D.to_sparse(),
    "csr": lambda: D.to_sparse_csr(),
    "csc": lambda: D.to_sparse_csc(),
    "bsr": lambda: D.to_sparse_bsr((2, 2)),
    "bsc": lambda: D.to_sparse_bsc((2, 2)),
}
WRITES = {
    "neg": lambda x: x.neg_(), "sin": lambda x: x.sin_(), "sqrt": lambda x: x.sqrt_(),
    "relu": lambda x: x.relu_(), "div": lambda x: x.div_(2), "pow": lambda x: x.pow_(2),
    "mul": lambda x: x.mul_(2), "add": lambda x: x.add_(x.clone()), "zero": lambda x: x.zero_(),
    "copy": lambda x: x.copy_(x.clone() * 3),
}  # fmt: skip
OWN = {"mul", "add", "zero", "copy"}  # of COO, which PyTorch gives other parts


@pytest.mark.parametrize("side", ["original", "detached", "data", "parameter"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_is_seen_on_the_other_side(kind, write, side):
    x = KINDS[kind]()
    others = {"original": x.detach(), "detached": x, "data": x, "parameter": x}
    made = {"original": x, "detached": x.detach(), "data": x.data}
    made["parameter"] = taeda.nn.Parameter(x, requires_grad=False)
    before = D.clone()
    WRITES[write](made[side])
    wanted = made[side].to_dense()
    assert not wanted.equal(before) or write == "relu"
    seen = before if kind == "coo" and write in OWN else wanted
    assert others[side].to_dense().equal(seen)


@pytest.mark.parametrize("kind", KINDS)
def test_a_clone_and_results_share_nothing(kind):
    x = KINDS[kind]()
    for made in (x.clone(), x * 1, x.neg(), x.abs(), x.t(), x.to(taeda.float64), x.round()):
        made.neg_()
    assert x.to_dense().equal(D)


def test_a_write_through_a_detached_tensor_is_refused_by_a_graph_that_kept_it():
    class Kept(taeda.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.to_dense()

        @staticmethod
        def backward(ctx, gradient):
            (x,) = ctx.saved_tensors
            return (x.to_dense() * gradient).to_sparse_csr()

    x = D.to_sparse_csr().requires_grad_()
    y = Kept.apply(x)
    x.detach().mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize("own", [taeda.int32, taeda.int64])
@pytest.mark.parametrize("other", [taeda.int32, taeda.int64])
def test_indices_keep_their_dtype_when_another_is_copied(own, other):
    def made(dtype, factor):
        x = D.to_sparse_csr()
        return taeda.sparse_csr_tensor(
            x.crow_indices().to(dtype), x.col_indices().to(dtype), x.values() * factor, (4, 4)
        )

    x = made(own, 1.0).copy_(made(other, 2.0))
    assert x.col_indices().dtype is x.crow_indices().dtype is own
    assert x.to_dense().equal(D * 2)
