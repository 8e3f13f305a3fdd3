"""Convolutions against sums of shifted products in numpy: geometry, dtypes, layouts, threads, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from arrays import normal, values

import taeda

TOLERANCE = {
    "float16": 1e-2,
    "bfloat16": 6e-2,
    "float32": 5e-5,
    "float64": 1e-11,
    "complex64": 5e-5,
}
CONV = {1: taeda.conv1d, 2: taeda.conv2d, 3: taeda.conv3d}
TRANSPOSED = {1: taeda.conv_transpose1d, 2: taeda.conv_transpose2d, 3: taeda.conv_transpose3d}


def close(got, want, dtype="float64"):
    assert tuple(got.shape) == want.shape
    np.testing.assert_allclose(values(got), want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def each(value, n):
    return (value,) * n if isinstance(value, int) else tuple(value)


def convolve(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """One product of matrices for every place in the kernel."""
    n = x.ndim - 2
    stride, padding, dilation = (each(v, n) for v in (stride, padding, dilation))
    x = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in padding)])
    size = [
        (x.shape[2 + i] - dilation[i] * (w.shape[2 + i] - 1) - 1) // stride[i] + 1 for i in range(n)
    ]
    out = np.zeros((x.shape[0], w.shape[0], *size), dtype=np.result_type(x, w))
    into, from_ = w.shape[0] // groups, w.shape[1]
    for place in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(
            slice(p * d, p * d + s * (o - 1) + 1, s)
            for p, d, s, o in zip(place, dilation, stride, size, strict=True)
        )
        for g in range(groups):
            part = x[:, g * from_ : (g + 1) * from_][(slice(None), slice(None), *cut)]
            rows = w[g * into : (g + 1) * into][(slice(None), slice(None), *place)]
            out[:, g * into : (g + 1) * into] += np.einsum("oi,bi...->bo...", rows, part)
    return out if bias is None else out + bias.reshape(-1, *[1] * n)


def transpose(x, w, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
    """Every input spreads its kernel over the output."""
    n = x.ndim - 2
    stride, padding, extra, dilation = (
        each(v, n) for v in (stride, padding, output_padding, dilation)
    )
    size = [
        (x.shape[2 + i] - 1) * stride[i] + dilation[i] * (w.shape[2 + i] - 1) + 1 for i in range(n)
    ]
    room = [s + e for s, e in zip(size, extra, strict=True)]
    into, from_ = w.shape[1], w.shape[0] // groups
    out = np.zeros((x.shape[0], into * groups, *room), dtype=np.result_type(x, w))
    for place in itertools.product(*map(range, w.shape[2:])):
        cut = tuple(
            slice(p * d, p * d + s * (o - 1) + 1, s)
            for p, d, s, o in zip(place, dilation, stride, x.shape[2:], strict=True)
        )
        for g in range(groups):
            rows = w[g * from_ : (g + 1) * from_][(slice(None), slice(None), *place)]
            part = np.einsum("io,bi...->bo...", rows, x[:, g * from_ : (g + 1) * from_])
            out[:, g * into : (g + 1) * into][(slice(None), slice(None), *cut)] += part
    inner = tuple(slice(p, s - p) for p, s in zip(padding, room, strict=True))
    return out[(slice(None), slice(None), *inner)]


# (input, weight, options)
GEOMETRY = [
    ((2, 3, 9), (4, 3, 3), {}), ((2, 3, 9), (4, 3, 3), {"stride": 2, "padding": 1}),
    ((1, 4, 12), (6, 2, 3), {"groups": 2, "dilation": 2}),
    ((1, 1, 5), (1, 1, 5), {}), ((2, 3, 7), (5, 3, 1), {"stride": 3}),
    ((2, 3, 8, 9), (4, 3, 3, 3), {"padding": 1}),
    ((2, 3, 8, 9), (4, 3, 3, 2), {"stride": (2, 1), "padding": (0, 2)}),
    ((2, 16, 14, 14), (16, 16, 3, 3), {"padding": 1}),
    ((1, 3, 20, 21), (8, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((2, 6, 9, 9), (6, 1, 3, 3), {"groups": 6, "padding": 1}),
    ((2, 6, 9, 8), (12, 1, 3, 3), {"groups": 6, "stride": 2}),
    ((2, 4, 9, 9), (6, 2, 3, 3), {"groups": 2, "dilation": 2}), ((3, 8, 5, 5), (4, 8, 1, 1), {}),
    ((1, 2, 3, 3), (2, 2, 5, 5), {"padding": 2}),
    ((1, 2, 9, 4), (3, 2, 1, 3), {"padding": (0, 1), "dilation": (1, 2), "stride": (2, 1)}),
    ((1, 33, 6, 6), (35, 33, 3, 3), {}),
    ((2, 2, 4, 5, 6), (3, 2, 2, 3, 2), {}),
    ((1, 4, 5, 5, 5), (4, 2, 3, 3, 3), {"padding": 1, "stride": 2, "groups": 2}),
    ((1, 2, 4, 4, 4), (2, 2, 2, 2, 2), {"dilation": (1, 2, 3), "padding": (0, 1, 2)}),
]  # fmt: skip


def run(x, w, **options):
    return CONV[x.dim() - 2](x, w, **options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("x", "w", "options"), GEOMETRY, ids=str)
def test_geometry(x, w, options, dtype):
    x, w, bias = normal(x, dtype), normal(w, dtype, 1), normal(w[:1], dtype, 2)
    close(
        run(x, w, bias=bias, **options),
        convolve(values(x), values(w), values(bias), **options),
        dtype,
    )
    close(run(x, w, **options), convolve(values(x), values(w), **options), dtype)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_dtypes(dtype):
    x, w = normal((2, 4, 9, 10), dtype), normal((6, 2, 3, 3), dtype, 1)
    got = taeda.conv2d(x, w, padding=1, groups=2)
    assert got.dtype is x.dtype
    close(got, convolve(values(x), values(w), padding=1, groups=2), dtype)


def test_integers():
    x, w = taeda.arange(10).view(1, 1, 10), taeda.tensor([[[1, 2, 3]]])
    assert taeda.conv1d(x, w).tolist() == convolve(values(x), values(w)).astype(int).tolist()


LAYOUTS = {
    "channels last": lambda t: t.contiguous(memory_format=taeda.channels_last),
    "transposed": lambda t: t.transpose(2, 3).contiguous().transpose(2, 3),
    "strided": lambda t: t.repeat_interleave(2, -1)[..., ::2],
    "shifted": lambda t: taeda.cat([t[:1], t])[1:],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [{"padding": 1}, {"stride": 2}], ids=str)
def test_layouts(layout, options):
    x, w = normal((2, 8, 12, 12), "float32"), normal((8, 8, 3, 3), "float32", 1)
    want = convolve(values(x), values(w), **options)
    close(taeda.conv2d(LAYOUTS[layout](x), w, **options), want, "float32")
    close(taeda.conv2d(x, LAYOUTS[layout](w), **options), want, "float32")
    close(taeda.conv2d(LAYOUTS[layout](x), LAYOUTS[layout](w), **options), want, "float32")


# rows of 16 outputs and more, every number read often: these go over a copy with its padding
OFTEN_READ = [
    ((2, 3, 31, 37), (5, 3, 7, 7), {"stride": 2, "padding": 3}),
    ((2, 3, 30, 38), (5, 3, 7, 6), {"stride": 2, "padding": (2, 5)}),
    ((1, 2, 21, 50), (4, 2, 5, 5), {"stride": (1, 2), "padding": (0, 4), "dilation": (1, 2)}),
    ((3, 1, 20, 33), (6, 1, 3, 3), {"padding": 1}),
    ((2, 4, 20, 20), (6, 2, 5, 4), {"padding": (4, 1), "groups": 2}),
    ((2, 2, 70), (3, 2, 13), {"stride": 2, "padding": 6}),
    ((1, 2, 5, 6, 40), (3, 2, 3, 3, 5), {"stride": (1, 1, 2), "padding": (1, 0, 2)}),
    ((1, 1, 5, 40), (2, 1, 4, 9), {"stride": (1, 2), "padding": (9, 0)}),
]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("x", "w", "options"), OFTEN_READ, ids=range(len(OFTEN_READ)))
def test_convolutions_over_a_padded_copy(x, w, options, dtype):
    a, b, bias = normal(x, dtype), normal(w, dtype, 1), normal(w[:1], dtype, 2)
    got = CONV[len(x) - 2](a, b, bias, **options)
    close(got, convolve(values(a), values(b), values(bias), **options), dtype)


def test_padding_reads_zeros_not_products_with_infinity():
    x = taeda.full((1, 1, 20, 40), float("inf"))
    got = taeda.conv2d(x, taeda.ones(1, 1, 5, 5), stride=2, padding=2)
    assert bool((got == float("inf")).all())


def test_channels_last_stays_channels_last():
    x = normal((2, 3, 5, 5), "float32").contiguous(memory_format=taeda.channels_last)
    got = taeda.conv2d(x, normal((4, 3, 3, 3), "float32"))
    assert got.is_contiguous(memory_format=taeda.channels_last)


def test_an_expanded_input():
    x, w = normal((1, 1, 6, 6)).expand(2, 3, 6, 6), normal((2, 3, 3, 3), seed=1)
    close(taeda.conv2d(x, w), convolve(values(x), values(w)))


def test_without_a_batch():
    x, w = normal((3, 6, 7)), normal((2, 3, 2, 2), seed=1)
    close(taeda.conv2d(x, w), convolve(values(x)[None], values(w))[0])
    wt = normal((3, 2, 2, 2), seed=1)
    close(taeda.conv_transpose2d(x, wt), transpose(values(x)[None], values(wt))[0])


@pytest.mark.parametrize("kernel", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("dilation", [1, 2])
def test_padding_same_keeps_the_size(kernel, dilation):
    x, w = normal((1, 2, 11)), normal((3, 2, kernel), seed=1)
    got = taeda.conv1d(x, w, padding="same", dilation=dilation)
    total = dilation * (kernel - 1)
    wide = np.pad(values(x), [(0, 0), (0, 0), (total // 2, total - total // 2)])
    close(got, convolve(wide, values(w), dilation=dilation))
    close(taeda.conv1d(x, w, padding="valid"), convolve(values(x), values(w)))


SPREAD = [
    ((2, 3, 5), (3, 4, 3), {}), ((2, 3, 5), (3, 4, 3), {"stride": 2, "padding": 1, "output_padding": 1}),
    ((2, 4, 5, 6), (4, 3, 3, 2), {"stride": (2, 1), "padding": (1, 0)}),
    ((1, 4, 4, 4), (4, 3, 3, 3), {"groups": 2, "dilation": 2}),
    ((2, 16, 6, 6), (16, 8, 4, 4), {"stride": 2, "padding": 1}),
    ((1, 2, 3, 3, 2), (2, 3, 2, 2, 3), {"stride": 2, "output_padding": (1, 0, 1)}),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("x", "w", "options"), SPREAD, ids=str)
def test_transposed(x, w, options, dtype):
    x, w = normal(x, dtype), normal(w, dtype, 1)
    bias = normal((w.shape[1] * options.get("groups", 1),), dtype, 2)
    want = transpose(values(x), values(w), **options)
    call = TRANSPOSED[x.dim() - 2]
    close(call(x, w, **options), want, dtype)
    close(call(x, w, bias, **options), want + values(bias).reshape(-1, *[1] * (x.dim() - 2)), dtype)


@pytest.mark.parametrize("x", [(0, 3, 8, 8), (2, 0, 8, 8)], ids=str)
def test_empty_inputs(x):
    w = taeda.ones(4, x[1], 3, 3)
    got = taeda.conv2d(taeda.ones(x), w)
    assert got.shape == (x[0], 4, 6, 6)
    assert not got.any()


@pytest.mark.parametrize("channels", [2, 16])
def test_nan_and_infinity_stay_under_the_kernel(channels):
    x, w = taeda.ones(1, channels, 16, 16), taeda.ones(channels, channels, 3, 3)
    x[0, 0, 3, 3], x[0, 0, 12, 12] = float("nan"), float("inf")
    got = taeda.conv2d(x, w, padding=1)[0, 0]
    spoilt = got.isnan()
    assert spoilt[2:5, 2:5].all()
    assert got[11:14, 11:14].isinf().logical_or(got[11:14, 11:14].isnan()).all()
    assert got[6:10, :].isfinite().all()
    assert got[:, 6:10].isfinite().all()
    assert got[0, 0] == 4 * channels


def weight_gradient(x, g, kernel, stride, padding):
    """Every tap sees the output's gradient against the inputs it met (numpy, two spatial dimensions)."""
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    h, w = g.shape[2:]
    made = np.zeros((g.shape[1], x.shape[1], kernel, kernel))
    for i, j in itertools.product(range(kernel), repeat=2):
        met = x[:, :, i : i + stride * (h - 1) + 1 : stride, j : j + stride * (w - 1) + 1 : stride]
        made[:, :, i, j] = np.einsum("bohw,bchw->oc", g, met)
    return made


# (images, channels, outputs, height, width, kernel, stride, padding)
WEIGHTS = [
    (2, 16, 16, 16, 16, 3, 1, 1), (2, 17, 33, 13, 18, 3, 1, 0), (1, 40, 20, 33, 31, 3, 1, 2),
    (17, 70, 24, 4, 4, 3, 1, 1),
    (3, 16, 130, 5, 41, 3, 1, 1), (1, 16, 16, 6, 6, 3, 1, 1), (2, 8, 16, 40, 9, 3, 1, 1),
    (2, 16, 16, 17, 19, 3, 2, 1),
    (3, 5, 7, 24, 30, 5, 2, 2), (2, 3, 8, 30, 33, 7, 3, 3), (2, 20, 24, 24, 24, 1, 1, 0),
    (3, 20, 24, 9, 9, 1, 2, 0),
]  # fmt: skip


@pytest.mark.parametrize("case", WEIGHTS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_gradient_of_weights(case, dtype):
    images, channels, outputs, height, width, kernel, stride, padding = case
    x = normal((images, channels, height, width), dtype)
    w = normal((outputs, channels, kernel, kernel), dtype, 1).requires_grad_()
    y = taeda.conv2d(x, w, stride=stride, padding=padding)
    g = normal(tuple(y.shape), dtype, 2)
    y.backward(g)
    expected = weight_gradient(values(x), values(g), kernel, stride, padding)
    error = np.abs(values(w.grad) - expected).max() / expected.std()
    assert error < (2e-5 if dtype == "float32" else 1e-12)


def test_gradient_of_depthwise_weights_of_stride_2():
    x, w = normal((2, 3, 41, 70), "float32"), normal((3, 1, 3, 3), "float32", 1).requires_grad_()
    y = taeda.conv2d(x, w, stride=2, padding=1, groups=3)
    g = normal(tuple(y.shape), "float32", 2)
    y.backward(g)
    for c in range(3):
        part = slice(c, c + 1)
        expected = weight_gradient(values(x)[:, part], values(g)[:, part], 3, 2, 1)
        np.testing.assert_allclose(values(w.grad)[part], expected, rtol=1e-4, atol=1e-3)


# images, channels and outputs of a group, groups, size, then the options: odd and even numbers of
# images and channels, small and large maps, rows shorter and longer than vectors
BFLOAT16 = [
    (n, c, o, groups, size, {"kernel": k, "stride": s, "padding": p})
    for i, ((c, o, groups), (k, s, p)) in enumerate(
        itertools.product(
            [(2, 8, 1), (3, 9, 1), (17, 33, 1), (16, 16, 1), (6, 8, 2), (1, 8, 8)],
            [(1, 1, 0), (3, 1, 1), (3, 2, 1), (1, 2, 0), (5, 3, 2), (7, 2, 3)],
        )
    )
    for n, size in [((1, (33, 34)), (2, (7, 5)), (3, (14, 18)), (4, (17, 30)))[i % 4]]
] + [(2, 300, 160, 1, (17, 16), {"kernel": 3, "stride": 1, "padding": 1})]


def results_in(dtype, transposed, x, w, bias, gradient, options):
    leaves = [t.detach().to(dtype).requires_grad_() for t in (x, w, bias)]
    y = (taeda.conv_transpose2d if transposed else taeda.conv2d)(*leaves, **options)
    y.backward(gradient(y).to(dtype))
    return [t.detach().to(taeda.float64) for t in (y, *(leaf.grad for leaf in leaves))]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("case", BFLOAT16, ids=str)
def test_bfloat16_is_rounded_once(case, transposed):
    """Products of bfloat16 numbers are exact in float32, so what is left are float32 sums (bounded
    by the sums of magnitudes) and half a unit of the result."""
    n, c, o, groups, size, options = case
    options = dict(options)
    k = options.pop("kernel")
    half = [
        normal(shape, "float32", seed).to(taeda.bfloat16)
        for seed, shape in enumerate([(n, c * groups, *size), (o * groups, c, k, k), (o * groups,)])
    ]
    if transposed:
        half[0] = normal((n, o * groups, *size), "float32").to(taeda.bfloat16)
        half[2] = half[2].new_ones(c * groups)

    def gradient(y):
        return normal(tuple(y.shape), "float32", 5).to(taeda.bfloat16)

    def magnitude(y):
        return gradient(y).abs()

    options["groups"] = groups
    got = results_in(taeda.bfloat16, transposed, *half, gradient, options)
    want = results_in(taeda.float64, transposed, *half, gradient, options)
    sums = results_in(taeda.float64, transposed, *(t.abs() for t in half), magnitude, options)
    for a, b, most in zip(got, want, sums, strict=True):
        assert a.shape == b.shape
        assert bool(((a - b).abs() <= 2.0**-8 * 1.01 * b.abs() + 1e-5 * most).all())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_threads_do_not_change_a_bit(dtype):
    x, w = (
        normal(shape, "float32", i).to(getattr(taeda, dtype))
        for i, shape in enumerate([(3, 16, 24, 24), (24, 16, 3, 3)])
    )
    before, made = taeda.get_num_threads(), []
    for threads in (1, 2, 3):
        taeda.set_num_threads(threads)
        leaf = [x.clone().requires_grad_(), w.clone().requires_grad_()]
        y = taeda.conv2d(*leaf, padding=1)
        y.backward(y.detach().cos())
        made.append(
            [
                y,
                leaf[0].grad,
                leaf[1].grad,
                taeda.conv2d(x, w, stride=2),
                taeda.conv_transpose2d(x, w.transpose(0, 1)),
            ]
        )
    taeda.set_num_threads(before)
    for other in made[1:]:
        assert all(taeda.equal(a, b) for a, b in zip(made[0], other, strict=True))


def ones(*shape):
    return taeda.ones(shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 2, 3, 3)), "3 channels|channels"),
        (lambda: taeda.conv2d(ones(1, 3, 2, 2), ones(4, 3, 3, 3)), "[Kk]ernel size"),
        (lambda: taeda.conv2d(ones(3, 8), ones(4, 3, 3, 3)), r"3D .* or 4D .*\[3, 8\]"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3)), r"4 dimensions.*\[4, 3, 3\]"),
        (lambda: taeda.conv2d(ones(1, 4, 8, 8), ones(3, 2, 3, 3), groups=2), "divisible|groups"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), ones(5)), "bias"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), stride=0), "stride"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), padding=-1), "padding"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), dilation=0), "dilation"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), groups=0), "groups"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), padding="best"), "'valid' or 'same'"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3), padding="same", stride=2), "strided"),
        (lambda: taeda.conv2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3).double()), "dtype|type"),
        (lambda: taeda.conv_transpose2d(ones(1, 3, 8, 8), ones(4, 3, 3, 3)), "channels|weight"),
        (lambda: taeda.conv_transpose2d(ones(1, 3, 8, 8), ones(3, 4, 3, 3), output_padding=1),
            "output.padding"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_meta_tensors_have_a_shape_only():
    x = taeda.empty(2, 3, 9, 9, device="meta")
    got = taeda.conv2d(x, taeda.empty(4, 3, 3, 3, device="meta"), stride=2)
    assert got.shape == (2, 4, 4, 4)
    assert got.is_meta


@pytest.mark.parametrize("step", [2**31, 2**32 + 1, 2**61, 2**62, 2**63 - 1])
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_stride_beyond_the_input_is_any_other(count, groups, step):
    convolve = getattr(taeda, f"conv{count}d")
    x, weight = normal((2, 4, *(6, 5, 4)[:count])), normal((8, 4 // groups, *(3,) * count))
    for dtype in (taeda.float32, taeda.float64):
        a, w = x.to(dtype), weight.to(dtype)
        wanted = convolve(a, w, stride=100, groups=groups)
        assert convolve(a, w, stride=step, groups=groups).equal(wanted)
        one = w[(..., *(slice(1),) * count)]  # of one tap, which a dilation does not spread
        wanted = convolve(a, one, stride=100, groups=groups)
        assert convolve(a, one, stride=step, dilation=step, groups=groups).equal(wanted)


def test_paddings_that_no_memory_holds_are_refused():
    with pytest.raises(RuntimeError, match="must fit 31 bits"):
        taeda.conv1d(taeda.ones(1, 1, 4), taeda.ones(1, 1, 3), stride=2**60, padding=2**60)
