"""First and second derivatives of products of matrices."""

from __future__ import annotations

from functools import partial

import pytest
from differences import check

import taeda
from taeda._C import _nn

PRODUCTS = {
    "mm": (taeda.mm, (2, 3), (3, 4)),
    "mm of a transpose": (lambda a, b: a.t() @ b.t(), (3, 2), (4, 3)),
    "bmm": (taeda.bmm, (2, 2, 3), (2, 3, 2)),
    "mv": (taeda.mv, (2, 3), (3,)),
    "dot": (taeda.dot, (3,), (3,)),
    "vdot": (taeda.vdot, (3,), (3,)),
    "inner": (taeda.inner, (2, 3), (4, 3)),
    "outer": (taeda.outer, (2,), (3,)),
    "vector @ matrix": (taeda.matmul, (3,), (3, 2)),
    "vector @ batch": (taeda.matmul, (3,), (2, 3, 2)),
    "batch @ vector": (taeda.matmul, (2, 2, 3), (3,)),
    "batch @ matrix": (taeda.matmul, (2, 2, 3), (3, 2)),
    "broadcast batches": (taeda.matmul, (2, 1, 2, 3), (3, 3, 2)),
    "addmm": (lambda s, a, b: taeda.addmm(s, a, b, beta=0.5, alpha=2), (2, 2), (2, 3), (3, 2)),
    "addmm of a row": (taeda.addmm, (2,), (2, 3), (3, 2)),
    "addmv": (lambda s, a, b: taeda.addmv(s, a, b, beta=2, alpha=0.5), (2,), (2, 3), (3,)),
    "baddbmm": (lambda s, a, b: taeda.baddbmm(s, a, b, alpha=2), (2, 2, 2), (2, 2, 3), (2, 3, 2)),
    "addbmm": (lambda s, a, b: taeda.addbmm(s, a, b, beta=3), (2, 2), (2, 2, 3), (2, 3, 2)),
    "addr": (lambda s, a, b: taeda.addr(s, a, b, alpha=2), (2, 3), (2,), (3,)),
    **{
        f"{name} that leaves self out": (partial(getattr(taeda, name), beta=0), *shapes)
        for name, *shapes in (
            ("addmm", (2, 2), (2, 3), (3, 2)),
            ("addmv", (2,), (2, 3), (3,)),
            ("baddbmm", (2, 2, 2), (2, 2, 3), (2, 3, 2)),
            ("addbmm", (2, 2), (2, 2, 3), (2, 3, 2)),
            ("addr", (2, 3), (2,), (3,)),
        )
    },
    "linear": (_nn.linear, (2, 3), (4, 3), (4,)),
    "linear of a batch": (_nn.linear, (2, 2, 3), (4, 3), (4,)),
    "bilinear": (taeda.bilinear, (2, 3), (2, 2), (4, 3, 2), (4,)),
    "einsum": (lambda a, b: taeda.einsum("bij,bkj->ik", a, b), (2, 2, 3), (2, 4, 3)),
    "einsum of a diagonal": (lambda a: taeda.einsum("ii->i", a), (3, 3)),
    "tensordot": (lambda a, b: taeda.tensordot(a, b, 2), (2, 3, 2), (3, 2, 2)),
    "kron": (taeda.kron, (2, 2), (1, 3)),
    "multi_dot": (lambda a, b, c: taeda.linalg.multi_dot([a, b, c]), (2, 3), (3, 1), (1, 2)),
    "nothing to sum": (taeda.mm, (2, 0), (0, 3)),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name):
    function, *shapes = PRODUCTS[name]
    check(function, *shapes)


@pytest.mark.parametrize("name", ["mm", "mv", "dot", "vdot", "outer", "addmm", "baddbmm", "linear"])
def test_products_of_complex_numbers(name):
    function, *shapes = PRODUCTS[name]
    check(function, *shapes, dtype=taeda.complex128)


@pytest.mark.parametrize("name", [name for name in PRODUCTS if "leaves" in name])
def test_a_self_that_is_left_out_has_a_gradient_of_zeros_and_its_nans_do_not_count(name):
    function, shape, *factors = PRODUCTS[name]
    alone = taeda.full(shape, float("nan"), requires_grad=True)
    result = function(alone, *map(taeda.ones, factors))
    result.sum().backward()
    assert not result.isnan().any()
    assert taeda.equal(alone.grad, taeda.zeros(shape))


def test_conjugated_factor():
    check(lambda a, b: a.mH @ b.conj(), (3, 2), (3, 2), dtype=taeda.complex128)
