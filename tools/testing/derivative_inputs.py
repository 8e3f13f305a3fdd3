"""Inputs for tests of derivatives, and the check of first and second ones in both modes against
differences.
"""

from __future__ import annotations

import numpy as np

import taeda
from taeda.autograd import gradcheck, gradgradcheck


def both_orders(function, *inputs):
    """First and second derivatives, backward and forward."""
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


def distinct(*shape, seed=0, dtype=taeda.float64):
    """Numbers that are distinct, also between seeds, so that no extremum ties."""
    rng = np.random.default_rng(seed)
    made = taeda.from_numpy(
        rng.permutation(np.linspace(-2, 3, int(np.prod(shape))) + 0.037 * seed).reshape(shape)
    )
    if dtype is taeda.complex128:
        made = taeda.complex(made, made.flip(-1))
    return made.requires_grad_()


def between(low, high, seed=0, shape=(3, 4), dtype=taeda.float64):
    """Uniform numbers of numpy's."""
    values = np.random.default_rng(seed).uniform(low, high, shape)
    return taeda.from_numpy(values).to(dtype).requires_grad_()


def uniform(*shape, seed=0, complex_=False, low=-2.0, high=2.0):
    """Uniform numbers; the imaginary part, if there is one, is normal."""
    taeda.manual_seed(seed)
    x = taeda.rand(shape, dtype=taeda.float64) * (high - low) + low
    if complex_:
        x = taeda.complex(x, taeda.randn(shape, dtype=taeda.float64))
    return x.requires_grad_()


def normal(*shape, seed=0):
    """Normal numbers."""
    return taeda.from_numpy(np.random.default_rng(seed).standard_normal(shape)).requires_grad_()
