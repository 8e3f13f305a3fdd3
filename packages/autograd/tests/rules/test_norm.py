"""Derivatives of the normalisations beyond the second; the first two are among the composites."""

import pytest

import taeda

THIRD = {
    "layer_norm": lambda x: taeda.layer_norm(x, (4,)),
    "rms_norm": lambda x: taeda.rms_norm(x, (4,)),
    "batch_norm": lambda x: taeda.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False),
    "group_norm": lambda x: taeda.group_norm(x, 2),
}


@pytest.mark.parametrize("name", THIRD)
def test_third_derivatives_pass_through_the_saved_statistics(name):
    values = taeda.randn(3, 4, dtype=taeda.float64, generator=taeda.Generator().manual_seed(5))
    weights = taeda.linspace(-1, 2, 12, dtype=taeda.float64).reshape(3, 4)

    def gradient(x):
        (g,) = taeda.autograd.grad((THIRD[name](x) ** 2 * weights).sum(), x, create_graph=True)
        return g

    assert taeda.autograd.gradgradcheck(gradient, (values.requires_grad_(),))
