"""Areas and slopes of sampled functions against numpy and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate

import taeda


def draw(*shape, seed=0):
    return taeda.from_numpy(np.random.default_rng(seed).standard_normal(shape))


def close(got, want):
    np.testing.assert_allclose(np.array(got.tolist()), want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_trapezoid(dim):
    y, x = draw(4, 5, 6), draw(4, 5, 6, seed=1)
    place = draw(y.size(dim), seed=2)
    for got, want in (
        (taeda.trapezoid(y, dim=dim), np.trapezoid(y.numpy(), axis=dim)),
        (taeda.trapezoid(y, dx=0.3, dim=dim), np.trapezoid(y.numpy(), dx=0.3, axis=dim)),
        (taeda.trapz(y, x, dim=dim), np.trapezoid(y.numpy(), x.numpy(), axis=dim)),
        (taeda.trapezoid(y, place, dim=dim), np.trapezoid(y.numpy(), place.numpy(), axis=dim)),
    ):
        close(got, want)
    running = taeda.cumulative_trapezoid(y, place, dim=dim)
    close(running, scipy.integrate.cumulative_trapezoid(y.numpy(), place.numpy(), axis=dim))


def test_few_samples_have_no_area():
    assert taeda.trapezoid(taeda.ones(3, 1)).tolist() == [0, 0, 0]
    assert taeda.trapezoid(taeda.ones(3, 0)).tolist() == [0, 0, 0]
    assert taeda.cumulative_trapezoid(taeda.ones(1)).shape == (0,)
    assert taeda.trapezoid(taeda.tensor([1, 2, 4])).item() == 4.5


@pytest.mark.parametrize("edge_order", [1, 2])
@pytest.mark.parametrize(
    "layout", [lambda t: t, lambda t: t.t(), lambda t: t[:, ::2]], ids=["", "t", "strided"]
)
def test_gradient(edge_order, layout):
    x = layout(draw(6, 8))
    places = [draw(n, seed=n).sort()[0] for n in x.shape]
    for got, spacing in (
        (taeda.gradient(x, edge_order=edge_order), ()),
        (taeda.gradient(x, spacing=0.5, edge_order=edge_order), (0.5,)),
        (taeda.gradient(x, spacing=[0.5, 2.0], edge_order=edge_order), (0.5, 2.0)),
        (taeda.gradient(x, spacing=places, edge_order=edge_order), [p.numpy() for p in places]),
    ):
        want = np.gradient(x.numpy(), *spacing, edge_order=edge_order)
        for g, w in zip(got, want, strict=True):
            close(g, w)
    (one,) = taeda.gradient(x, dim=1, edge_order=edge_order)
    close(one, np.gradient(x.numpy(), axis=1, edge_order=edge_order))


def test_gradient_of_two_samples_and_of_integers():
    assert taeda.gradient(taeda.tensor([1.0, 4.0]))[0].tolist() == [3, 3]
    assert taeda.gradient(taeda.tensor([1, 2, 5]))[0].tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda.trapezoid(taeda.ones(3), taeda.ones(2)), RuntimeError,
            "one `x` value for each sample"),
        (lambda: taeda.trapezoid(taeda.ones(3) > 0), RuntimeError, "bool is not supported"),
        (lambda: taeda.trapezoid(taeda.ones(3), dim=1), IndexError, r"\[-1, 0\], but got 1"),
        (lambda: taeda.gradient(taeda.ones(1)), RuntimeError, r"at least edge_order\+1"),
        (lambda: taeda.gradient(taeda.ones(4), edge_order=3), RuntimeError, "edge_order=1 and edge_order=2"),
        (lambda: taeda.gradient(taeda.ones(4, 4), dim=(0, 0)), RuntimeError, "multiple times"),
        (lambda: taeda.gradient(taeda.ones(4, 4), spacing=[1.0]), RuntimeError, "list of 1"),
        (lambda: taeda.gradient(taeda.ones(4), spacing=[taeda.ones(3)]), RuntimeError, "vector of 4"),
        (lambda: taeda.gradient(taeda.ones(4).to(taeda.uint8)), RuntimeError, "uint8"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_gradient_of_even_steps_sees_the_two_neighbours_only():
    x = taeda.tensor([2.0, -2.0, np.inf, np.inf, -np.inf, 3.0])
    for spacing in ({}, {"spacing": 2.0}, {"spacing": [1.0]}):
        (found,) = taeda.gradient(x, **spacing)
        assert found.isinf().tolist() == [False, True, True, True, True, True]
        assert found.sign().tolist() == [-1, 1, 1, -1, -1, 1]
    (found,) = taeda.gradient(taeda.tensor([1.0, np.nan, 3.0, 4.0, 6.0]))
    assert found.isnan().tolist() == [True, False, True, False, False]
