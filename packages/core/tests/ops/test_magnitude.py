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


NORMS = {
    "layer_norm": lambda x, eps: taeda.layer_norm(x, x.shape[1:], eps=eps),
    "group_norm": lambda x, eps: taeda.group_norm(x, 2, eps=eps),
    "instance_norm": lambda x, eps: taeda.instance_norm(
        x, None, None, None, None, True, 0.1, eps, False
    ),
    "batch_norm": lambda x, eps: taeda.batch_norm(
        x, None, None, None, None, True, 0.1, max(eps, 1e-300), False
    ),
    "batch_norm of columns": lambda x, eps: taeda.batch_norm(
        x.to(memory_format=taeda.channels_last), None, None, None, None, True, 0.1,
        max(eps, 1e-300), False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("channels", [8, 20])
@pytest.mark.parametrize("value", [0.3, 1000.1, -3e4, 1e7, 1e10, 1e30, -3e38])
@pytest.mark.parametrize("name", NORMS)
def test_a_constant_is_its_mean(name, value, channels):
    assert (NORMS[name](taeda.full((4, channels, 9, 9), value), 1e-5) == 0).all()


@pytest.mark.parametrize("scale", [1e25, 1e30, 1e37])
@pytest.mark.parametrize("name", NORMS)
def test_norms_take_inputs_of_any_size(name, scale):
    x = taeda.randn(4, 20, 9, 9, generator=taeda.Generator().manual_seed(0))
    assert (NORMS[name](x * scale, 0.0) - NORMS[name](x, 0.0)).abs().max().item() < 2e-6


@pytest.mark.parametrize("scale", [1e-30, 1e25, 1e37])
def test_rms_norm_takes_inputs_of_any_size(scale):
    x = taeda.randn(4, 648, generator=taeda.Generator().manual_seed(0))
    found = taeda.rms_norm(x * scale, (648,), eps=0.0)
    assert (found - taeda.rms_norm(x, (648,), eps=0.0)).abs().max().item() < 2e-6


@pytest.mark.parametrize("name", ["layer_norm", "rms_norm"])
def test_a_norm_of_a_million_numbers_keeps_its_digits(name):
    x = taeda.randn(10**6, generator=taeda.Generator().manual_seed(0)) + 3
    found = getattr(taeda, name)(x, x.shape).double()
    assert (found - getattr(taeda, name)(x.double(), x.shape)).abs().max().item() < 2e-6


def test_running_variances_of_large_inputs():
    x, mean, variance = taeda.randn(64, 3, 40) * 1e12, taeda.zeros(3), taeda.ones(3)
    taeda.batch_norm(x, None, None, mean, variance, True, 0.1, 1e-5, False)
    wanted = 0.9 + 0.1 * x.double().var((0, 2))
    assert ((variance.double() / wanted - 1).abs() < 1e-6).all()


def test_erfcx_becomes_infinite_and_not_nan():
    for dtype in (taeda.float32, taeda.float64):
        x = taeda.linspace(-26.8, -26.5, 3001, dtype=dtype)
        y = taeda.special.erfcx(x)
        assert not y.isnan().any()
        assert y[x < -26.65].isinf().all()


NORM_FORMS = {
    "all": lambda x: x.norm(),
    "rows": lambda x: x.norm(dim=1),
    "columns": lambda x: x.norm(dim=0),
    "both": lambda x: taeda.linalg.vector_norm(x, 2, (0, 1)),
    "matrix": lambda x: taeda.linalg.matrix_norm(x),
    "transposed": lambda x: x.T.norm(dim=0),
    "dist": lambda x: taeda.dist(x, taeda.zeros_like(x)),
    "foreach": lambda x: taeda._foreach_norm([x])[0],
    "cdist": lambda x: taeda.cdist(x, taeda.zeros_like(x)[:1]),
    "many rows": lambda x: taeda.cdist(x.repeat(60, 1), x.repeat(1, 1)),
    "pairwise": lambda x: taeda.nn.functional.pairwise_distance(x, taeda.zeros_like(x), eps=0.0),
}


@pytest.mark.parametrize("n", [3, 30, 600, 5000])
@pytest.mark.parametrize("dtype", [taeda.float32, taeda.bfloat16], ids=str)
@pytest.mark.parametrize("form", NORM_FORMS)
def test_a_length_has_the_range_of_its_numbers(form, dtype, n):
    """Whatever the layout: squares of 1e-30 and 1e30 are not in float32."""
    for scale in (1e-37, 1e-30, 1e-20, 1.0, 1e20, 1e30):
        x = (taeda.arange(3 * n).reshape(3, n).sin() * scale).to(dtype)
        found, wanted = NORM_FORMS[form](x).double(), NORM_FORMS[form](x.double())
        near = wanted < 1e-6 * wanted.max()  # of a row to itself
        off = ((found - wanted).abs() / wanted.max())[~near]
        assert off.max().item() <= (1e-6 if dtype is taeda.float32 else 8e-3), scale


def test_the_gradient_of_a_length_is_of_its_size():
    for scale in (1e-30, 1e20, 1e30):
        x = (taeda.arange(30) + 1.0).reshape(5, 6) * scale
        found = []
        for dtype in (taeda.float32, taeda.float64):
            given = x.to(dtype).requires_grad_()
            out = taeda.renorm(given, 2, 0, scale)
            weights = taeda.arange(30, dtype=dtype).sin().reshape(5, 6)
            found.append(taeda.autograd.grad((out * weights).sum() / scale, given)[0].double())
        assert (found[0] - found[1]).abs().max() <= 1e-6 * found[1].abs().max()
