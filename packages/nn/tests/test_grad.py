"""Gradients of convolutions as functions, against autograd's."""

import pytest

import taeda
from taeda.autograd import gradcheck
from taeda.nn import functional as F
from taeda.nn import grad

CASES = [{}, {"stride": 2, "padding": 1}, {"dilation": 2, "groups": 2, "padding": 2}]


@pytest.mark.parametrize("options", CASES, ids=str)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_they_are_autograds(rank, options):
    taeda.manual_seed(rank)
    x = taeda.randn(2, 4, *[7, 6, 5][:rank], dtype=taeda.float64, requires_grad=True)
    shape = (6, 4 // options.get("groups", 1), *[3, 2, 2][:rank])
    w = taeda.randn(shape, dtype=taeda.float64, requires_grad=True)
    y = getattr(F, f"conv{rank}d")(x, w, **options)
    g = taeda.randn_like(y)
    by_x, by_w = taeda.autograd.grad(y, (x, w), g)
    with taeda.no_grad():
        found = getattr(grad, f"conv{rank}d_input")(x.shape, w, g, **options)
        taeda.testing.assert_close(found, by_x)
        found = getattr(grad, f"conv{rank}d_weight")(x, w.shape, g, **options)
        taeda.testing.assert_close(found, by_w)


def test_they_are_differentiable():
    taeda.manual_seed(0)
    w, x, g = (
        taeda.randn(s, dtype=taeda.float64, requires_grad=True)
        for s in ((2, 1, 2), (1, 1, 4), (1, 2, 3))
    )
    assert gradcheck(lambda w, g: grad.conv1d_input((1, 1, 4), w, g), (w, g))
    assert gradcheck(lambda x, g: grad.conv1d_weight(x, (2, 1, 2), g), (x, g))


def test_refusals():
    with pytest.raises(ValueError, match="by the input needs its size, got None"):
        grad.conv2d_input(None, taeda.ones(1, 1, 2, 2), taeda.ones(1, 1, 2, 2))
    with pytest.raises(RuntimeError, match=r"shape|size"):
        grad.conv2d_weight(taeda.ones(1, 1, 3, 3), (1, 1, 2, 2), taeda.ones(1, 1, 9, 9))
