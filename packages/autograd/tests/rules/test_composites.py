"""First and second derivatives of operations that are written in others, or computed by numpy."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, normal

import taeda

WEIGHTS = taeda.tensor([0.5, 1.0, 2.0, 0.25], dtype=taeda.float64)
CALLS = {
    "trapezoid": (lambda y, x: taeda.trapezoid(y, x), (3, 4), (4,)),
    "cumulative_trapezoid": (lambda y: taeda.cumulative_trapezoid(y, dx=0.5, dim=0), (4, 2)),
    "gradient": (lambda x: taeda.gradient(x, spacing=0.5, edge_order=2), (4, 3)),
    "gradient at places": (lambda x, t: taeda.gradient(x, spacing=[t.cumsum(0)], dim=1), (2, 4), (4,)),
    "cov": (lambda x: taeda.cov(x, aweights=WEIGHTS), (3, 4)),
    "corrcoef": (taeda.corrcoef, (3, 5)),
    "cdist 1": (lambda a, b: taeda.cdist(a, b, 1), (3, 2), (4, 2)),
    "cdist 2": (taeda.cdist, (3, 2), (2, 4, 2)),
    "cdist by a "
    "product": (lambda a, b: taeda.cdist(a, b, compute_mode="use_mm_for_euclid_dist"), (3, 2), (4, 2)),
    "cdist 3": (lambda a, b: taeda.cdist(a, b, 3), (3, 2), (4, 2)),
    "renorm": (lambda x: x.renorm(2, 0, 1), (3, 4)),
    "trace": (taeda.trace, (3, 4)),
    "sum_to_size": (lambda x: x.sum_to_size(3, 1), (2, 3, 4)),
    "mvlgamma": (lambda x: (x * x + 2).mvlgamma(3), (4,)),
    "frexp": (lambda x: taeda.frexp(x)[0], (5,)),
    "narrow_copy": (lambda x: taeda.narrow_copy(x, 1, 1, 2), (2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    function, *shapes = CALLS[name]
    both_orders(function, *(normal(*s, seed=i) for i, s in enumerate(shapes)))


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
def test_rows_that_coincide_are_not_pulled(mode):
    x = taeda.ones(2, 3, requires_grad=True)
    taeda.cdist(x, taeda.ones(1, 3), compute_mode=mode).sum().backward()
    assert not x.grad.any()
