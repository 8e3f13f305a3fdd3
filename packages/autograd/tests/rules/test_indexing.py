"""First and second derivatives of what reads and writes at places."""

from __future__ import annotations

import math

import pytest
from derivative_inputs import both_orders, distinct

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def at(*values):
    return taeda.tensor(values)


ROWS = taeda.tensor([[0, 2, 2], [1, 0, 1]])  # duplicates on purpose


APART = taeda.tensor([[0, 2, 1], [1, 0, 2]])  # none within a column


MASK = taeda.tensor([[True, False, True, True], [False] * 4, [True, True, False, False]])


COMPLEX = {
    "index": lambda z: z[at(0, 0, 2)],
    "cat": lambda z: taeda.cat([z, z.real]),
}


ONE = {
    "index": lambda x: x[at(0, 2, 2), at(1, 1, 3)],
    "index one dimension": lambda x: x[:, at(1, 1, -1)],
    "index by a mask": lambda x: x[MASK],
    "gather": lambda x: x.gather(0, ROWS),
    "gather, expanded index": lambda x: x.gather(0, at(2).expand(2, 4)),
    "scatter a number": lambda x: x.scatter(0, APART, 5),
    "scatter a product": lambda x: x.scatter(0, APART, 5, reduce="multiply"),
    "index_select": lambda x: x.index_select(1, at(3, 3, 0)),
    "index_fill": lambda x: x.index_fill(1, at(0, 0), 5),
    "masked_fill": lambda x: x.masked_fill(MASK, 5),
    "masked_fill, broadcast": lambda x: x[0].masked_fill(MASK, 5),
    "masked_select": lambda x: x.masked_select(MASK),
    "masked_select, broadcast": lambda x: x[0].masked_select(MASK),
    "take": lambda x: x.take(at(0, -1, 0)),
    "take_along_dim": lambda x: x.take_along_dim(at(0, -1).unsqueeze(0), 1),
    "embedding": lambda x: taeda.embedding(x, ROWS),
    "meshgrid": lambda x: taeda.meshgrid(x[0], x[1], indexing="xy"),
    "block_diag": lambda x: taeda.block_diag(x[:2], x[2]),
    "combinations": lambda x: taeda.combinations(x[0]),
}


TWO = {
    "cat": lambda x, y: taeda.cat([x, taeda.ones(0), y], 1),
    "stack": lambda x, y: taeda.stack([x, y, x], -1),
    "index_put": lambda x, y: x.index_put((at(2, 0, 1),), y),
    "index_put, added": lambda x, y: x.index_put((at(0, 0, 1),), y, accumulate=True),
    "assignment": lambda x, y: _assigned(x, y),
    "scatter": lambda x, y: x.scatter(0, APART, y),
    "scatter_add": lambda x, y: x.scatter_add(0, ROWS, y),
    "index_add": lambda x, y: x.index_add(1, at(0, 0, 3, 1), y, alpha=3),
    "index_copy": lambda x, y: x.index_copy(0, at(2, 0, 1), y),
    "index_fill": lambda x, y: x.index_fill(1, at(0, 0), y[0, 0]),
    "fill": lambda x, y: taeda.fill(x, y[0, 0]) * x,
    "masked_fill": lambda x, y: x.masked_fill(MASK, y[0, 0]),
    "masked_scatter": lambda x, y: x.masked_scatter(MASK, y),
    "put": lambda x, y: x.put(at(0, -1, 5), y[0, :3]),
    "put, added": lambda x, y: x.put(at(0, 0, 5), y[0, :3], accumulate=True),
    "select_scatter": lambda x, y: x.select_scatter(y[:, 0], 1, 2),
    "slice_scatter": lambda x, y: x.slice_scatter(y[:, :2], 1, 0, None, 2),
    "diagonal_scatter": lambda x, y: x.diagonal_scatter(y[0, :3]),
    "as_strided_scatter": lambda x, y: x.as_strided_scatter(y[0, :3], (3,), (4,), 1),
}


def _assigned(x, y):
    z = x * 1
    z[at(0, 2)] = y[:2]
    z[:, 1] = y[:, 0]
    z[MASK] = y.sum()
    return z * z


REDUCTIONS = [
    (how, include) for how in ("sum", "prod", "mean", "amax", "amin") for include in (True, False)
]


@pytest.mark.parametrize("name", ONE)
def test_of_one(name):
    both_orders(ONE[name], distinct(3, 4))


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    z = distinct(3, 4, dtype=taeda.complex128).detach().requires_grad_()
    both_orders(COMPLEX[name], z)


@pytest.mark.parametrize("name", TWO)
def test_of_two(name):
    both_orders(TWO[name], distinct(3, 4), distinct(3, 4, seed=1))


@pytest.mark.parametrize(("how", "include"), REDUCTIONS)
def test_of_reductions_at_places(how, include):
    x, y = distinct(3, 3), distinct(2, 3, seed=1)
    assert gradcheck(
        lambda x, y: x.scatter_reduce(0, ROWS, y, how, include_self=include),
        (x, y),
        check_forward_ad=True,
    )
    assert gradgradcheck(
        lambda x, y: x.scatter_reduce(0, ROWS, y, how, include_self=include),
        (x, y),
        check_fwd_over_rev=True,
    )
    if how != "sum":
        assert gradcheck(
            lambda x, y: x.index_reduce(0, at(1, 1), y, how, include_self=include),
            (x, y),
            check_forward_ad=True,
        )


@pytest.mark.parametrize("zeros", [1, 2])
def test_of_products_with_zeros(zeros):
    y = distinct(2, 3, seed=1).detach()
    y[0, 0] = 0
    if zeros == 2:
        y[0, 2] = y[1, 0] = 0
    assert gradcheck(
        lambda x, y: x.scatter_reduce(0, taeda.zeros(2, 3, dtype=taeda.int64), y, "prod"),
        (distinct(3, 3), y.requires_grad_()),
        check_forward_ad=True,
    )


def test_a_larger_source_gets_zeros_where_it_was_not_read():
    x, y = distinct(3, 4), distinct(4, 5, seed=1)
    taeda.zeros(3, 4, dtype=taeda.float64).scatter_add(0, ROWS, y).sum().backward()
    assert y.grad.tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0] * 5, [0] * 5]
    assert gradcheck(lambda x, y: x.scatter_add(0, ROWS, y), (x, y), check_forward_ad=True)


def test_ties_share_the_gradient_of_an_extremum():
    x, y = (
        taeda.tensor([2.0, 0.0], requires_grad=True),
        taeda.tensor([2.0, 1.0], requires_grad=True),
    )
    x.scatter_reduce(0, at(0, 0), y, "amax").sum().backward()
    assert x.grad.tolist() == [0.5, 1.0]
    assert y.grad.tolist() == [0.5, 0.0]


@pytest.mark.parametrize("how", ["amax", "amin"])
def test_nans_share_the_gradient_of_an_extremum_that_is_nan(how):
    x = taeda.tensor([0.0, 5.0], dtype=taeda.float64, requires_grad=True)
    y = taeda.tensor([1.0, math.nan, 3.0, math.nan], dtype=taeda.float64, requires_grad=True)
    index = taeda.tensor([0, 0, 1, 0])
    x.scatter_reduce(0, index, y, how, include_self=False).sum().backward()
    assert x.grad.tolist() == [0, 0]
    assert y.grad.tolist() == [0, 0.5, 1, 0.5]
    (grad,) = taeda.autograd.grad(getattr(y, how)(), y)
    assert grad.tolist() == [0, 0.5, 0, 0.5]


def test_self_has_no_share_where_it_takes_no_part():
    x, y = (
        taeda.tensor([2.0, 0.0], requires_grad=True),
        taeda.tensor([2.0, 1.0], requires_grad=True),
    )
    x.scatter_reduce(0, at(0, 0), y, "amax", include_self=False).sum().backward()
    assert x.grad.tolist() == [0.0, 1.0]
    assert y.grad.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("padding", "by_frequency"), [(-1, False), (1, False), (-1, True), (2, True)]
)
def test_of_the_gradient_of_embedding(padding, by_frequency):
    g = distinct(2, 3, 2)
    assert gradcheck(
        lambda g: taeda.embedding_dense_backward(g, ROWS, 3, padding, by_frequency),
        g,
        check_forward_ad=True,
    )


def test_an_index_without_elements_may_have_another_rank():
    none = taeda.empty(0, dtype=taeda.int64)
    for call in (
        lambda x, s: x.scatter(0, none, s),
        lambda x, s: x.scatter_add(0, none, s),
        lambda x, s: x.scatter(0, none, s, reduce="add"),
        *(
            lambda x, s, how=how, own=own: x.scatter_reduce(0, none, s, how, include_self=own)
            for how in ("sum", "mean", "amax", "prod")
            for own in (True, False)
        ),
    ):
        x, s = taeda.ones(3, 4, requires_grad=True), taeda.ones(3, 4, requires_grad=True)
        call(x, s).sum().backward()
        assert x.grad.tolist() == [[1.0] * 4] * 3
        assert s.grad.tolist() == [[0.0] * 4] * 3
