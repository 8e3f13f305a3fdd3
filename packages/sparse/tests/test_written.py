"""Writes into what a sparse tensor was made of: no gradient is silently that of other numbers."""

from __future__ import annotations

import pytest
from written_kinds import Case, Kind, cases, judge

import taeda

B = taeda.arange(16, dtype=taeda.float64).reshape(4, 4) / 7 - 1
CALLS = {
    "itself": lambda x: x,
    "square": lambda x: x * x,
    "sin": lambda x: x.sin(),
    "neg": lambda x: -x,
    "by number": lambda x: x * 3,
    "by dense": lambda x: x * B,
    "add": lambda x: x + x,
    "t": lambda x: x.t() * x.t(),
    "sum": lambda x: x.sum(),
    "sum of dim": lambda x: taeda.sparse.sum(x, 0),
    "product": lambda x: x @ B,
    "linear": lambda x: taeda.nn.functional.linear(x, B),
    "own product": lambda x: x @ x,
    "solve": lambda x: taeda.sparse.spsolve(x, B[0]),
    "softmax": lambda x: taeda.sparse.softmax(x, 1),
    "to_dense": lambda x: x.to_dense(),
    "to_csr": lambda x: x.to_sparse_csr() * 2,
    "to_coo": lambda x: x.to_sparse() * 2,
    "coalesce": lambda x: x.coalesce() * x.coalesce(),
    "values": lambda x: x.values() ** 2,
    "index": lambda x: x[1] * x[1],
    "select": lambda x: x.select(0, 0),
    "cat": lambda x: taeda.cat([x, x]),
    "mask": lambda x: x.sparse_mask(x.coalesce()) * 2,
}


def _compressed(layout):
    return lambda values, parts: taeda.sparse_compressed_tensor(
        parts["compressed"], parts["plain"], values, (4, 4), layout=layout
    )


def _coo(values, parts):
    return taeda.sparse_coo_tensor(parts["indices"], values, (4, 4))


ENTRIES = {
    "compressed": lambda: taeda.tensor([0, 2, 3, 4, 5]),
    "plain": lambda: taeda.tensor([0, 2, 1, 3, 0]),
}
BLOCKS = {
    "compressed": lambda: taeda.tensor([0, 1, 2]),
    "plain": lambda: taeda.tensor([1, 0]),
}
RISING = {"indices": lambda: taeda.tensor([[0, 0, 1, 2, 3], [0, 2, 1, 3, 0]])}
REPEATED = {"indices": lambda: taeda.tensor([[3, 0, 1, 0, 2], [0, 2, 1, 2, 3]])}
KINDS = [
    Kind("coo", (5,), _coo, RISING),
    Kind("uncoalesced", (5,), _coo, REPEATED),
    *(Kind(str(y), (5,), _compressed(y), ENTRIES) for y in (taeda.sparse_csr, taeda.sparse_csc)),
    *(
        Kind(str(y), (2, 2, 2), _compressed(y), BLOCKS)
        for y in (taeda.sparse_bsr, taeda.sparse_bsc)
    ),
]


@pytest.mark.parametrize("case", cases(KINDS), ids=str)
def test_gradients_know_of_writes_or_are_refused(case: Case) -> None:
    right, refused, wrong = judge(case, CALLS)
    assert not wrong
    if case.write == "mul" and case.is_before:
        assert refused > 15
        assert not right
    if case.write == "unrecorded" and case.is_before:
        assert right > 12
        assert not refused


def test_a_gradient_given_by_hand_meets_the_same_refusal():
    x = taeda.ones(2, requires_grad=True)
    values = x * 1
    made = taeda.sparse_coo_tensor([[0, 1]], values, (3,))
    values.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        taeda.autograd.backward(made, taeda.ones(3).to_sparse())


def test_writes_under_no_grad_and_detached_tensors_stay_usable():
    leaf = taeda.ones(2, requires_grad=True)
    made = taeda.sparse_coo_tensor([[0, 1]], leaf, (3,))
    with taeda.no_grad():
        leaf.mul_(3)
    (made * made).sum().backward()
    assert leaf.grad.tolist() == [6.0, 6.0]
    values = leaf * 1
    apart = taeda.sparse_coo_tensor([[0, 1]], values, (3,)).detach().requires_grad_()
    values.mul_(2)
    (apart * apart).sum().backward()
    assert apart.grad.to_dense().tolist() == [12.0, 12.0, 0.0]
