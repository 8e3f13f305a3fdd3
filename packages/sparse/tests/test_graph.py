"""Sparse gradients on their way: added up, cleared, clipped, used by optimizers."""

from __future__ import annotations

import pytest
from sparse_tensors import coo

import taeda


def table(**options) -> taeda.nn.Embedding:
    made = taeda.nn.Embedding(6, 3, sparse=True, **options)
    with taeda.no_grad():
        made.weight.copy_(taeda.arange(18.0).reshape(6, 3) / 10)
    return made


def dense(**options) -> taeda.nn.Embedding:
    made = taeda.nn.Embedding(6, 3, **options)
    made.load_state_dict(table(**options).state_dict())
    return made


BATCHES = [taeda.tensor([[1, 2], [1, 5]]), taeda.tensor([[0, 5], [4, 5]])]


@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}, {"scale_grad_by_freq": True}])
def test_embedding(options):
    ours, theirs = table(**options), dense(**options)
    for model in (ours, theirs):
        for batch in BATCHES:
            (model(batch).square().sum() + model(taeda.tensor([3])).sum()).backward()
    grad = ours.weight.grad
    assert grad.layout is taeda.sparse_coo and grad.shape == (6, 3)
    assert (grad.sparse_dim(), grad.dense_dim()) == (1, 1)
    assert taeda.allclose(grad.to_dense(), theirs.weight.grad)


STEPS = {
    "SGD": lambda p: taeda.optim.SGD(p, lr=0.1),
    "momentum": lambda p: taeda.optim.SGD(p, lr=0.1, momentum=0.9),
    "maximize": lambda p: taeda.optim.SGD(p, lr=0.1, maximize=True),
    "Adagrad": lambda p: taeda.optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize("make", STEPS.values(), ids=STEPS)
@pytest.mark.parametrize("to_none", [True, False])
def test_steps_are_those_of_dense_gradients(make, to_none):
    ours, theirs = table(), dense()
    for model in (ours, theirs):
        optimizer = make(model.parameters())
        for _ in range(3):
            optimizer.zero_grad(set_to_none=to_none)
            for batch in BATCHES:
                model(batch).square().sum().backward()
            taeda.nn.utils.clip_grad_norm_(model.parameters(), 2.0)
            optimizer.step()
    assert taeda.allclose(ours.weight, theirs.weight)


def test_sparse_adam_leaves_other_rows():
    model = table()
    before = model.weight.detach().clone()
    optimizer = taeda.optim.SparseAdam(list(model.parameters()), lr=0.1)
    model(taeda.tensor([1, 1, 4])).sum().backward()
    optimizer.step()
    change = (model.weight.detach() - before)[:, 0]
    assert taeda.allclose(change, taeda.tensor([0.0, -0.1, 0, 0, -0.1, 0]), atol=1e-5)


def test_decay_is_refused():
    model = table()
    model(BATCHES[0]).sum().backward()
    with pytest.raises(RuntimeError, match="weight_decay option is not compatible"):
        taeda.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.1).step()


def test_a_sparse_gradient_gets_a_dense_one():
    weight = taeda.ones(3, 2, requires_grad=True)
    for use in ("sparse", "dense", "sparse"):
        rows = taeda.nn.functional.embedding(taeda.tensor([1, 1]), weight, sparse=True)
        (rows.sum() if use == "sparse" else weight.sum()).backward()
    assert weight.grad.layout is taeda.strided
    assert weight.grad.tolist() == [[1.0, 1.0], [5.0, 5.0], [1.0, 1.0]]


@pytest.mark.parametrize("first", [True, False])
def test_both_in_one_walk(first):
    weight = taeda.ones(3, 2, requires_grad=True)
    rows = taeda.nn.functional.embedding(taeda.tensor([1, 1]), weight, sparse=True).sum()
    (rows + weight.sum() if first else weight.sum() + rows).backward()
    assert weight.grad.tolist() == [[1.0, 1.0], [3.0, 3.0], [1.0, 1.0]]


def test_compiled_steps_are_the_same():
    def run(compiled):
        model = table()
        optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)

        def step(batch):
            optimizer.zero_grad()
            loss = model(batch).square().sum()
            loss.backward()
            optimizer.step()
            return loss

        step = taeda.compile(step) if compiled else step
        return [float(step(BATCHES[i % 2])) for i in range(6)], model.weight.tolist()

    pytest.importorskip("taeda.compiler")
    assert run(True) == run(False)


def test_gradients_of_gradients():
    x = coo(taeda.float64).coalesce().requires_grad_()
    other = taeda.arange(6.0, dtype=taeda.float64).reshape(3, 2) - 2
    [first] = taeda.autograd.grad((x @ other).square().sum(), x, create_graph=True)
    [second] = taeda.autograd.grad(first.values().sum(), x)
    dense = x.detach().to_dense()
    places = (dense != 0).double()
    assert taeda.allclose(second.to_dense(), 2 * (places @ other) @ other.t() * places)


def test_func_grad_of_what_requires_grad():
    x = taeda.tensor([[0.0, 2.0], [3.0, 0.0]]).to_sparse()
    for given in (x, x.clone().requires_grad_()):
        made = taeda.func.grad(lambda x: (x * x).sum())(given)
        assert taeda.equal(made.to_dense(), 2 * x.to_dense())


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr"])
@pytest.mark.parametrize("write", ["zero_", "neg_", "sigmoid_"])
def test_no_write_into_values_of_the_graph_goes_unseen(layout, write):
    x = taeda.eye(4).requires_grad_()
    y = (x * 2).to_sparse() if layout == "coo" else (x * 2).to_sparse_csr()
    if layout != "coo":
        y = (x * 2).to_sparse(
            layout=getattr(taeda, f"sparse_{layout}"), blocksize=(2, 2) if layout == "bsr" else None
        )
    before = y.to_dense().detach().clone()
    with pytest.raises(RuntimeError, match=r"in-place|inplace"):
        getattr(y.values(), write)()
    assert taeda.equal(y.to_dense(), before)
    with taeda.no_grad():
        y.values().zero_()
    assert not y.to_dense().any()


def test_names_do_not_get_lost_inside():
    values = taeda.ones(2, names=("N",))
    places = taeda.tensor([[0, 1]])
    with pytest.raises(RuntimeError, match="names"):
        taeda.sparse_coo_tensor(places, values, (2,))
    with pytest.raises(RuntimeError, match="names"):
        taeda.sparse_csr_tensor(taeda.tensor([0, 1, 2]), places[0], values, (2, 2))


@pytest.mark.parametrize("call", [taeda.add, taeda.mul, lambda x, y: x.clone().add_(y)])
def test_names_are_refused_beside_sparse_tensors(call):
    plain = taeda.ones(2, 3)
    named = plain.refine_names("N", "C")
    for other in (
        plain.to_sparse(),
        plain.to_sparse_csr(),
    ):
        for pair in ((named, other), (other, named)):
            with pytest.raises(RuntimeError, match="names"):
                call(*pair)
