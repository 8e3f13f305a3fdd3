"""First and second derivatives of operations that are written in others, or computed by numpy."""

from __future__ import annotations

import numpy as np
import pytest

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def draw(*shape, seed=0):
    return taeda.from_numpy(np.random.default_rng(seed).standard_normal(shape)).requires_grad_()


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
    "cdist by a product": (lambda a, b: taeda.cdist(a, b, compute_mode="use_mm_for_euclid_dist"), (3, 2), (4, 2)),
    "cdist 3": (lambda a, b: taeda.cdist(a, b, 3), (3, 2), (4, 2)),
    "renorm": (lambda x: x.renorm(2, 0, 1), (3, 4)),
    "trace": (taeda.trace, (3, 4)),
    "sum_to_size": (lambda x: x.sum_to_size(3, 1), (2, 3, 4)),
    "mvlgamma": (lambda x: (x * x + 2).mvlgamma(3), (4,)),
    "frexp": (lambda x: taeda.frexp(x)[0], (5,)),
    "fft": (lambda x: taeda.fft.fft(x, 5, 0, "ortho"), (4, 2)),
    "rfft": (lambda x: taeda.fft.rfft(x), (2, 6)),
    "rfftn": (lambda x: taeda.fft.rfftn(x, (3, 5)), (4, 4)),
    "irfft": (lambda x: taeda.fft.irfft(taeda.complex(x, x.flip(0)), norm="forward"), (4,)),
    "irfft of odd length": (lambda x: taeda.fft.irfft(taeda.complex(x, x.flip(0)), 5), (4,)),
    "hfftn": (lambda x: taeda.fft.hfftn(taeda.complex(x, x * x)), (2, 3)),
    "ihfft2": (taeda.fft.ihfft2, (3, 4)),
    "stft": (lambda x: taeda.stft(x, 4, 2, return_complex=True), (9,)),
    "istft": (lambda x: taeda.istft(taeda.complex(x, x.flip(0)), 4, 1), (3, 4)),
    "i0": (taeda.i0, (4,)),
    "i0e": (taeda.special.i0e, (4,)),
    "i1": (taeda.special.i1, (4,)),
    "i1e": (taeda.special.i1e, (4,)),
    "ndtr": (taeda.special.ndtr, (4,)),
    "log_ndtr": (lambda x: taeda.special.log_ndtr(x * 3), (4,)),
    "ndtri": (lambda x: taeda.special.ndtri(x.sigmoid()), (4,)),
    "erfcx": (taeda.special.erfcx, (4,)),
    "entr": (lambda x: taeda.special.entr(x.exp()), (4,)),
    "xlog1py": (lambda x, y: taeda.special.xlog1py(x, y * y), (4,), (4,)),
    "zeta": (lambda q: taeda.special.zeta(2.5, q * q + 1), (4,)),
    "igamma": (lambda x: taeda.igamma(taeda.full((4,), 1.5).double(), x.exp()), (4,)),
    "igammac": (lambda x: taeda.igammac(taeda.full((4,), 1.5).double(), x.exp()), (4,)),
    "narrow_copy": (lambda x: taeda.narrow_copy(x, 1, 1, 2), (2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_derivatives(name):
    function, *shapes = CALLS[name]
    inputs = [draw(*s, seed=i) for i, s in enumerate(shapes)]
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize("mode", ["use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist"])
def test_rows_that_coincide_are_not_pulled(mode):
    x = taeda.ones(2, 3, requires_grad=True)
    taeda.cdist(x, taeda.ones(1, 3), compute_mode=mode).sum().backward()
    assert not x.grad.any()


@pytest.mark.parametrize("name", ["igamma", "igammac"])
def test_no_derivative_in_the_shape_of_a_gamma_distribution(name):
    a = taeda.ones(2, requires_grad=True)
    made = getattr(taeda, name)(a, taeda.ones(2)).sum()
    with pytest.raises(NotImplementedError, match=f"derivative of {name} in its first argument"):
        made.backward()
