"""Inputs of any size and long sums: results keep their digits as long as they fit the type."""

import math

import pytest

import taeda

LAYOUTS = {
    "rows": lambda x: (x, 0, ()),
    "columns": lambda x: (taeda.stack([x] * 5, 1), 0, (3,)),
    "strided": lambda x: (taeda.stack([x] * 3, 1)[:, 1], 0, ()),
}
SCALES = {
    taeda.float32: (1e-38, 1e-30, 1e-24, 1e-10, 1.0, 1e10, 1e20, 1e30, 3e37),
    taeda.float64: (1e-300, 1e-200, 1e-160, 1e-100, 1.0, 1e100, 1e160, 1e200, 1e300),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [2, 8, 12, 13, 16, 100, 4096, 4097, 10000, 2**17])
@pytest.mark.parametrize("dtype", SCALES, ids=str)
def test_a_standard_deviation_has_the_range_of_its_inputs(dtype, n, layout):
    """16 ulp, whatever the size; the deviation of a multiple by a power of 2 is that multiple."""
    for scale in SCALES[dtype]:
        power = math.floor(math.log2(scale))
        unit = taeda.arange(n, dtype=taeda.float64).sin().to(dtype)
        x = unit * 2.0**power  # exact
        laid, dim, at = LAYOUTS[layout](x)
        deviation, mean = (part[at].item() for part in taeda.std_mean(laid, dim))
        eps, wanted = taeda.finfo(dtype).eps, unit.double().std().item() * 2.0**power
        slack = taeda.finfo(dtype).smallest_normal * eps
        assert abs(deviation - wanted) <= 16 * eps * wanted + slack
        wanted = unit.double().mean().item() * 2.0**power
        assert (
            abs(mean - wanted) <= 16 * eps * unit.abs().double().mean().item() * 2.0**power + slack
        )


def test_deviations_of_pieces_of_unlike_sizes_join():
    x = taeda.cat([taeda.zeros(5000), taeda.full((20,), 3.0)]).double() * 1e200
    assert abs(x.std().item() / ((x / 1e200).std().item() * 1e200) - 1) < 1e-12
    assert taeda.full((5000,), 1e-300, dtype=taeda.float64).std().item() == 0
    assert math.isnan(taeda.tensor([1.0] * 20 + [math.inf]).std().item())


def test_one_large_number_does_not_swallow_the_squares_of_the_rest():
    x = taeda.arange(2**20, dtype=taeda.float32).sin()
    x[7] = 1e8
    assert abs(x.var().item() / x.double().var().item() - 1) < 1e-6


LONG = 2**20 + 7


def _long(layout):
    u = (taeda.arange(LONG) * 0.7).sin()
    x = (1 + 1e-3 * u) * (1 - 2 * (taeda.arange(LONG) % 2))
    return x if layout == "row" else taeda.stack([x] * 3, 1)


@pytest.mark.parametrize("layout", ["row", "column"])
def test_exponentials_of_a_long_row_add_up(layout):
    x = _long(layout)
    exact = x.double()
    assert ((x.logsumexp(0) - exact.logsumexp(0)).abs() < 2e-6).all()
    assert ((x.softmax(0).double().sum(0) - 1).abs() < 1e-7).all()
    assert (x.log_softmax(0) - exact.log_softmax(0)).abs().max().item() < 2e-6


@pytest.mark.parametrize("name", ["logsumexp", "softmax", "log_softmax"])
@pytest.mark.parametrize("layout", ["row", "column"])
def test_gradients_of_a_long_row_too(layout, name):
    x = _long(layout)
    weights = (taeda.arange(LONG) % 7).float().reshape(-1, *[1] * (x.dim() - 1))
    found = []
    for t in (x, x.double()):
        t = t.requires_grad_()
        out = getattr(t, name)(0)
        (out.sum() if name == "logsumexp" else (out * weights).sum()).backward()
        found.append(t.grad.double())
    assert (found[0] - found[1]).abs().max() <= 4e-6 * found[1].abs().max()
