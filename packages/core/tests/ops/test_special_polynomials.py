"""Orthogonal polynomials: against mpmath to the last place, against scipy, at their edges, of high orders."""

from __future__ import annotations

import time

import mpmath as mp
import numpy as np
import pytest
import scipy.special

import taeda
from taeda import special

INF, NAN = float("inf"), float("nan")
F64 = taeda.float64


def chebyshev(factor, shifted=False):
    """T(n) + U(n - 1) factor(x), by recurrence."""

    def exact(x, n):
        x = 2 * x - 1 if shifted else x
        before, t, u_before, u = x, mp.mpf(1), mp.mpf(-1), mp.mpf(0)
        for _ in range(n):
            before, t, u_before, u = t, 2 * x * t - before, u, 2 * x * u - u_before
        return t + factor(x) * u

    return exact


def stepped(step):
    def exact(x, n):
        before, value = mp.mpf(0), mp.mpf(1)
        for k in range(n):
            before, value = value, step(x, k, value, before)
        return value

    return exact


FACTORS = {"t": lambda x: 0, "u": lambda x: x, "v": lambda x: x - 1, "w": lambda x: x + 1}
EXACT = {
    **{f"chebyshev_polynomial_{kind}": chebyshev(f) for kind, f in FACTORS.items()},
    **{f"shifted_chebyshev_polynomial_{kind}": chebyshev(f, True) for kind, f in FACTORS.items()},
    "hermite_polynomial_h": stepped(lambda x, k, p, q: 2 * x * p - 2 * k * q),
    "hermite_polynomial_he": stepped(lambda x, k, p, q: x * p - k * q),
    "laguerre_polynomial_l": stepped(lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
    "legendre_polynomial_p": stepped(lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
}
SCIPY = {
    "chebyshev_polynomial_t": scipy.special.eval_chebyt,
    "chebyshev_polynomial_u": scipy.special.eval_chebyu,
    "shifted_chebyshev_polynomial_t": scipy.special.eval_sh_chebyt,
    "shifted_chebyshev_polynomial_u": scipy.special.eval_sh_chebyu,
    "hermite_polynomial_h": scipy.special.eval_hermite,
    "hermite_polynomial_he": scipy.special.eval_hermitenorm,
    "laguerre_polynomial_l": scipy.special.eval_laguerre,
    "legendre_polynomial_p": scipy.special.eval_legendre,
}
names = pytest.mark.parametrize("name", EXACT)


def call(name, x, n, dtype=F64, **keywords):
    return getattr(special, name)(
        taeda.tensor(x, dtype=dtype), taeda.tensor(n, dtype=dtype), **keywords
    )


@names
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_to_the_last_place(name, dtype):
    rng = np.random.default_rng(0)
    orders = [*range(0, 61, 3), 100, 250]
    sizes = 10.0 ** -rng.uniform(1, 15, 3)
    near = np.concatenate([1 - sizes, sizes - 1, 1 + sizes, sizes, [0, 1, -1]])
    rows = [
        (x, n) for n in orders for x in (*rng.uniform(-1, 1, 4), *near, *rng.uniform(-30, 30, 4))
    ]
    x, n = (np.array(column, dtype=dtype) for column in zip(*rows, strict=True))
    got = getattr(special, name)(taeda.from_numpy(x), taeda.from_numpy(n)).tolist()
    largest = mp.mpf(float(np.finfo(dtype).max))
    with mp.workdps(150):
        for at, order, found in zip(x.tolist(), n.tolist(), got, strict=True):
            exact = EXACT[name](mp.mpf(at), int(order))
            if abs(exact) > largest:
                assert found == float(mp.sign(exact)) * INF, (at, order)
                continue
            unit = float(np.spacing(np.dtype(dtype).type(abs(float(exact)))))
            assert abs(mp.mpf(found) - exact) <= 0.51 * unit, (at, order, found)


@pytest.mark.parametrize("name", SCIPY)
def test_values_of_scipy(name):
    x, n = np.linspace(0.01, 0.99, 15)[:, None], np.arange(12)
    got = getattr(special, name)(taeda.from_numpy(x), taeda.from_numpy(n)).numpy()
    np.testing.assert_allclose(got, SCIPY[name](n, x), rtol=1e-11, atol=1e-12)


@names
def test_orders(name):
    """Cut to an integer; below 0 the result is 0; order 0 asks nothing of x. NaN is no order, nor is 2^63."""
    f = getattr(special, name)
    x = taeda.tensor([0.3, -1.0, 5.0, INF, -INF, NAN], dtype=F64)
    for n, same in ((2.9, 2), (-0.5, 0), (7.999, 7)):
        np.testing.assert_array_equal(f(x, n).numpy(), f(x, same).numpy())
    assert f(x, 0).tolist() == [1] * 6
    for n in (-1, -7.5, -INF):
        assert f(x, n).tolist() == [0] * 6
    for n in (NAN, INF, 1e20):
        assert f(x, n).isnan().all()


@names
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 50])
def test_large_numbers(name, n):
    """There the first term decides, however the others lie in a vector beside it."""
    falls = -1 if name == "laguerre_polynomial_l" else 1
    for x in (1e20, 1e60, 2e100, 1e150, 1e200, INF):
        for sign in (1, -1):
            with mp.workdps(400):
                exact = EXACT[name](mp.mpf(sign * min(x, 1e307)), n)
            wanted = (falls * sign) ** n * INF
            if x < INF and abs(exact) < np.finfo("float64").max:
                wanted = float(exact)
            for beside in (0, 1, 60):
                got = call(name, [sign * x, 0.5, NAN], [n, beside, 3])
                assert got[0].item() == pytest.approx(wanted, rel=1e-15), (x, beside)
                assert got[2].isnan()


@names
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "int64", "bool"])
def test_dtypes(name, dtype):
    x = taeda.tensor([0, 1, 1]).to(getattr(taeda, dtype))
    n = taeda.tensor([3, 2, 5])
    got = getattr(special, name)(x, n)
    assert got.dtype is (x.dtype if x.dtype.is_floating_point else taeda.float32)
    wanted = getattr(special, name)(x.double(), n.double())
    taeda.testing.assert_close(got, wanted.to(got.dtype))
    assert getattr(special, name)(taeda.ones(2), taeda.ones(2, dtype=F64)).dtype is F64


@names
def test_numbers_broadcasting_and_out(name):
    f = getattr(special, name)
    x = taeda.linspace(-1.5, 1.5, 12, dtype=F64).view(3, 4)
    n = taeda.arange(5).view(5, 1, 1)
    whole = f(x, n)
    assert whole.shape == (5, 3, 4)
    for k in range(5):
        assert taeda.equal(whole[k], f(x, k))
        assert taeda.equal(whole[k], f(x.T, k).T)
    assert taeda.equal(f(x[1, 2].item(), n.double()), whole[:, 1:2, 2:3])
    out = taeda.empty(0, dtype=F64)
    assert f(x, n, out=out) is out and taeda.equal(out, whole)
    assert f(x=x, n=2).shape == x.shape
    assert f(x[:0], 3).shape == (0, 4)


@names
def test_refusals(name):
    f = getattr(special, name)
    with pytest.raises(TypeError, match="one of the operands must be a Tensor"):
        f(2, 3)
    with pytest.raises(RuntimeError, match=r"is not implemented for .ComplexFloat"):
        f(taeda.tensor(1j), 2)
    with pytest.raises(RuntimeError, match=r"\[2\] and \[3\]"):
        f(taeda.ones(2), taeda.ones(3))


# ---- high orders ----


@names
def test_no_order_takes_long(name):
    x = [0.3, -0.99999, 1 + 1e-15, 0.0, 1e50, -1e50, 40.0, -40.0]
    for n in (1e4, 10001.0, 1e6, 1e18, 9.2e18, 1e300):
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call(name, x, n)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.05, n  # half a millisecond a vector, on an idle core


@pytest.mark.parametrize("n", [2**20 + 1, 10**9, 10**12 + 1, 2**53, 10**18])
def test_chebyshev_of_high_orders(n):
    x = [0.3, -0.7, 0.999999, 1 - 2**-53, 2**-53 - 1, 1.0, -1.0]
    t, u = (call(f"chebyshev_polynomial_{kind}", x, n).tolist() for kind in "tu")
    with mp.workdps(80):
        for at, first, second in zip(x[:5], t, u, strict=False):
            angle = mp.acos(mp.mpf(at))
            assert abs(mp.mpf(first) - mp.cos(n * angle)) < 1e-14
            wanted = mp.sin((n + 1) * angle) / mp.sin(angle)
            assert abs(mp.mpf(second) - wanted) < 1e-14 * min(n + 1, 1 / float(mp.sin(angle)))
    sign = 1 if n % 2 == 0 else -1
    assert (t[5:], u[5:]) == ([1, sign], [float(n + 1), sign * float(n + 1)])
    assert call("chebyshev_polynomial_t", [2.0, -2.0], n).tolist() == [INF, sign * INF]


@pytest.mark.parametrize("n", [10000, 10001])
def test_legendre_of_high_orders(n):
    """The recurrence, and the series above it, to three roundings of the size that it has around x."""
    x = [
        0.0,
        0.3,
        -0.7,
        0.9,
        1 - 1e-5,
        1.2e-6 - 1,
        1 - 1e-8,
        1 - 1e-12,
        1.0,
        -1.0,
        1 + 1e-9,
        -1 - 1e-6,
    ]
    with mp.workdps(60):
        for at, found in zip(x, call("legendre_polynomial_p", x, n).tolist(), strict=True):
            exact = EXACT["legendre_polynomial_p"](mp.mpf(at), n)
            size = 1 / mp.sqrt(n * mp.sqrt(abs(1 - mp.mpf(at) ** 2)) + 1)
            assert abs(mp.mpf(found) - exact) < 4e-16 * max(size, abs(exact)), at


def test_laguerre_of_high_orders():
    n = 12345
    x = [-4.0, -1e-3, 0.0, 1e-4, 0.0128]
    with mp.workdps(60):
        wanted = [float(EXACT["laguerre_polynomial_l"](mp.mpf(at), n)) for at in x]
    np.testing.assert_allclose(call("laguerre_polynomial_l", x, n).tolist(), wanted, rtol=1e-15)
    last = call("laguerre_polynomial_l", [1.0, 1e5, -1e5], n).tolist()
    np.testing.assert_array_equal(last, [NAN, -INF, INF])


def test_hermite_of_high_orders():
    """Finite as long as the number is, with its sign far above, and by the sign of x^n beyond the zeros."""
    n = [1000, 1001, 1002, 10001, 10002, 10004]
    for name in ("hermite_polynomial_h", "hermite_polynomial_he"):
        assert call(name, 0.0, n).tolist() == [INF, 0, -INF, 0, -INF, INF]
        for x, order in ((0.5, 260), (0.25, 265), (1e-300, 301), (2.5, 600), (-7.0, 901)):
            with mp.workdps(60):
                exact = EXACT[name](mp.mpf(x), order)
            wanted = float(exact) if abs(exact) < 1.7e308 else float(mp.sign(exact)) * INF
            assert call(name, x, order).item() == wanted
        got = call(name, [1e5, -1e5, 3.0], 10001).tolist()
        np.testing.assert_array_equal(got, [INF, -INF, NAN])


def test_neighbours_in_a_vector_change_nothing():
    rng = np.random.default_rng(1)
    x, n = rng.uniform(-1.2, 1.2, 64), rng.integers(-1, 80, 64)
    x[::7] = -0.0
    for name in EXACT:
        together = call(name, x, n)
        alone = taeda.stack([call(name, at, order) for at, order in zip(x, n, strict=True)])
        assert taeda.equal(together, alone)
        assert taeda.equal(together.signbit(), alone.signbit()), name
