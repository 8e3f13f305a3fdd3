"""Every method and function that PyTorch's page of sparse tensors lists takes a sparse tensor, and
gives what it gives for the strided one; products have the layouts of its table.
"""

from __future__ import annotations

import pytest

import taeda

COO, CSR, DENSE = taeda.sparse_coo, taeda.sparse_csr, taeda.strided
X = taeda.tensor([[0.0, 0.5, 0.0], [0.25, 0.0, 0.125]], dtype=taeda.float64)
OTHER = taeda.tensor([[0.0, 0.25, 0.0], [0.0, 0.0, 1.0]], dtype=taeda.float64)
ROWS = taeda.arange(6.0, dtype=taeda.float64).reshape(3, 2)
TERM = taeda.ones(2, 2, dtype=taeda.float64)
BATCH = taeda.stack([X, OTHER])
ZERO_PRESERVING = """
    abs asin asinh atan atanh ceil conj_physical floor log1p neg round sin sinh sign sgn signbit tan tanh
    trunc expm1 sqrt angle isinf isposinf isneginf isnan erf erfinv
""".split()


def sparse(x):
    return x.to_sparse() if isinstance(x, taeda.Tensor) else x


#: the page's list of methods that tensors by coordinates have: calls of a sparse, or of a strided tensor
METHODS = {
    **{
        name: (lambda x, name=name: getattr(x, name)())
        for name in """
        any asin arcsin clone deg2rad detach isnan log1p neg negative rad2deg sqrt square t dim
        get_device numel size""".split()
    },
    # in place: what becomes of a copy
    **{
        name: (lambda x, name=name: getattr(x.clone(), name)())
        for name in """
        asin_ arcsin_ deg2rad_ detach_ log1p_ neg_ negative_ rad2deg_ sqrt_ t_ zero_""".split()
    },
    "add": lambda x: x.add(like(OTHER, x), alpha=2),
    "add_": lambda x: x.clone().add_(like(OTHER, x)),
    "addmm": lambda x: TERM.addmm(x, ROWS, beta=0.5, alpha=2),
    "addmm_": lambda x: TERM.clone().addmm_(x, ROWS, beta=0.5, alpha=2),
    "bmm": lambda x: like(BATCH, x).bmm(ROWS.expand(2, 3, 2)),
    "div": lambda x: x.div(2),
    "div_": lambda x: x.clone().div_(2),
    "floor_divide": lambda x: x.floor_divide(0.2),
    "floor_divide_": lambda x: x.clone().floor_divide_(0.2),
    "index_select": lambda x: x.index_select(1, taeda.tensor([2, 0, 2])),
    "mm": lambda x: x.mm(ROWS),
    "mul": lambda x: x.mul(like(OTHER, x)),
    "mul_": lambda x: x.clone().mul_(like(OTHER, x)),
    "mv": lambda x: x.mv(ROWS[:, 1]),
    "narrow_copy": lambda x: x.narrow_copy(1, 1, 2),
    "pow": lambda x: x.pow(2),
    "sub": lambda x: x.sub(like(OTHER, x), alpha=2),
    "sub_": lambda x: x.clone().sub_(like(OTHER, x)),
    "transpose": lambda x: x.transpose(0, 1),
    "transpose_": lambda x: x.clone().transpose_(0, 1),
}
#: and of functions
FUNCTIONS = {
    "cat": lambda x: taeda.cat([x, like(OTHER, x)], 1),
    "dstack": lambda x: taeda.dstack([x, like(OTHER, x)]),
    "hstack": lambda x: taeda.hstack([x, like(OTHER, x)]),
    "vstack": lambda x: taeda.vstack([x, like(OTHER, x)]),
    "stack": lambda x: taeda.stack([x, like(OTHER, x)]),
    "empty_like": lambda x: taeda.empty_like(x).shape,
    "zeros_like": taeda.zeros_like,
    "index_select": lambda x: taeda.index_select(x, 0, taeda.tensor([1])),
    "is_complex": taeda.is_complex,
    "is_floating_point": taeda.is_floating_point,
    "is_nonzero": lambda x: [
        taeda.is_nonzero(like(n, x)) for n in (taeda.ones(1), taeda.zeros(1, 1))
    ],
    "is_same_size": lambda x: taeda.is_same_size(x, x),
    "is_signed": taeda.is_signed,
    "is_tensor": taeda.is_tensor,
    "mm": lambda x: taeda.mm(x, ROWS),
    "pca_lowrank": lambda x: seeded(lambda: taeda.pca_lowrank(x, q=2)[1]),
    "svd_lowrank": lambda x: seeded(lambda: taeda.svd_lowrank(x, q=2)[1]),
    "select": lambda x: taeda.select(x, 0, 1),
    "unsqueeze": lambda x: taeda.unsqueeze(x, 1),
    "item": lambda x: like(taeda.tensor(2.5), x).item(),
}


def like(x, given):
    """`x`, sparse where what was given is."""
    return x.to_sparse() if given.layout is COO else x


def seeded(call):
    taeda.manual_seed(0)
    return call()


def dense(made):
    return made.to_dense() if isinstance(made, taeda.Tensor) else made


@pytest.mark.parametrize("calls", [METHODS, FUNCTIONS], ids=["methods", "functions"])
def test_listed_names_give_what_they_give_for_strided_tensors(calls):
    for name, call in calls.items():
        made, wanted = dense(call(X.to_sparse())), call(X)
        if isinstance(wanted, taeda.Tensor):
            assert made.shape == wanted.shape, name
            assert taeda.allclose(made, wanted), name
        else:
            assert name == "get_device" or made == wanted, name


LAYOUTS = {
    "coo": lambda x: x.to_sparse(),
    "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((1, 3)),
    "bsc": lambda x: x.to_sparse_bsc((2, 1)),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", ZERO_PRESERVING)
def test_functions_that_keep_zeros(name, layout):
    x = LAYOUTS[layout](X)
    made = getattr(taeda, name)(x)
    assert made.layout is x.layout
    assert taeda.allclose(made.to_dense(), getattr(taeda, name)(X))


#: call, layouts of the factors, layout of the result: the page's table
PRODUCTS = [
    ("mv", lambda a, b: a.mv(b[:, 0]), COO, DENSE, DENSE),
    ("mv", lambda a, b: a.mv(b[:, 0]), CSR, DENSE, DENSE),
    ("matmul", taeda.matmul, COO, DENSE, DENSE),
    ("matmul", taeda.matmul, CSR, DENSE, DENSE),
    ("mm", taeda.mm, COO, DENSE, DENSE),
    ("sparse.mm", taeda.sparse.mm, COO, DENSE, DENSE),
    ("smm", taeda.smm, COO, DENSE, COO),
    ("hspmm", taeda.hspmm, COO, DENSE, COO),
    ("bmm", lambda a, b: taeda.stack([a, a]).bmm(b.expand(2, 3, 2)), COO, DENSE, DENSE),
    ("addmm", lambda a, b: taeda.addmm(TERM, a, b), COO, DENSE, DENSE),
    ("sparse.addmm", lambda a, b: taeda.sparse.addmm(TERM, a, b), COO, DENSE, DENSE),
    ("sspaddmm", lambda a, b: taeda.sspaddmm(TERM.to_sparse(), a, b), COO, DENSE, COO),
    ("by the transposed", lambda a, b: (a.t() @ b[:2].t()).t(), COO, DENSE, DENSE),
]  # fmt: skip


@pytest.mark.parametrize(("name", "call", "one", "two", "result"), PRODUCTS)
def test_products_have_the_layouts_of_the_table(name, call, one, two, result):
    a, b = X.to_sparse(layout=one), ROWS.to_sparse(layout=two) if two is not DENSE else ROWS
    made = call(a, b)
    assert made.layout is result
    if name == "hspmm":
        assert (made.sparse_dim(), made.dense_dim()) == (1, 1)
    plain = {"smm": taeda.mm, "hspmm": taeda.mm}.get(name, call)
    if name == "sspaddmm":
        plain = lambda a, b: taeda.addmm(TERM, a, b)  # noqa: E731  # the strided form of it
    assert taeda.allclose(made.to_dense(), plain(X, ROWS))


def test_a_product_added_in_place_has_gradients_and_keeps_its_shape():
    term = TERM.clone().requires_grad_()
    rows = ROWS.clone().requires_grad_()
    made = (term * 1).addmm_(X.to_sparse(), rows, beta=0.5, alpha=2)
    made.sum().backward()
    assert taeda.equal(term.grad, TERM / 2)
    assert taeda.allclose(rows.grad, 2 * X.sum(0)[:, None].expand(3, 2))
    with pytest.raises(RuntimeError, match="Use addmm"):
        taeda.ones(2, 1, dtype=taeda.float64).addmm_(X.to_sparse(), ROWS)
    with pytest.raises(NotImplementedError, match="addmm_"):
        TERM.to_sparse().addmm_(X.to_sparse(), ROWS)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_number_comes_out(layout):
    for value in (2.5, 0.0):
        block = (1, 1) if layout in ("bsr", "bsc") else None
        whole = getattr(taeda, f"sparse_{layout}")
        x = taeda.full((1, 1), value).to_sparse(layout=whole, blocksize=block)
        assert x.item() == float(x) == value
        assert bool(x) is x.is_nonzero() is bool(value)
    repeated = taeda.sparse_coo_tensor([[0, 0]], [1.0, -1.0], (1,))
    assert repeated.item() == 0
    assert not repeated.is_nonzero()
    for ask in (bool, lambda x: x.item(), taeda.is_nonzero):
        with pytest.raises(RuntimeError, match=r"one element|ambiguous"):
            ask(LAYOUTS[layout](X))
