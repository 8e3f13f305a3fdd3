"""Derivatives of `lobpcg`, first and second, in both modes: its results are functions of both matrices."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def symmetric(n, scale):
    x = taeda.randn(n, n, dtype=taeda.float64)
    return scale * x @ x.mT


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
def test_both_modes_give_the_derivatives(weighted, largest):
    taeda.manual_seed(0)
    n = 6
    a = symmetric(n, 0.3) + taeda.diag(3 * taeda.arange(n, dtype=taeda.float64))
    b = symmetric(n, 0.1) + taeda.diag(1 + taeda.rand(n, dtype=taeda.float64))
    start = taeda.randn(n, 2, dtype=taeda.float64)

    def pairs(*matrices):
        given = [(m + m.mT) / 2 for m in matrices]
        values, vectors = taeda.lobpcg(
            given[0], 2, *given[1:], X=start, niter=400, tol=1e-14, largest=largest
        )
        return values, vectors * vectors[:1].detach().sign()

    matrices = [m.requires_grad_() for m in ((a, b) if weighted else (a,))]
    assert gradcheck(pairs, matrices, check_forward_ad=True)
    assert gradgradcheck(pairs, matrices, check_fwd_over_rev=True)
