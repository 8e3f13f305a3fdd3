"""Special functions against scipy, in their tails too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.special

import taeda
from taeda import special

WIDE = np.concatenate(
    [np.linspace(-40, 40, 801), np.logspace(-8, 2.5, 80), -np.logspace(-8, 2, 40)]
)
RIGHT = WIDE[WIDE > 0]
UNARY = {
    "i0": (scipy.special.i0, WIDE), "i0e": (scipy.special.i0e, WIDE),
    "i1": (scipy.special.i1, WIDE), "i1e": (scipy.special.i1e, WIDE),
    "modified_bessel_i0": (scipy.special.i0, WIDE), "modified_bessel_i1": (scipy.special.i1, WIDE),
    "modified_bessel_k0": (scipy.special.k0, RIGHT), "modified_bessel_k1": (scipy.special.k1, RIGHT),
    "scaled_modified_bessel_k0": (scipy.special.k0e, RIGHT),
    "scaled_modified_bessel_k1": (scipy.special.k1e, RIGHT),
    "bessel_j0": (scipy.special.j0, WIDE), "bessel_j1": (scipy.special.j1, WIDE),
    "bessel_y0": (scipy.special.y0, RIGHT),
    "bessel_y1": (scipy.special.y1, RIGHT),
    "spherical_bessel_j0": (lambda x: scipy.special.spherical_jn(0, x), WIDE),
    "airy_ai": (lambda x: scipy.special.airy(x)[0], WIDE), "ndtr": (scipy.special.ndtr, WIDE[WIDE > -30]),
    "log_ndtr": (scipy.special.log_ndtr, WIDE[WIDE < 30]), "erfcx": (scipy.special.erfcx, WIDE[WIDE > -26]),
    "ndtri": (scipy.special.ndtri, np.concatenate([np.linspace(0.001, 0.999, 99),
        np.logspace(-300, -1, 60)])),
    "entr": (scipy.special.entr, WIDE),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_values(name):
    reference, x = UNARY[name]
    got = getattr(special, name)(taeda.from_numpy(x)).numpy()
    want = reference(x)
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=2e-13)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int64"])
def test_other_dtypes(name, dtype):
    values = [0.25, 0.5, 0.75] if name == "ndtri" else [1.0, 2.0, 4.0]
    x = taeda.tensor(values).to(getattr(taeda, dtype))
    got = getattr(special, name)(x)
    assert got.dtype is (taeda.float32 if dtype == "int64" else x.dtype)
    rtol = {"bfloat16": 1e-2, "float16": 2e-3}.get(dtype, 1e-6)
    np.testing.assert_allclose(got.double().numpy(), UNARY[name][0](x.double().numpy()), rtol=rtol)


def test_layouts_out_and_in_place():
    x = taeda.linspace(0.1, 3, 24, dtype=taeda.float64).view(2, 3, 4)
    for view in (x.transpose(0, 2), x[:, ::2], x[:0], x[0, 0, 0]):
        np.testing.assert_allclose(taeda.i0(view).numpy(), scipy.special.i0(view.numpy()))
    out = taeda.empty(0, dtype=taeda.float64)
    assert special.i1e(x, out=out) is out
    assert taeda.equal(x.clone().i0_(), x.i0())


INF, NAN = float("inf"), float("nan")
EDGES = {
    "i0": {INF: INF, -INF: INF, NAN: NAN}, "i1": {INF: INF, -INF: -INF}, "i0e": {INF: 0},
    "modified_bessel_k0": {0.0: INF, -1.0: NAN, INF: 0},
    "scaled_modified_bessel_k1": {0.0: INF, INF: 0, NAN: NAN},
    "airy_ai": {INF: 0, -INF: 0, NAN: NAN}, "spherical_bessel_j0": {0.0: 1, INF: 0},
    "ndtr": {-INF: 0, INF: 1, NAN: NAN},
    "ndtri": {0.0: -INF, 1.0: INF, 0.5: 0, -1.0: NAN, 2.0: NAN}, "log_ndtr": {-INF: -INF, INF: 0},
    "erfcx": {INF: 0, -INF: INF, 0.0: 1}, "entr": {0.0: 0, -1.0: -INF, NAN: NAN},
}  # fmt: skip


@pytest.mark.parametrize("name", EDGES)
def test_edges(name):
    x, want = zip(*EDGES[name].items(), strict=True)
    got = getattr(special, name)(taeda.tensor(x, dtype=taeda.float64))
    np.testing.assert_array_equal(got.numpy(), want)


# ---- two arguments ----


def test_incomplete_gamma_functions():
    rng = np.random.default_rng(0)
    a = 10 ** rng.uniform(-3, 5, 4000)
    x = a * np.exp(rng.normal(size=4000) * np.minimum(1, 3 / np.sqrt(a)))
    for name, reference in (
        ("gammainc", scipy.special.gammainc),
        ("gammaincc", scipy.special.gammaincc),
    ):
        got = getattr(special, name)(taeda.from_numpy(a), taeda.from_numpy(x)).numpy()
        np.testing.assert_allclose(got, reference(a, x), rtol=1e-8, atol=1e-12)
    many = taeda.tensor([1e8, 1e12, 3e38], dtype=taeda.float64)
    # the median lies a third left of the mean
    assert (taeda.igamma(many, many) - 0.5).abs().max() < 1e-4
    assert ((many.igamma(many) + many.igammac(many)) == 1).all()


@pytest.mark.parametrize(
    ("a", "x", "lower"),
    [(0.0, 1.0, 1), (0.0, 0.0, NAN), (1.0, 0.0, 0), (INF, 1.0, 0), (1.0, INF, 1), (INF, INF, NAN),
        (-1.0, 1.0, NAN), (1.0, -1.0, NAN)],
)  # fmt: skip
def test_incomplete_gamma_edges(a, x, lower):
    a, x = taeda.tensor(a), taeda.tensor(x)
    np.testing.assert_array_equal(taeda.igamma(a, x).item(), lower)
    np.testing.assert_array_equal(taeda.igammac(a, x).item(), 1 - lower)


def test_zeta():
    rng = np.random.default_rng(0)
    s, q = rng.uniform(1.01, 20, 500), rng.uniform(0.01, 30, 500)
    got = special.zeta(taeda.from_numpy(s), taeda.from_numpy(q)).numpy()
    np.testing.assert_allclose(got, scipy.special.zeta(s, q), rtol=1e-12)
    x = taeda.tensor([1.0, 0.5, 2.0, 2.5, 2.0, 1e20], dtype=taeda.float64)
    q = taeda.tensor([2.0, 2.0, -1.0, -1.5, -1.5, 1.0], dtype=taeda.float64)
    np.testing.assert_allclose(
        special.zeta(x, q).numpy(),
        [INF, NAN, INF, NAN, scipy.special.zeta(2.0, -1.5), 1],
        rtol=1e-12,
    )
    assert special.zeta(2, taeda.tensor(1.0)).item() == pytest.approx(np.pi**2 / 6)


def test_xlog1py():
    x, y = taeda.tensor([0.0, 0.0, 2.0, 0.0]), taeda.tensor([-1.0, NAN, 1e-10, INF])
    np.testing.assert_allclose(special.xlog1py(x, y).numpy(), [0, NAN, 2e-10, 0], rtol=1e-6)
    assert special.xlog1py(3, taeda.tensor(0.0)).item() == 0
    for call in (special.xlog1py, special.zeta):
        with pytest.raises(TypeError, match="one of the operands must be a Tensor"):
            call(2, 3)


def test_refusals():
    with pytest.raises(RuntimeError, match=r"is not implemented for .ComplexFloat"):
        special.i0e(taeda.tensor(1j))
    with pytest.raises(RuntimeError, match=r"\[2\] and \[3\]"):
        taeda.igamma(taeda.ones(2), taeda.ones(3))
    with pytest.raises(RuntimeError, match="can't be cast"):
        taeda.tensor([1]).i0_()


def test_zeta_of_infinity():
    inf = taeda.tensor(float("inf"))
    assert taeda.special.zeta(inf, taeda.tensor(1.0)).item() == 1
    assert taeda.special.zeta(taeda.tensor(float("nan")), taeda.tensor(0.0)).isnan()


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64], ids=str)
@pytest.mark.parametrize("n", [2, 4, 6, 10, 20])
def test_even_polygammas_have_no_mirror_term_halfway(n, dtype):
    """The derivative of the cotangent that the reflection adds is 0 there: polygamma(n, 1 - x)."""
    x = -taeda.tensor([0.5, 1.5, 7.5, 100.5, 4095.5, 2097151.5], dtype=dtype)
    found, wanted = taeda.polygamma(n, x), taeda.polygamma(n, 1 - x.double())
    assert found.double().tolist() == pytest.approx(wanted.tolist(), rel=1e-5, abs=1e-44)
    if dtype is taeda.float64:
        assert found.tolist() == pytest.approx(wanted.tolist(), rel=1e-13)
