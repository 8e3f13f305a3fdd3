"""The text of a chain, and the bits of what is compiled from it."""

from __future__ import annotations

import random
import shutil

import pytest

import taeda
import taeda.nn.functional as F
from taeda._core_api import chains as core
from taeda.compiler import config
from taeda.compiler._errors import NoText
from taeda.compiler._kernels.text import of_chain

A = (1, 0)  # a tensor
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def _wait(monkeypatch):
    monkeypatch.setattr(config, "chains", "wait")


def states(compiled):
    """Of the chains of all its steps."""
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    assert -1 not in trace.program.chains()
    return {core.get_chain(n)[2] for n in trace.program.chains()}


def agree(f, *args):
    """The compiled chain gives the bits of the program; NaN is NaN."""
    compiled = taeda.compile(f)
    for _ in range(6):
        found = compiled(*(a.clone() for a in args))
    expected = f(*(a.clone() for a in args))
    assert states(compiled) == {core.chain_states["TAKEN"]}
    pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
    for n, (a, b) in enumerate(pairs):
        assert a.dtype == b.dtype, n
        same = (a == b) | (a.isnan() & b.isnan())
        signs = a.dtype == taeda.bool or (a.signbit() == b.signbit()) | a.isnan()
        assert (same & signs).all(), f"result {n}: {a[~same][:4]} but {b[~same][:4]}"


DTYPES = (taeda.float32, taeda.float64, taeda.float16, taeda.bfloat16)
UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sigmoid sin cos tan asin acos atan "
    "sinh cosh tanh asinh acosh atanh erf erfc deg2rad rad2deg neg abs square sgn floor ceil trunc "
    "frac round relu nan_to_num"
).split()
BINARY = (
    "add sub mul div maximum minimum fmax fmin fmod remainder floor_divide atan2 hypot copysign "
    "logaddexp logaddexp2 xlogy heaviside"
).split()


def edges(n, dtype):
    """Numbers of all sizes, with the odd ones among them."""
    x = (taeda.randn(n) * taeda.pow(10.0, taeda.randint(-6, 7, (n,)).float())).to(dtype)
    odd = taeda.tensor([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan"), 0.5])
    x[: len(odd)] = odd.to(dtype)
    x[-len(odd) :] = odd.flip(0).to(dtype)
    return x


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
@pytest.mark.parametrize("n", [16384, 20011])
def test_functions_of_one_number(dtype, n):
    agree(lambda x: tuple(getattr(taeda, name)(x) for name in UNARY), edges(n, dtype))


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_functions_of_two_numbers(dtype):
    def f(x, y):
        found = [getattr(taeda, name)(x, y) for name in BINARY]
        found += [taeda.add(x, y, alpha=3), taeda.sub(x, y, alpha=0.1), taeda.rsub(x, 2.5)]
        found += [taeda.div(x, y, rounding_mode=m) for m in ("trunc", "floor")]
        return (*found, x.clamp(-1, 1), x.clamp(min=0.25), x.clamp(max=0.25), x * 0.1, 2 / y)

    agree(f, edges(16400, dtype), edges(16400, dtype).flip(0))


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_functions_of_three_numbers_and_activations(dtype):
    def f(x, y, z):
        found = [x.lerp(y, z), x.lerp(y, 0.25), x.addcmul(y, z), x.addcdiv(y, z, value=-0.5)]
        found += [
            F.gelu(x),
            F.gelu(x, approximate="tanh"),
            F.elu(x, 0.7),
            F.selu(x),
            F.celu(x, 2.0),
        ]
        found += [F.silu(x), F.mish(x), F.softplus(x, 2.0), F.leaky_relu(x, 0.3), F.hardtanh(x)]
        found += [F.hardshrink(x), F.softshrink(x), F.hardsigmoid(x), F.hardswish(x), F.relu6(x)]
        return (*found, F.threshold(x, 0.1, 0.2), F.logsigmoid(x), taeda.logit(z, 1e-3))

    agree(f, *(edges(16389, dtype).roll(k) for k in range(3)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers(dtype):
    def f(x, y, dot):
        exponents = (0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5, -3, 2.0)
        return (*(x**n for n in exponents), x**y, x**dot)

    dot = taeda.tensor(2.0, dtype=dtype)  # no number: by the rows of any exponent
    agree(f, edges(16401, dtype), edges(16401, dtype).roll(3), dot)


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16])
def test_numbers_that_16_bits_cannot_hold(dtype):
    def with_number(x, y, n):
        made = [
            x * n,
            x / n,
            n - x,
            x + n,
            x // n,
            x % n,
            x**n,
            x.lerp(y, n),
            x.clamp(max=n),
            x < n,
        ]
        return [*made, taeda.div(x, n, rounding_mode="trunc")]

    def f(x, y, dot, wide):
        found = [made for n in (0.1, 70000.0, 1e-9, 0.5) for made in with_number(x, y, n)]
        return (*found, taeda.where(found[9], 0.1, x), x * wide, x * dot, x**wide)

    wide = taeda.tensor(0.1, dtype=taeda.float64)
    dot = taeda.tensor(0.1, dtype=dtype)
    agree(f, edges(16_401, dtype), edges(16_401, dtype).roll(3), dot, wide)


def test_a_power_is_that_of_its_number_however_long_it_waits():
    """The number's tensor is gone when the loops run, and another one may lie there."""

    def f(x):
        y = x**3
        for _ in range(4):
            y = y + x
        return y, y**2

    agree(f, taeda.randn(20_000))


@pytest.mark.parametrize("dtype", DTYPES)
def test_tests_and_masks(dtype):
    def f(x, y, m):
        tests = [getattr(taeda, name)(x, y) for name in ("lt", "le", "gt", "ge", "eq", "ne")]
        tests += [x > 0.25, x.isnan(), x.isinf(), x.isfinite(), x.isposinf(), x.isneginf()]
        tests += [taeda.logical_and(x, y), taeda.logical_or(x, y), taeda.logical_xor(x, y)]
        masks = [tests[0] & m, tests[1] | m, tests[2] ^ m, ~m, ~tests[3], taeda.logical_not(x)]
        masks += [getattr(m, f"logical_{name}")(tests[6]) for name in ("and", "or", "xor")]
        masks += [m.eq(tests[1]), m.ne(tests[1]), m.mul(tests[0])]
        kept = [taeda.where(m, x, y), taeda.where(tests[7], 0.0, x), taeda.where(x > y, x, 2)]
        return (*tests, *masks, *kept, taeda.where(~m & tests[9], y, x).abs())

    m = taeda.rand(20_011) < 0.5
    agree(f, edges(20_011, dtype), edges(20_011, dtype).roll(3), m)


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64])
def test_bools_as_numbers(dtype):
    def f(x, m):
        dead = (x > 0) * x + m
        x.mul_(m)
        return dead, x * m - x, (x < 1) * x, x + m

    agree(f, edges(16500, dtype), taeda.rand(16500) < 0.5)


def test_bools_and_a_number():
    agree(
        lambda x, m: (x * m - m * 0.5, (x < 1) * 2.5), taeda.randn(16500), taeda.rand(16500) < 0.5
    )


def test_bytes_that_are_no_truth_values_stay_what_they_are():
    odd = taeda.randint(0, 4, (16384,), dtype=taeda.uint8).view(taeda.bool)

    def f(x, m):
        return m & (x > 0), m ^ m, x * m, taeda.where(m, x, 0), m | m

    x = taeda.randn(16384)
    agree(f, x, odd)
    compiled = taeda.compile(f)
    for _ in range(6):
        found = compiled(x, odd)
    for a, b in zip(found, f(x, odd), strict=True):
        assert a.view(taeda.uint8).equal(b.view(taeda.uint8)) or a.is_floating_point()


@pytest.mark.parametrize("dtype", [taeda.float16, taeda.bfloat16])
def test_short_floats(dtype):
    def f(x, y):
        found = [getattr(taeda, name)(x) for name in UNARY]
        found += [getattr(taeda, name)(x, y) for name in BINARY]
        found += [taeda.add(x, y, alpha=0.1), x.addcmul(y, y, value=3), x.lerp(y, 0.25)]
        found += [F.gelu(x), F.silu(x), F.hardtanh(x), x.clamp(-1, 0.3), 0.1 * x, x / 3]
        return (*found, ((x * y).exp() + 1).log() * x - y, x.neg().copysign(y.neg()))

    agree(f, edges(16389, dtype), edges(16389, dtype).roll(3))


def test_writes_and_values_that_nobody_keeps():
    def f(x):
        y = x * 2
        y.add_(x)
        z = y.exp()
        y.mul_(z).sub_(1)
        x.sub_(y)
        return y + z + x, x

    agree(f, taeda.rand(300, 100))


def test_a_training_step():
    def f(x, w):
        loss = (F.gelu(x * w) * taeda.sigmoid(x) - 0.5).square().mean()
        (gradient,) = taeda.autograd.grad(loss, w)
        return loss.detach(), gradient

    x, w = taeda.randn(20000), taeda.randn(20000, requires_grad=True)
    compiled = taeda.compile(f)
    for _ in range(6):
        found = compiled(x, w)
    assert all(a.equal(b) for a, b in zip(found, f(x, w), strict=True))
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    assert core.chain_states["TAKEN"] in {
        core.get_chain(n)[2] for n in trace.program.chains() if n >= 0
    }


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads(threads):
    before = taeda.get_num_threads()
    taeda.set_num_threads(threads)
    try:
        agree(lambda x: (x * 2 + 1).sin() * x, taeda.rand(300_001))
    finally:
        taeda.set_num_threads(before)


def test_numbers_are_no_part_of_the_text():
    one = of_chain((("mul", 11, True, (1, 0, -1), (A, A)),) * 2, (True, True)).whole
    assert one == of_chain((("mul", 11, True, (1, 0, -1), (A, A)),) * 2, (True, True)).whole
    assert "const vf n1 = vf_set(*(const float *)numbers[1]);" in one


def test_lines_stand_beside_the_operations():
    loops = (("sin", 11, True, (1, 0), (A,)), ("abs", 11, True, (2, 1), (A,)))
    text = of_chain(loops, (True, False, True), ("model.py:3", "odd */ name\\\n.py:4")).own
    assert "sin_f32_row_of(a0, x0); /* model.py:3 */ \\" in text
    assert "abs_f32_row_of(a1, v0); /* odd * / name/ .py:4 */ \\" in text
    assert "STORE(r2, v1);" in text
    assert "STORE(r1" not in text


def test_truth_values_are_integers_beside_the_floats():
    loops = (
        ("lt", 12, False, (1, 0, -1), (A, A)),
        ("bitwise_not", 0, True, (2, 1), (A,)),
        ("where", 12, True, (4, 2, 0, 3), (A, A, A)),
        ("truth", 12, True, (5, 6), ()),
    )
    text = of_chain(loops, (True, False, True, True, True, True, True)).own
    assert "vl v0 = lt_f64_row_of(a0, x0, n0);" in text
    assert "vl v1 = vl_bitwise_not(a1, v0);" in text
    assert "vd v2 = vd_where(a2, v1, x0, x3);" in text
    assert "vl x6 = TRUTHS(r6);" in text
    assert "KEEP(r2, v1);" in text
    assert "uint8_t *r6 = (uint8_t *)data[6];" in text
    assert "vi v0 = vi_bitwise_not(a0, x1);" in of_chain(loops[1:2], (True, True, True)).own


@pytest.mark.parametrize(
    ("loop", "why"),
    [
        (("signbit", 11, False, (1, 0), (A,)), "signbit is no expression of vectors"),
        (("add", 4, True, (1, 0, 0), (A, A, (3, 1))), "several dtypes, or in others than floats"),
        (("add", 0, True, (1, 0, 0), (A, A)), "add of bools is no expression of vectors"),
        (("nextafter", 10, True, (1, 0, 0), (A, A)), "nextafter is no expression of vectors"),
    ],
)
def test_what_has_no_text(loop, why):
    with pytest.raises(NoText, match=why):
        of_chain((loop, loop), (True, True))


ONE = ("sin", "tanh", "abs", "neg", "sigmoid", "square", "exp", "relu", "erf", "floor")
TWO = ("add", "sub", "mul", "div", "maximum", "atan2", "hypot")


def random_steps(seed):
    """A straight program: (operation, operand, operand or number, whether it writes in place)."""
    pick = random.Random(seed)
    steps = []
    for n in range(pick.randint(4, 30)):
        one, place = pick.random() < 0.4, pick.random() < 0.2
        name = pick.choice(ONE if one else TWO)
        values = range(4 + n)  # x, y, a row, a number in a tensor, results
        first = pick.choice(values) if pick.random() < 0.5 else max(values)
        second = None if one else pick.choice([*values, 0.5])
        if name in ("atan2", "hypot", "maximum") and second == 0.5:
            second = 1
        steps.append((name, first, second, place))
    return tuple(steps)


@pytest.mark.parametrize("seed", range(12))
def test_random_chains(seed):
    steps = random_steps(seed)
    dtype = (taeda.float32, taeda.float64)[seed % 2]
    shape = ((16384,), (129, 131), (3, 41, 173))[seed % 3]

    def f(x, y, row, number):
        values = [x, y, row, number]
        for name, first, second, place in steps:
            a = values[first]
            inplace = place and first > 3 and name not in ("maximum", "hypot")
            operation = getattr(taeda.Tensor, name + "_" * inplace)
            b = () if second is None else (values[second] if isinstance(second, int) else second,)
            if inplace and b and isinstance(second, int) and values[second].dim() > a.dim():
                operation = getattr(taeda.Tensor, name)
            values.append(operation(a, *b))
        return tuple(values[-3:])

    x, y = taeda.randn(*shape, dtype=dtype), taeda.rand(*shape, dtype=dtype) + 0.5
    args = (x, y, taeda.randn(shape[-1], dtype=dtype), taeda.tensor(1.5, dtype=dtype))
    compiled = taeda.compile(f)
    for _ in range(6):
        found = compiled(*args)
    ((trace,),) = compiled.__taeda_compiled__.traces.values()
    for a, b in zip(found, f(*args), strict=True):
        assert ((a == b) | (a.isnan() & b.isnan())).all()
        assert a.stride() == b.stride()
    assert trace.trusted
    numbers = {n for n in trace.program.chains() if n >= 0}
    assert numbers
    assert all(core.get_chain(n)[2] == core.chain_states["TAKEN"] for n in numbers)
