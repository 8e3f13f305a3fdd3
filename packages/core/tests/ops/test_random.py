"""Samplers: the stream itself, the distributions, independence of layout and threads, and every refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import taeda

FLOATS = [taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64]
INTEGERS = [taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64]
N = 50_000
UNLIKELY = 1e-6  # seeds are fixed, so a test either always passes or never


@pytest.fixture(autouse=True)
def _seed():
    state = taeda.default_generator.get_state()
    taeda.default_generator.manual_seed(20)
    yield
    taeda.default_generator.set_state(state)


def values(tensor):
    return np.array(tensor.tolist())


def empty(*shape, dtype=taeda.float32):
    return taeda.empty(shape, dtype=dtype)


def same_distribution(sample, distribution):
    return stats.kstest(values(sample).ravel().astype(float), distribution.cdf).pvalue > UNLIKELY


def same_counts(sample, probability):
    """Chi-square over the integers whose expected count is large enough."""
    seen, counts = np.unique(values(sample).astype(np.int64), return_counts=True)
    counts = dict(zip(seen.tolist(), counts.tolist(), strict=True))
    likely = [k for k in range(2_000) if N * probability(k) >= 20]
    observed = [counts.get(k, 0) for k in likely]
    expected = [N * probability(k) for k in likely]
    rest = N - sum(expected)
    if rest > 20:
        observed.append(N - sum(observed))
        expected.append(rest)
    scale = sum(observed) / sum(expected)
    return stats.chisquare(observed, np.array(expected) * scale).pvalue > UNLIKELY


# ---- the stream ----


def philox(seed, block):
    """Philox4x32-10 as the paper defines it."""
    c = [block & 0xFFFFFFFF, block >> 32, 0, 0]
    k = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high0, low0 = divmod(0xD2511F53 * c[0], 2**32)
        high1, low1 = divmod(0xCD9E8D57 * c[2], 2**32)
        c = [high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0]
        k = [(k[0] + 0x9E3779B9) % 2**32, (k[1] + 0xBB67AE85) % 2**32]
    return c


def test_the_reference_here_is_philox():
    assert philox(0, 0) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


@pytest.mark.parametrize("seed", [0, 20, 2**63 + 12345])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_rand_follows_the_stream(seed, n):
    words = []
    for group in range(-(-n // 64)):
        blocks = [philox(seed, 16 * group + lane) for lane in range(16)]
        words += [blocks[lane][word] for word in range(4) for lane in range(16)]
    taeda.default_generator.manual_seed(seed)
    assert taeda.rand(n).tolist() == [(w >> 8) / 2**24 for w in words[:n]]


def test_the_stream_crosses_32_bits_of_its_counter():
    g = taeda.Generator().manual_seed(3)
    state = bytearray(bytes(g.get_state().tolist()))
    state[8:16] = (2**32 - 8).to_bytes(8, "little")
    g.set_state(taeda.tensor(list(state), dtype=taeda.uint8))
    got = taeda.rand(16, generator=g).tolist()
    assert got == [(philox(3, 2**32 - 8 + lane)[0] >> 8) / 2**24 for lane in range(16)]


def test_a_shorter_draw_is_a_prefix():
    long = taeda.randn(1000, generator=taeda.Generator().manual_seed(1)).tolist()
    for n in (0, 1, 17, 64, 999):
        assert taeda.randn(n, generator=taeda.Generator().manual_seed(1)).tolist() == long[:n]


SAMPLERS = {
    "uniform_": lambda t, g: t.uniform_(-1, 2, generator=g),
    "normal_": lambda t, g: t.normal_(1, 2, generator=g),
    "exponential_": lambda t, g: t.exponential_(0.5, generator=g),
    "cauchy_": lambda t, g: t.cauchy_(generator=g),
    "log_normal_": lambda t, g: t.log_normal_(generator=g),
    "geometric_": lambda t, g: t.geometric_(0.3, generator=g),
    "random_": lambda t, g: t.random_(generator=g),
    "random_.from": lambda t, g: t.random_(-3, 90, generator=g),
    "bernoulli_": lambda t, g: t.bernoulli_(0.3, generator=g),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", SAMPLERS)
def test_values_do_not_depend_on_layout(name, dtype):
    draw = SAMPLERS[name]
    wanted = draw(empty(6, 50, dtype=dtype), taeda.Generator().manual_seed(7))
    transposed = draw(empty(50, 6, dtype=dtype).t(), taeda.Generator().manual_seed(7))
    base = taeda.zeros(12, 101, dtype=dtype)
    strided = draw(base[1::2, 1::2], taeda.Generator().manual_seed(7))
    assert transposed.tolist() == wanted.tolist()
    assert strided.tolist() == wanted.tolist()
    assert base[::2].tolist() == taeda.zeros(6, 101).tolist()


@pytest.mark.parametrize("name", SAMPLERS)
def test_values_do_not_depend_on_threads(name):
    threads = taeda.get_num_threads()
    try:
        results = []
        for n in (1, 2, 5):
            taeda.set_num_threads(n)
            g = taeda.Generator().manual_seed(5)
            results.append(values(SAMPLERS[name](empty(100_003), g)))
    finally:
        taeda.set_num_threads(threads)
    assert np.array_equal(results[0], results[1], equal_nan=True)
    assert np.array_equal(results[0], results[2], equal_nan=True)


def test_only_the_given_generator_advances():
    default = taeda.default_generator.get_state().tolist()
    mine = taeda.Generator().manual_seed(1)
    first = taeda.rand(3, generator=mine)
    assert taeda.default_generator.get_state().tolist() == default
    assert taeda.rand(3, generator=mine).tolist() != first.tolist()


def test_a_state_brings_all_samplers_back():
    def draw():
        return [SAMPLERS[name](empty(5), None).tolist() for name in SAMPLERS]

    taeda.randn(3)
    state = taeda.default_generator.get_state()
    first = draw()
    assert draw() != first
    taeda.default_generator.set_state(state)
    assert draw() == first


# ---- distributions ----

CONTINUOUS = {
    "uniform": (lambda t: t.uniform_(-1, 2), stats.uniform(-1, 3)),
    "normal": (lambda t: t.normal_(3, 0.5), stats.norm(3, 0.5)),
    "exponential": (lambda t: t.exponential_(2.5), stats.expon(scale=0.4)),
    "cauchy": (lambda t: t.cauchy_(1, 2), stats.cauchy(1, 2)),
    "log_normal": (lambda t: t.log_normal_(0.5, 0.25), stats.lognorm(0.25, scale=math.exp(0.5))),
}


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64], ids=str)
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    draw, distribution = CONTINUOUS[name]
    assert same_distribution(draw(empty(N, dtype=dtype)), distribution)


@pytest.mark.parametrize("dtype", [taeda.float32, taeda.float64], ids=str)
def test_neighbours_are_independent(dtype):
    x = values(taeda.randn(N, dtype=dtype))
    for lag in (1, 4, 16, 32, 64):
        assert abs(np.mean(x[:-lag] * x[lag:])) < 5 / math.sqrt(N)
    assert abs(np.mean(x**4) - 3) < 0.25


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_rand_lies_in_its_interval(dtype):
    x = values(taeda.rand(N, dtype=dtype))
    assert x.min() >= 0
    assert x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("low", "high"), [(1.0, 1.0 + 2**-7), (-1.0, 0.0), (0.1, 0.2), (5.0, 5.0)])
def test_uniform_never_reaches_its_upper_end(dtype, low, high):
    x = values(empty(N, dtype=dtype).uniform_(low, high))
    rounded = values(taeda.tensor([low, high], dtype=dtype))
    assert x.min() >= rounded[0]
    assert x.max() < rounded[1] or low == high == x.max()


def test_exponential_is_never_zero():
    assert values(empty(1_000_000).exponential_()).min() > 0


def test_complex_parts_share_the_variance():
    z = values(taeda.randn(N, dtype=taeda.complex64))
    assert abs(np.var(z.real) - 0.5) < 0.02
    assert abs(np.var(z.imag) - 0.5) < 0.02
    assert abs(np.mean(z.real * z.imag)) < 0.02
    u = values(taeda.rand(100, dtype=taeda.complex128))
    assert u.real.min() >= 0
    assert u.imag.max() < 1
    assert abs(values(empty(N, dtype=taeda.complex64).normal_(3, 1)).mean() - 3) < 0.05


@pytest.mark.parametrize("high", [2, 10, 1000])
def test_randint_is_even(high):
    assert same_counts(taeda.randint(high, (N,)), lambda k: 1 / high if k < high else 0)


def test_randint_of_a_wide_range_is_even():
    x = values(taeda.randint(-(2**62), 2**62, (N,))).astype(float)
    assert stats.kstest(x, stats.uniform(-(2.0**62), 2.0**63).cdf).pvalue > UNLIKELY
    third = values(taeda.randint(3 * 2**30, (N,))) // 2**30
    assert stats.chisquare(np.bincount(third)).pvalue > UNLIKELY


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_random_covers_a_dtype(dtype):
    x = values(empty(N, dtype=dtype).random_())
    top = taeda.iinfo(dtype).max
    assert x.min() >= 0
    assert x.max() <= top
    assert x.max() > 0.99 * top
    all_of_it = values(empty(N, dtype=dtype).random_(taeda.iinfo(dtype).min, None))
    assert all_of_it.min() < taeda.iinfo(dtype).min + 0.01 * top


@pytest.mark.parametrize(
    ("dtype", "digits"), list(zip(FLOATS, [11, 8, 24, 53], strict=True)), ids=str
)
def test_random_of_floats_counts_exactly(dtype, digits):
    x = values(empty(N, dtype=dtype).random_())
    assert np.array_equal(x, np.floor(x))
    assert x.max() <= 2.0**digits
    assert x.max() > 0.99 * 2.0**digits


def test_random_rounds_into_its_bounds():
    x = values(empty(N, dtype=taeda.float16).random_(3000, 5001))
    assert x.min() == 3000
    assert x.max() == 5000


def test_bool_random_is_even():
    x = values(empty(N, dtype=taeda.bool).random_())
    assert abs(x.mean() - 0.5) < 0.02


@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000])
def test_randperm_is_a_permutation(n):
    assert sorted(taeda.randperm(n).tolist()) == list(range(n))
    assert taeda.randperm(n).dtype == taeda.int64


def test_randperm_is_even():
    orders = [tuple(taeda.randperm(3).tolist()) for _ in range(6000)]
    _, counts = np.unique(orders, axis=0, return_counts=True)
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > UNLIKELY


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, taeda.bool], ids=str)
def test_bernoulli(p, dtype):
    x = values(empty(N, dtype=dtype).bernoulli_(p))
    assert set(np.unique(x).tolist()) <= {0, 1}
    assert abs(x.mean() - p) < 5 * math.sqrt(p * (1 - p) / N) + 1e-12


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_bernoulli_of_a_tensor(dtype):
    p = taeda.tensor([0.0, 0.25, 1.0], dtype=dtype).expand(N, 3)
    x = taeda.bernoulli(p)
    assert x.dtype == dtype
    means = values(x).mean(0)
    assert means[0] == 0
    assert means[2] == 1
    assert abs(means[1] - 0.25) < 0.01
    target = empty(N, 3, dtype=taeda.int32).bernoulli_(taeda.tensor([0.0, 0.25, 1.0], dtype=dtype))
    assert values(target).mean(0)[[0, 2]].tolist() == [0, 1]


def test_geometric():
    assert same_counts(empty(N).geometric_(0.2), lambda k: stats.geom(0.2).pmf(k))
    assert same_counts(
        empty(N, dtype=taeda.int64).geometric_(0.7), lambda k: stats.geom(0.7).pmf(k)
    )


@pytest.mark.parametrize("rate", [0.3, 5.0, 9.9, 10.1, 80.0])
def test_poisson(rate):
    x = taeda.poisson(taeda.full((N,), rate, dtype=taeda.float64))
    assert same_counts(x, stats.poisson(rate).pmf)


def test_poisson_at_its_edges():
    x = taeda.poisson(taeda.tensor([0.0, math.inf, 1e20], dtype=taeda.float64)).tolist()
    assert x[:2] == [0.0, math.inf]
    assert x[2] == pytest.approx(1e20, rel=1e-8)


# ---- normal with tensors ----


def test_normal_with_tensors():
    mean = taeda.tensor([0.0, 100.0]).expand(N, 2)
    std = taeda.tensor([1.0, 2.0])
    both = values(taeda.normal(mean, std))
    assert np.allclose(both.mean(0), [0, 100], atol=0.05)
    assert np.allclose(both.std(0), [1, 2], atol=0.05)
    assert abs(values(taeda.normal(mean, 0.5)).std(0)[1] - 0.5) < 0.02
    assert abs(values(taeda.normal(5.0, taeda.ones(N))).mean() - 5) < 0.05
    assert taeda.normal(taeda.ones(2, 1, dtype=taeda.float64), taeda.ones(3)).shape == (2, 3)
    assert taeda.normal(taeda.ones(2), taeda.zeros(2)).tolist() == [1.0, 1.0]
    assert taeda.normal(2.0, 0.0, (3,)).tolist() == [2.0, 2.0, 2.0]


# ---- multinomial ----


@pytest.mark.parametrize("replacement", [True, False])
def test_multinomial_first_draw(replacement):
    weights = taeda.tensor([1.0, 0.0, 3.0, 6.0]).expand(N, 4)
    first = taeda.multinomial(weights, 1, replacement)
    assert first.shape == (N, 1)
    assert same_counts(first.reshape(N), lambda k: [0.1, 0, 0.3, 0.6][k] if k < 4 else 0)


def test_multinomial_without_replacement():
    weights = [0.1, 0.2, 0.7]
    pairs = values(taeda.multinomial(taeda.tensor(weights).expand(N, 3), 2))
    assert (pairs[:, 0] != pairs[:, 1]).all()
    code = taeda.tensor((pairs[:, 0] * 3 + pairs[:, 1]).tolist())

    def probability(k):
        i, j = divmod(k, 3)
        return 0 if k > 8 or i == j else weights[i] * weights[j] / (1 - weights[i])

    assert same_counts(code, probability)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_multinomial_shapes(dtype):
    assert sorted(taeda.multinomial(taeda.ones(5, dtype=dtype), 5).tolist()) == [0, 1, 2, 3, 4]
    assert taeda.multinomial(taeda.ones(0, 3, dtype=dtype), 2).shape == (0, 2)
    assert taeda.multinomial(taeda.ones(3, dtype=dtype), 2).dtype == taeda.int64


# ---- dropout ----

DROPPED = [*FLOATS, taeda.complex64, taeda.complex128]


@pytest.mark.parametrize("dtype", DROPPED, ids=str)
def test_dropout(dtype):
    x = taeda.ones(N, dtype=dtype)
    y, mask = taeda.native_dropout(x, 0.2, True)
    kept = values(mask)
    assert mask.dtype == taeda.bool
    assert y.dtype == dtype
    assert abs(kept.mean() - 0.8) < 0.01
    assert np.array_equal(values(y), np.where(kept, y.tolist()[int(kept.argmax())], 0))
    assert abs(y.tolist()[int(kept.argmax())] - 1.25) < 0.01


def test_dropout_follows_logical_order():
    x = taeda.arange(60.0).reshape(6, 10)
    taeda.default_generator.manual_seed(3)
    y, mask = taeda.native_dropout(x, 0.5, True)
    taeda.default_generator.manual_seed(3)
    z, other = taeda.native_dropout(x.t().contiguous().t(), 0.5, True)
    assert z.tolist() == y.tolist()
    assert other.tolist() == mask.tolist()
    assert z.stride() == (1, 6)


@pytest.mark.parametrize(("p", "train"), [(0.0, True), (0.5, False)])
def test_dropout_that_keeps_all(p, train):
    y, mask = taeda.native_dropout(taeda.arange(5.0), p, train)
    assert y.tolist() == [0, 1, 2, 3, 4]
    assert mask.tolist() == [True] * 5


def test_dropout_that_drops_all():
    y, mask = taeda.native_dropout(taeda.ones(5), 1.0, True)
    assert y.tolist() == [0.0] * 5
    assert mask.tolist() == [False] * 5


@pytest.mark.parametrize("p", [1e-12, 1 - 1e-12])
def test_dropout_near_its_ends(p):
    _, mask = taeda.native_dropout(taeda.ones(1000), p, True)
    assert mask.tolist() == [p < 0.5] * 1000


@pytest.mark.parametrize("dtype", DROPPED, ids=str)
def test_dropout_backward(dtype):
    grad = taeda.tensor([1.0, 2.0, 3.0, 4.0], dtype=dtype).reshape(2, 2).t()
    mask = taeda.tensor([[True, False], [False, True]])
    assert taeda.native_dropout_backward(grad, mask, 2.0).tolist() == [[2, 0], [0, 8]]


# ---- factories ----


def test_factories_take_the_usual_options():
    assert taeda.rand(2, 3).dtype == taeda.float32
    assert taeda.rand((2, 3), dtype=taeda.float64).shape == (2, 3)
    assert taeda.randn(2, device="meta").device.type == "meta"
    assert taeda.randint(3, (2,), dtype=taeda.int8).dtype == taeda.int8
    assert taeda.randint(2, 9, (2, 2), dtype=taeda.float16).dtype == taeda.float16
    assert taeda.randperm(4, dtype=taeda.float32).dtype == taeda.float32
    assert taeda.rand(2, requires_grad=True).requires_grad
    like = taeda.rand_like(taeda.ones(2, 3).t())
    assert like.stride() == (1, 3)
    assert (
        taeda.randn_like(taeda.ones(3, dtype=taeda.int64), dtype=taeda.float64).dtype
        == taeda.float64
    )
    assert taeda.randint_like(taeda.ones(3), 2, 4).dtype == taeda.float32


def test_samplers_on_meta_draw_nothing():
    state = taeda.default_generator.get_state().tolist()
    meta = taeda.empty(3, device="meta")
    meta.normal_()
    meta.bernoulli_(0.5)
    assert taeda.multinomial(taeda.empty(2, 3, device="meta"), 2).shape == (2, 2)
    assert taeda.native_dropout(meta, 0.5, True)[1].dtype == taeda.bool
    assert taeda.randperm(5, device="meta").shape == (5,)
    assert taeda.default_generator.get_state().tolist() == state


def test_empty_targets():
    for draw in SAMPLERS.values():
        assert draw(empty(0, 3), None).tolist() == []
    assert taeda.poisson(empty(0)).tolist() == []
    assert taeda.native_dropout(empty(0), 0.5, True)[0].shape == (0,)


# ---- refusals ----

NAN = math.nan
REFUSED = [
    (lambda: empty(3).uniform_(2, 1), RuntimeError, "from=2 > to=1"),
    (lambda: empty(3).uniform_(NAN, 1), RuntimeError, "from=nan is out of bounds for float32"),
    (lambda: empty(3).uniform_(0, math.inf), RuntimeError, "to=inf is out of bounds"),
    (lambda: empty(3).uniform_(-3e38, 3e38), RuntimeError, "wider"),
    (lambda: empty(3, dtype=taeda.float16).uniform_(0, 70000), RuntimeError, "70000.*float16"),
    (lambda: empty(3, dtype=taeda.int64).uniform_(), NotImplementedError, "uniform_.*int64"),
    (lambda: taeda.rand(2, dtype=taeda.int32), NotImplementedError, "int32"),
    (lambda: taeda.randn(2, dtype=taeda.bool), NotImplementedError, "bool"),
    (lambda: taeda.rand(2, dtype=taeda.float8_e5m2), NotImplementedError, "float8_e5m2"),
    (lambda: taeda.rand(-1), RuntimeError, "-1"),
    (lambda: empty(3).normal_(0, -1), RuntimeError, "std=-1"),
    (lambda: empty(3).normal_(0, NAN), RuntimeError, "std=nan"),
    (lambda: taeda.normal(taeda.ones(2), taeda.tensor([1.0, -2.0])), RuntimeError, "-2"),
    (lambda: taeda.normal(taeda.ones(2), taeda.ones(3)), RuntimeError, "sizes 2 and 3"),
    (
        lambda: taeda.normal(taeda.ones(2), taeda.ones(2, dtype=taeda.complex64)),
        RuntimeError,
        "real",
    ),
    (lambda: taeda.normal(taeda.ones(2, dtype=taeda.int64), 1.0), NotImplementedError, "int64"),
    (lambda: empty(3).exponential_(0), RuntimeError, "lambd=0"),
    (lambda: empty(3, dtype=taeda.int64).exponential_(), NotImplementedError, "int64"),
    (lambda: empty(3).cauchy_(0, 0), RuntimeError, "sigma=0"),
    (lambda: empty(3, dtype=taeda.complex64).cauchy_(), NotImplementedError, "complex64"),
    (lambda: empty(3).log_normal_(1, 0), RuntimeError, "std=0"),
    (lambda: empty(3).geometric_(0), RuntimeError, "p=0"),
    (lambda: empty(3).geometric_(1), RuntimeError, "p=1"),
    (lambda: empty(3, dtype=taeda.bool).geometric_(0.5), NotImplementedError, "bool"),
    (lambda: empty(3).bernoulli_(1.5), RuntimeError, "p=1.5"),
    (lambda: empty(3).bernoulli_(NAN), RuntimeError, "p=nan"),
    (lambda: taeda.bernoulli(taeda.tensor([0.5, -0.5])), RuntimeError, "p=-0.5"),
    (lambda: taeda.bernoulli(taeda.tensor([0.5, NAN])), RuntimeError, "p=.?nan"),
    (lambda: taeda.bernoulli(taeda.tensor([1, 0])), NotImplementedError, "int64"),
    (lambda: empty(3).bernoulli_(taeda.ones(2, 3)), RuntimeError, r"\[2, 3\].*\[3\]"),
    (lambda: empty(3, dtype=taeda.complex64).bernoulli_(), NotImplementedError, "complex64"),
    (lambda: empty(3, dtype=taeda.int8).random_(200), RuntimeError, "199.*int8"),
    (lambda: empty(3, dtype=taeda.uint8).random_(-1, 10), RuntimeError, "from=-1.*uint8"),
    (lambda: empty(3, dtype=taeda.bool).random_(3), RuntimeError, "2.*bool"),
    (lambda: empty(3).random_(5, 5), RuntimeError, "from=5 >= to=5"),
    (lambda: empty(3, dtype=taeda.float16).random_(70000), RuntimeError, "69999.*float16"),
    (lambda: empty(3).random_(2**24 + 1, 2**24 + 2), RuntimeError, "no float32 number"),
    (lambda: empty(3, dtype=taeda.complex64).random_(), NotImplementedError, "complex64"),
    (lambda: empty(3, dtype=taeda.uint64).random_(), NotImplementedError, "uint64"),
    (lambda: taeda.randint(0, (2,)), RuntimeError, "to=0"),
    (lambda: taeda.randint(300, (2,), dtype=taeda.uint8), RuntimeError, "299.*uint8"),
    (lambda: taeda.randperm(-1), RuntimeError, "n=-1"),
    (lambda: taeda.randperm(257, dtype=taeda.uint8), RuntimeError, "n=257.*uint8"),
    (lambda: taeda.randperm(2050, dtype=taeda.float16), RuntimeError, "n=2050.*float16"),
    (lambda: taeda.randperm(5, dtype=taeda.bool), NotImplementedError, "bool"),
    (lambda: taeda.poisson(taeda.tensor([1.0, -1.0])), RuntimeError, "-1"),
    (lambda: taeda.poisson(taeda.tensor([NAN])), RuntimeError, "nan"),
    (lambda: taeda.poisson(taeda.tensor([1])), NotImplementedError, "int64"),
    (lambda: taeda.multinomial(taeda.ones(2), 3), RuntimeError, "3 samples of 2 categories"),
    (lambda: taeda.multinomial(taeda.ones(2), 0), RuntimeError, "got 0"),
    (lambda: taeda.multinomial(taeda.tensor([1.0, -2.0]), 1), RuntimeError, "-2 at category 1"),
    (lambda: taeda.multinomial(taeda.tensor([1.0, math.inf]), 1), RuntimeError, "inf"),
    (
        lambda: taeda.multinomial(taeda.tensor([[1.0, 2], [NAN, 1]]), 1, True),
        RuntimeError,
        "nan.*row 1",
    ),
    (lambda: taeda.multinomial(taeda.zeros(2), 1, True), RuntimeError, "sum to 0"),
    (lambda: taeda.multinomial(taeda.tensor([1, 1]), 1), RuntimeError, "int64"),
    (lambda: taeda.multinomial(taeda.tensor(1.0), 1, True), RuntimeError, "1 or 2 dimensions"),
    (lambda: taeda.multinomial(taeda.ones(2, 2, 2), 1), RuntimeError, "got 3"),
    (lambda: taeda.multinomial(empty(0), 1, True), RuntimeError, "no category"),
    (lambda: taeda.native_dropout(taeda.ones(3), 1.5, True), RuntimeError, "1.5"),
    (
        lambda: taeda.native_dropout(taeda.ones(3, dtype=taeda.int64), 0.5, True),
        RuntimeError,
        "int64",
    ),
    (
        lambda: taeda.native_dropout_backward(taeda.ones(3), taeda.ones(2, dtype=taeda.bool), 2.0),
        RuntimeError,
        r"\[2\].*\[3\]",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), REFUSED, ids=[row[2] for row in REFUSED])
def test_refusals(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize("name", SAMPLERS)
def test_shared_elements_are_refused(name):
    with pytest.raises(RuntimeError, match="single memory location"):
        SAMPLERS[name](empty(1).expand(3), None)


@pytest.mark.parametrize("replacement", [False, True])
@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("bad", [-1.0, float("inf"), float("-inf"), float("nan")])
def test_multinomial_finds_a_bad_weight_wherever_it_stands(bad, place, replacement):
    weights = taeda.ones(2, 5)
    weights[1, place] = bad
    with pytest.raises(RuntimeError, match=f"at category {place} of row 1"):
        taeda.multinomial(weights, 2, replacement)


@pytest.mark.parametrize("shape", [0.05, 0.5, 1.0, 2.5, 1e4])
def test_standard_gamma(shape):
    x = taeda._standard_gamma(taeda.full((4000,), shape, dtype=taeda.float64)).numpy()
    assert stats.kstest(x, stats.gamma(shape).cdf).pvalue > 1e-3


@pytest.mark.parametrize(("n", "p"), [(5, 0.3), (200, 0.02), (200, 0.5), (1000, 0.9)])
def test_binomial(n, p):
    x = taeda.binomial(taeda.full((N,), float(n)), taeda.tensor(p))
    assert same_counts(x, stats.binom(n, p).pmf)


def test_binomial_at_its_edges():
    x = taeda.binomial(taeda.tensor([0.0, 2.0**52, 7.0]), taeda.tensor([0.5, 0.25, NAN])).tolist()
    assert x[0] == 0
    assert x[1] == pytest.approx(2.0**50, rel=1e-5)
    assert math.isnan(x[2])
    sure = taeda.binomial(taeda.full((3, 1), 3.0), taeda.tensor([0.0, 1.0]))
    assert sure.tolist() == [[0, 3]] * 3
    assert taeda._standard_gamma(taeda.tensor([0.0, math.inf, -1.0])).tolist()[:2] == [0, math.inf]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: taeda.binomial(taeda.tensor([-1.0]), taeda.tensor([0.5])),
            RuntimeError,
            "counts >= 0, but got -1",
        ),
        (lambda: taeda.binomial(taeda.tensor([1.0]), taeda.tensor([1.5])), RuntimeError, "1.5"),
        (
            lambda: taeda.binomial(taeda.tensor([1]), taeda.tensor([1])),
            NotImplementedError,
            "int64",
        ),
        (lambda: taeda.binomial(taeda.ones(2), taeda.ones(3)), RuntimeError, "3"),
        (lambda: taeda._standard_gamma(taeda.tensor([1])), NotImplementedError, "int64"),
    ],
)
def test_refusals_of_counts_and_gamma(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("samples", [1, 2, 3, 4])
@pytest.mark.parametrize("weighted", [1, 2, 3, 4])
def test_categories_without_weight_are_never_drawn(weighted, samples, rows):
    weights = taeda.zeros(rows, 4)
    weights[:, 4 - weighted :] = 1
    again = taeda.multinomial(weights, samples, replacement=True)
    assert bool((again >= 4 - weighted).all())
    if samples <= weighted:
        once = taeda.multinomial(weights, samples)
        assert bool((once >= 4 - weighted).all())
        return
    with pytest.raises(RuntimeError, match=f"{samples} samples.*row 0 has {weighted}"):
        taeda.multinomial(weights, samples)
