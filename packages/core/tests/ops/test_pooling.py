"""Pooling, padding, resampling and columns, against plain loops and numpy; refusals."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import taeda
from taeda._composite import pooling

nn = taeda._C._nn


def image(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def call(name, n, *arguments):
    owner = taeda if hasattr(taeda, f"{name}{n}d") and (n == 1 or name == "max_pool") else nn
    return getattr(owner, f"{name}{n}d")(*arguments)


# ---- windows ----


def windows(shape, kernel, stride, pad, dilation, ceil):
    """Output place -> the input places its window covers, padding left out; and the window's size
    with padding.
    """
    counts = []
    for n, k, s, p, d in zip(shape, kernel, stride, pad, dilation, strict=True):
        room = n + 2 * p - d * (k - 1) - 1
        count = (math.ceil if ceil else math.floor)(room / s) + 1
        counts.append(count - 1 if ceil and (count - 1) * s >= n + p else count)
    for out in itertools.product(*map(range, counts)):
        axes, padded = [], 1
        for o, n, k, s, p, d in zip(out, shape, kernel, stride, pad, dilation, strict=True):
            start = o * s - p
            inside = range(max(0, -(start // d)), min(k, (n - 1 - start) // d + 1))
            axes.append([start + j * d for j in inside])
            padded *= min(start + k, n + p) - start
        yield out, list(itertools.product(*axes)), padded, counts


SHAPES = [
    ((9,), (3,), (2,), (1,), (1,), False),
    ((10,), (3,), (2,), (1,), (1,), True),
    ((6, 7), (2, 2), (2, 2), (0, 0), (1, 1), False),
    ((5, 7), (2, 3), (1, 2), (1, 0), (1, 1), True),
    ((7, 8), (3, 2), (2, 1), (0, 0), (2, 3), False),
    ((3, 300), (2, 3), (2, 2), (1, 1), (1, 1), False),
    ((3, 4, 5), (2, 2, 2), (1, 2, 2), (1, 0, 1), (1, 1, 1), True),
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16"])
@pytest.mark.parametrize("case", SHAPES, ids=str)
def test_max_pool(case, dtype):
    shape, kernel, stride, pad, dilation, ceil = case
    a = (image(2, *shape) * 4).round().astype(dtype)
    x = taeda.from_numpy(a)
    values, places = call("max_pool", len(shape), x, kernel, stride, pad, dilation, ceil), None
    suffix = "max_pool1d_with_indices" if len(shape) == 1 else f"max_pool{len(shape)}d_with_indices"
    both = getattr(taeda if len(shape) == 1 else nn, suffix)(x, kernel, stride, pad, dilation, ceil)
    places = both[1]
    assert both[0].tolist() == values.tolist()
    for out, covered, _, counts in windows(*case):
        assert values.shape == (2, *counts)
        for c in range(2):
            numbers = [a[(c, *at)] for at in covered]
            assert values[(c, *out)].item() == max(numbers)
            first = covered[int(np.argmax(numbers))]
            assert places[(c, *out)].item() == np.ravel_multi_index(first, shape)


WIDE = [  # windows that are mostly padding: shape, kernel, stride, padding
    ((8,), 2**28, 2**28, 2**27),
    ((8,), 2**31 - 1, 1, 2**30 - 1),
    ((300,), 2**27 + 1, 2, 2**26),
    ((4, 5), 2**15, 1, 2**14),
    ((4, 5), (2**30, 1), (1, 2), (2**29, 0)),
    ((4, 5), (1, 2**30), (2, 1), (0, 2**29)),
    ((2, 3, 4), (2**10, 2**9, 2**11), (1, 2, 3), (2**9, 2**8, 2**10)),
]


def tuples(case):
    shape, *rest = case
    return shape, *((v,) * len(shape) if isinstance(v, int) else v for v in rest)


@pytest.mark.parametrize("last", [False, True], ids=["planes", "channels last"])
@pytest.mark.parametrize("case", WIDE, ids=str)
def test_windows_that_are_mostly_padding(case, last):
    shape, kernel, stride, pad = tuples(case)
    n, a = len(shape), image(2, 3, *shape)
    x = taeda.from_numpy(a)
    if last and n > 1:
        x = x.to(memory_format=taeda.channels_last if n == 2 else taeda.channels_last_3d)
    x = x.clone().requires_grad_()
    suffix = "max_pool1d_with_indices" if n == 1 else f"max_pool{n}d_with_indices"
    tops, places = getattr(taeda if n == 1 else nn, suffix)(x, kernel, stride, pad)
    means = call("avg_pool", n, x, kernel, stride, pad)
    wanted = np.zeros((2, *a.shape))  # gradients of the sums of tops and of means
    for out, covered, padded, counts in windows(shape, kernel, stride, pad, (1,) * n, ceil=False):
        assert tops.shape == means.shape == (2, 3, *counts)
        index = (..., *map(np.array, zip(*covered, strict=True)))
        numbers = a[index]
        np.testing.assert_array_equal(tops[(..., *out)].detach().numpy(), numbers.max(-1))
        at = places[(..., *out)].numpy()
        first = np.array([np.ravel_multi_index(place, shape) for place in covered])
        np.testing.assert_array_equal(at, first[numbers.argmax(-1)])
        mean = numbers.sum(-1, dtype="float64") / padded
        np.testing.assert_allclose(means[(..., *out)].detach().numpy(), mean, rtol=1e-4, atol=1e-30)
        flat = wanted[0].reshape(6, -1)
        flat[np.arange(6), at.reshape(6)] += 1
        wanted[1][index] += 1 / padded
    for made, want in zip((tops, means), wanted, strict=True):
        (got,) = taeda.autograd.grad(made.sum(), x)
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-30)


def test_windows_that_nobody_counts_are_refused():
    x = taeda.ones(1, 1, 2, 2)
    with pytest.raises(RuntimeError, match="65536 x 65536 is too large"):
        taeda.max_pool2d(x, 2**16, 1, 2**15)
    for device in ("cpu", "meta"):
        deep = taeda.ones(1, 1, 2, 2, 2, device=device)
        with pytest.raises(RuntimeError, match="is too large"):
            nn.avg_pool3d(deep, 2**31 - 1, 1, 2**30 - 1)


@pytest.mark.parametrize("device", ["cpu", "meta"])
@pytest.mark.parametrize("padding", [2**31 - 1, (2**31 - 1, 2**31 - 2)])
def test_more_blocks_than_64_bits_count_are_refused(padding, device):
    with pytest.raises(RuntimeError, match="64 bits count"):
        nn.im2col(taeda.ones(1, 1, 2, 2, device=device), (1, 1), (1, 1), padding, (1, 1))
    with pytest.raises(RuntimeError, match="64 bits count"):
        nn.col2im(taeda.ones(1, 1, 0, device=device), (2, 2), (1, 1), (1, 1), padding, (1, 1))


def test_max_pool_keeps_nan_and_minus_infinity():
    x = taeda.tensor([[[1.0, math.nan, 2.0, -math.inf, -math.inf, -math.inf]]])
    made = taeda.max_pool1d(x, 2)
    assert math.isnan(made[0, 0, 0].item())
    assert made[0, 0, 1:].tolist() == [2.0, -math.inf]
    assert taeda.max_pool1d_with_indices(x, 2)[1].tolist() == [[[1, 2, 4]]]


def test_a_window_that_dilation_lifts_over_the_input_stays_inside():
    values, places = nn.max_pool2d_with_indices(taeda.ones(1, 1, 1), (2, 2), (1, 1), (2, 2), (3, 3))
    assert places.min().item() >= 0
    assert places.max().item() == 0
    assert values.shape == (1, 2, 2)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_a_window_in_the_padding_gives_the_least_integer(dtype):
    x = taeda.ones(1, 1, 1, dtype=getattr(taeda, dtype))
    values, _ = nn.max_pool2d_with_indices(x, (2, 2), (1, 1), (2, 2), (3, 3))
    assert values.dtype == x.dtype
    assert values.flatten().tolist() == [taeda.iinfo(x.dtype).min] * 4


@pytest.mark.parametrize("width", [1, 2, 7, 15, 16, 17, 33, 70, 127, 130, 300])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_vectors_of_windows_give_what_single_windows_give(width, dtype, stride):
    """Integers have no vectors of windows: numbers without a fraction have one result in both."""
    x = np.random.default_rng(width).integers(-9, 10, (2, 6, width))
    whole = taeda.from_numpy(x)
    for kernel, dilation in itertools.product([1, 2, 3, (2, 5), (6, 5)], [1, 2, 4]):
        for padding in (0, 1, (0, 2)):
            given = (kernel, stride, padding, dilation)
            try:
                wanted = nn.max_pool2d_with_indices(whole, *given)
            except RuntimeError:  # too large a window, or too much padding
                continue
            found = nn.max_pool2d_with_indices(whole.to(getattr(taeda, dtype)), *given)
            assert found[0].to(taeda.int64).equal(wanted[0]), given
            assert found[1].equal(wanted[1]), given
            values = taeda.max_pool2d(whole.to(getattr(taeda, dtype)), *given)
            assert values.equal(found[0]), given


@pytest.mark.parametrize("kernel", [2, 3])
def test_vectors_of_windows_keep_nan_infinity_and_order(kernel):
    x = np.random.default_rng(0).integers(-2, 3, (3, 9, 37)).astype("float32")
    x.flat[::7], x.flat[1::11] = -np.inf, np.nan
    values, places = nn.max_pool2d_with_indices(taeda.from_numpy(x), kernel, 1, 1)
    for plane, found, where in zip(x, values.numpy(), places.numpy(), strict=True):
        padded = np.pad(plane, 1, constant_values=-np.inf)
        seen = np.lib.stride_tricks.sliding_window_view(padded, (kernel, kernel))
        np.testing.assert_array_equal(found, seen.max((-1, -2)))  # numpy's max keeps NaN, too
        np.testing.assert_array_equal(plane.reshape(-1)[where], found)


@pytest.mark.parametrize(("include", "divisor"), [(True, None), (False, None), (True, 3)])
@pytest.mark.parametrize("case", [c for c in SHAPES if max(c[4]) == 1], ids=str)
def test_avg_pool(case, include, divisor):
    shape, kernel, stride, pad, _, ceil = case
    if divisor and len(shape) == 1:
        return
    a = image(2, *shape).astype("float64")
    extra = () if len(shape) == 1 else (divisor,)
    made = call(
        "avg_pool", len(shape), taeda.from_numpy(a), kernel, stride, pad, ceil, include, *extra
    )
    for out, covered, padded, _ in windows(*case):
        for c in range(2):
            total = sum(a[(c, *at)] for at in covered)
            assert made[(c, *out)].item() == pytest.approx(
                total / (divisor or (padded if include else len(covered))), abs=1e-12
            )


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((7,), (3,)),
        ((5, 7), (3, 4)),
        ((2, 3), (4, 5)),
        ((5, 600), (1, 1)),
        ((5, 600), (2, 7)),
        ((3, 4, 5), (2, 2, 2)),
    ],
)
def test_adaptive_pools(shape, wanted):
    a = image(2, *shape).astype("float64")
    average = call("adaptive_avg_pool", len(shape), taeda.from_numpy(a), wanted)
    largest, places = call("adaptive_max_pool", len(shape), taeda.from_numpy(a), wanted)
    for out in itertools.product(*map(range, wanted)):
        part = tuple(
            slice(o * n // w, -(-(o + 1) * n // w))
            for o, n, w in zip(out, shape, wanted, strict=True)
        )
        for c in range(2):
            assert average[(c, *out)].item() == pytest.approx(a[c][part].mean(), abs=1e-12)
            assert largest[(c, *out)].item() == a[c][part].max()
            assert a[c].ravel()[places[(c, *out)].item()] == a[c][part].max()


def test_layouts_and_batches():
    x = taeda.from_numpy(image(2, 3, 6, 8))
    last = x.contiguous(memory_format=taeda.channels_last)
    for pool in (
        lambda t: taeda.max_pool2d(t, 2),
        lambda t: nn.avg_pool2d(t, 3, 1),
        lambda t: nn.adaptive_avg_pool2d(t, (2, 3)),
    ):
        assert pool(last).is_contiguous(memory_format=taeda.channels_last)
        assert pool(last).tolist() == pool(x).tolist()
        assert pool(x[0]).tolist() == pool(x)[0].tolist()
        assert pool(x.transpose(2, 3)).shape[2:] == pool(x.transpose(2, 3).contiguous()).shape[2:]
        assert pool(x[:0]).shape[0] == 0
        assert pool(x.to("meta")).shape == pool(x).shape


# ---- padding ----


@pytest.mark.parametrize(
    "pad", [(1, 2), (0, 0, 2, 1), (-1, 2, 1, -1), (-1, -1), (1, 1, 1, 1, 1, 1)]
)
def test_constant_pad(pad):
    a = image(3, 4, 5)
    pairs = [(0, 0)] * (3 - len(pad) // 2) + [
        (pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)
    ]
    cut = a[
        tuple(slice(max(-b, 0), n - max(-e, 0)) for (b, e), n in zip(pairs, a.shape, strict=True))
    ]
    expected = np.pad(cut, [(max(b, 0), max(e, 0)) for b, e in pairs], constant_values=7)
    assert taeda.constant_pad_nd(taeda.from_numpy(a), pad, 7).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("mode", "numpys"), [("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")]
)
@pytest.mark.parametrize("pad", [(1, 2), (2, 1, 0, 3)])
def test_pads_with_what_is_inside(pad, mode, numpys):
    a = image(1, *(4, 5, 6)[: len(pad) // 2 + 1])
    pairs = [(0, 0)] * (a.ndim - len(pad) // 2) + [
        (pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)
    ]
    assert nn.pad(taeda.from_numpy(a), pad, mode).tolist() == np.pad(a, pairs, mode=numpys).tolist()


# ---- resampling ----


def linear_table(n, wanted, align):
    """(wanted, n) matrix of weights."""
    table = np.zeros((wanted, n))
    for i in range(wanted):
        at = i * (n - 1) / max(wanted - 1, 1) if align else max((i + 0.5) * n / wanted - 0.5, 0)
        low = min(int(at), n - 1)
        table[i, low] += 1 - (at - low)
        table[i, min(low + 1, n - 1)] += at - low
    return table


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize(
    ("name", "shape", "wanted"),
    [
        ("upsample_linear1d", (5,), (8,)),
        ("upsample_linear1d", (8,), (3,)),
        ("upsample_bilinear2d", (4, 5), (8, 10)),
        ("upsample_bilinear2d", (4, 5), (3, 1)),
        ("upsample_trilinear3d", (2, 3, 4), (4, 5, 3)),
    ],
)
def test_linear_resampling_is_a_product_with_tables(name, shape, wanted, align):
    a = image(2, 3, *shape).astype("float64")
    expected = a
    for d, (n, w) in enumerate(zip(shape, wanted, strict=True), 2):
        expected = np.moveaxis(np.tensordot(expected, linear_table(n, w, align), (d, 1)), -1, d)
    made = getattr(nn, name)(taeda.from_numpy(a), wanted, align)
    assert np.allclose(made.tolist(), expected, atol=1e-12)
    grad = image(*made.shape, seed=1).astype("float64")
    back = getattr(nn, f"{name}_backward")(taeda.from_numpy(grad), wanted, a.shape, align)
    assert (taeda.from_numpy(a) * back).sum().item() == pytest.approx(
        float((expected * grad).sum()), rel=1e-9
    )


@pytest.mark.parametrize(
    "name",
    [
        "upsample_bicubic2d",
        "_upsample_bilinear2d_aa",
        "_upsample_bicubic2d_aa",
        "_upsample_lanczos2d_aa",
    ],
)
@pytest.mark.parametrize("wanted", [(3, 4), (9, 13), (6, 7)])
def test_filters_keep_constants_and_have_an_adjoint(name, wanted):
    run, back = getattr(nn, name), getattr(nn, f"{name}_backward")
    flat = run(taeda.full((1, 1, 6, 7), 3.0, dtype=taeda.float64), wanted, False)
    assert np.allclose(flat.tolist(), 3.0)
    a, g = (taeda.from_numpy(image(2, 2, *s, seed=2).astype("float64")) for s in ((6, 7), wanted))
    there, here = (
        (run(a, wanted, False) * g).sum().item(),
        (a * back(g, wanted, (2, 2, 6, 7), False)).sum().item(),
    )
    assert there == pytest.approx(here, rel=1e-9)


@pytest.mark.parametrize(("n", "wanted"), [(4, 8), (4, 3), (5, 12), (3, 3)])
def test_nearest(n, wanted):
    x = taeda.arange(float(n)).reshape(1, 1, n)
    assert nn.upsample_nearest1d(x, (wanted,)).flatten().tolist() == [
        i * n // wanted for i in range(wanted)
    ]
    exact = [min(int((i + 0.5) * n / wanted), n - 1) for i in range(wanted)]
    assert nn._upsample_nearest_exact1d(x, (wanted,)).flatten().tolist() == exact
    square = nn.upsample_nearest2d(x.unsqueeze(2).to(taeda.uint8), (2, wanted))
    assert square[0, 0].tolist() == [[i * n // wanted for i in range(wanted)]] * 2
    grad = nn.upsample_nearest1d_backward(taeda.ones(1, 1, wanted), (wanted,), (1, 1, n))
    assert grad.sum().item() == wanted


# ---- columns and pixels ----


@pytest.mark.parametrize(
    ("kernel", "dilation", "pad", "stride"),
    [
        ((2, 3), (1, 1), (0, 0), (1, 1)),
        ((2, 2), (2, 1), (1, 2), (2, 3)),
        ((1, 1), (1, 1), (0, 0), (1, 1)),
    ],
)
def test_columns_and_their_adjoint(kernel, dilation, pad, stride):
    a = image(2, 3, 5, 6).astype("float64")
    columns = nn.im2col(taeda.from_numpy(a), kernel, dilation, pad, stride)
    padded = np.pad(a, ((0, 0), (0, 0), (pad[0],) * 2, (pad[1],) * 2))
    rows = [
        padded[:, c, i * dilation[0] :, j * dilation[1] :][
            :,
            : padded.shape[2] - dilation[0] * (kernel[0] - 1) : stride[0],
            : padded.shape[3] - dilation[1] * (kernel[1] - 1) : stride[1],
        ].reshape(2, -1)
        for c, i, j in itertools.product(range(3), range(kernel[0]), range(kernel[1]))
    ]
    assert columns.tolist() == np.stack(rows, 1).tolist()
    g = taeda.from_numpy(image(*columns.shape, seed=1).astype("float64"))
    folded = nn.col2im(g, (5, 6), kernel, dilation, pad, stride)
    assert (columns * g).sum().item() == pytest.approx(
        (taeda.from_numpy(a) * folded).sum().item(), rel=1e-9
    )


def test_pixels_and_channels_change_places():
    x = taeda.arange(16.0).reshape(1, 4, 2, 2)
    assert taeda.pixel_shuffle(x, 2).tolist() == [
        [[[0, 4, 1, 5], [8, 12, 9, 13], [2, 6, 3, 7], [10, 14, 11, 15]]]
    ]
    assert taeda.pixel_unshuffle(taeda.pixel_shuffle(x, 2), 2).tolist() == x.tolist()
    assert taeda.channel_shuffle(x, 2)[0, :, 0, 0].tolist() == [0, 8, 4, 12]


@pytest.mark.parametrize("lead", [(), (2,), (2, 3, 1)])
@pytest.mark.parametrize("r", [1, 2, 3])
def test_pixels_of_any_layout(lead, r):
    a = np.random.default_rng(0).normal(size=(2, 3, *lead[::-1], 2 * r * r)).astype(np.float32)
    x = taeda.from_numpy(a).permute(*range(a.ndim - 2, 1, -1), a.ndim - 1, 0, 1)  # no dense order
    n = len(lead)
    split = x.numpy().reshape(*lead, 2, r, r, 2, 3)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    wanted = split.transpose(order).reshape(*lead, 2, 2 * r, 3 * r)
    made = taeda.pixel_shuffle(x, r)
    assert made.is_contiguous() and np.array_equal(made.numpy(), wanted)
    assert taeda.pixel_unshuffle(made, r).equal(x)
    assert taeda.pixel_unshuffle(made.mT.contiguous().mT, r).equal(x)


def test_pixels_of_nothing_and_of_conjugates():
    assert taeda.pixel_shuffle(taeda.ones(2, 0, 3, 3), 5).shape == (2, 0, 15, 15)
    assert taeda.pixel_unshuffle(taeda.ones(0, 1, 4, 4), 2).shape == (0, 4, 2, 2)
    z = taeda.randn(1, 4, 1, 1, dtype=taeda.complex64)
    assert taeda.pixel_shuffle(z.conj(), 2).equal(taeda.pixel_shuffle(z, 2).conj())


# ---- refusals ----

X = taeda.ones(1, 2, 4, 4)
REFUSALS = [
    (lambda: taeda.max_pool2d(X, 5), RuntimeError, "size 5.*size 4"),
    (lambda: taeda.max_pool2d(X, 2, padding=2), RuntimeError, "pad=2, kernel_size=2"),
    (lambda: taeda.max_pool2d(X, 0), RuntimeError, "kernel_size.*0"),
    (lambda: taeda.max_pool2d(X, 2, 0), RuntimeError, "stride.*0"),
    (lambda: taeda.max_pool2d(X, 2, dilation=0), RuntimeError, "dilation.*0"),
    (lambda: taeda.max_pool2d(X, (1, 2, 3)), (RuntimeError, TypeError), "2|3"),
    (lambda: taeda.max_pool2d(X[0, 0], 2), RuntimeError, r"3D or 4D.*\[4, 4\]"),
    (lambda: taeda.max_pool2d(taeda.ones(1, 0, 4, 4), 2), RuntimeError, r"\[1, 0, 4, 4\]"),
    (lambda: taeda.max_pool2d(X.to(taeda.complex64), 2), NotImplementedError, "ComplexFloat"),
    (lambda: nn.avg_pool2d(X, 2, divisor_override=0), RuntimeError, "zero"),
    (lambda: nn.avg_pool2d(X.to(taeda.bool), 2), NotImplementedError, "Bool"),
    (lambda: nn.adaptive_avg_pool2d(X, (-1, 2)), RuntimeError, "-1"),
    (
        lambda: nn.max_pool2d_backward(taeda.ones(1, 2, 3, 3), X, 2),
        RuntimeError,
        r"\[1, 2, 2, 2\].*\[1, 2, 3, 3\]",
    ),
    (lambda: taeda.constant_pad_nd(X, (1,)), RuntimeError, "even"),
    (lambda: taeda.constant_pad_nd(X, (-3, -3)), RuntimeError, "-3"),
    (lambda: taeda.constant_pad_nd(X, (2**62, 2**62)), RuntimeError, "too large"),
    (lambda: nn.pad(X, (4, 0), "reflect"), NotImplementedError, "2"),
    (lambda: nn.pad(X[0], (4, 0), "reflect"), RuntimeError, r"\(4, 0\)"),
    (lambda: nn.pad(X, (1, 1), "mirror"), NotImplementedError, "mirror"),
    (lambda: nn.upsample_bilinear2d(X, (0, 2), False), RuntimeError, "greater than 0"),
    (lambda: nn.upsample_bilinear2d(X[0], (2, 2), False), RuntimeError, "4-dimensional"),
    (lambda: nn.upsample_bilinear2d(X.to(taeda.int32), (2, 2), False), NotImplementedError, "Int"),
    (lambda: nn.upsample_nearest2d(X, (0, 2)), RuntimeError, "greater than 0"),
    (lambda: nn.im2col(X, 5, 1, 0, 1), RuntimeError, r"\(4, 4\).*\(5, 5\)"),
    (lambda: nn.col2im(taeda.ones(1, 8, 3), (4, 4), 2, 1, 0, 2), RuntimeError, "4.*3"),
    (lambda: taeda.pixel_shuffle(X, 2), RuntimeError, "2 is not divisible by 4"),
    (lambda: taeda.pixel_shuffle(X[0, 0], 2), RuntimeError, "at least 3 dimensions.* 2 dimension"),
    (lambda: taeda.pixel_shuffle(X, 0), RuntimeError, "positive upscale_factor, but got 0"),
    (lambda: taeda.pixel_shuffle(X[:, :0], 2**40), RuntimeError, "too large"),
    (lambda: taeda.pixel_unshuffle(X, -1), RuntimeError, "positive downscale_factor, but got -1"),
    (lambda: taeda.pixel_unshuffle(X, 3), RuntimeError, "4 x 4 is not divisible by 3"),
    (lambda: taeda.pixel_unshuffle(X[:, :, :0, :0], 2**40), RuntimeError, "too large"),
    (lambda: taeda.channel_shuffle(X, 3), RuntimeError, "3 and 2"),
]


@pytest.mark.parametrize(("refused", "kind", "words"), REFUSALS)
def test_refuses(refused, kind, words):
    with pytest.raises(kind, match=words):
        refused()


# ---- windows of 2 x 2 side by side, which have code of their own ----


def quarters(x):
    """The four numbers of each window, in order, along a new last dimension."""
    h, w = x.shape[-2] // 2 * 2, x.shape[-1] // 2 * 2
    x = x[..., :h, :w]
    return np.stack(
        [x[..., ::2, ::2], x[..., ::2, 1::2], x[..., 1::2, ::2], x[..., 1::2, 1::2]], -1
    )


@pytest.mark.parametrize("width", [2, 3, 14, 16, 17, 31, 32, 46, 64, 67])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_two_by_two(width, dtype):
    x = np.random.default_rng(width).integers(-2, 3, (2, 3, 5, width)).astype(dtype)  # many ties
    x[0, 1, 0, 1] = np.nan
    windows = quarters(x)
    t = taeda.from_numpy(x)
    out = taeda.max_pool2d(t, 2).numpy()
    np.testing.assert_array_equal(out, windows.max(-1))
    grad = np.random.default_rng(1).standard_normal(out.shape).astype(dtype)
    back = nn.max_pool2d_backward(taeda.from_numpy(grad), t, [2], [2], [0], [1], False).numpy()
    parts = np.where(np.arange(4) == windows.argmax(-1)[..., None], grad[..., None], 0)
    np.testing.assert_array_equal(quarters(back), parts)
    assert np.count_nonzero(back) == np.count_nonzero(parts)  # and nothing elsewhere


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("dims", [6, 64])
@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_too_many_dimensions_are_refused(n, dims, device):
    x = taeda.ones((1,) * dims, device=device)
    for name in ("avg_pool", "max_pool"):
        with pytest.raises(RuntimeError, match=r"Expected|expected|dimension"):
            call(name, n, x, [1] * n)
    for name in ("adaptive_avg_pool", "adaptive_max_pool"):
        with pytest.raises(RuntimeError, match=r"Expected|expected|dimension"):
            call(name, n, x, [1] * n)


def test_averages_of_the_largest_integers_wrap_round():
    least = taeda.iinfo(taeda.int64).min
    x = taeda.full((1, 1, 4, 4), least, dtype=taeda.int64)
    assert nn.avg_pool2d(x, [2, 2], [2, 2], [0, 0], False, True, None).tolist() == [[[[0, 0]] * 2]]
    one = x[:, :, :1, :1]
    assert nn.avg_pool2d(one, [1, 1], [1, 1], [0, 0], False, True, -1).item() == least


@pytest.mark.parametrize("dtype", ["bool", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("mode", ["reflect", "replicate"])
@pytest.mark.parametrize(
    ("shape", "pad"),
    [
        ((2, 3, 5), (1, 2)),
        ((2, 3, 5), (4, -2)),
        ((3, 5, 6), (-1, 2, 3, -2)),
        ((2, 3, 5, 6), (3, 2, 1, 0)),
        ((2, 3, 4, 5, 6), (1, 2, 0, 3, 2, 1)),
    ],
)
def test_one_kernel_and_lists_of_places_agree(shape, pad, mode, dtype):
    x = taeda.arange(math.prod(shape)).reshape(shape).remainder(97).to(getattr(taeda, dtype))
    wanted = pooling.pad_by_places(x, pad, mode)
    for layout in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
        assert taeda.equal(nn.pad(layout, pad, mode), wanted)


def test_padding_that_no_number_holds_is_refused():
    for pad in ([2**63 - 1, 1], [-(2**63), 2**63 - 1], [-5, 0]):
        with pytest.raises(RuntimeError, match="too small for padding"):
            nn._pad_inside(taeda.ones(2, 4), pad, 1)
    with pytest.raises(RuntimeError, match="wanted 1 to 2 pairs and mode 0 or 1"):
        nn._pad_inside(taeda.ones(2, 4), [1, 1], 2)


POOLS = {
    "max": lambda x: taeda.max_pool2d(x, 3, 2, 1),
    "max side by side": lambda x: taeda.max_pool2d(x, 2),
    "average": lambda x: nn.avg_pool2d(x, [3, 3], [1, 1], [1, 1], False, True, None),
    "adaptive max": lambda x: nn.adaptive_max_pool2d(x, [3, 4])[0],
    "adaptive average": lambda x: nn.adaptive_avg_pool2d(x, [3, 4]),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("kind", POOLS)
def test_sixteen_bits_are_pooled_in_float32_and_rounded_once(kind, dtype):
    dtype = getattr(taeda, dtype)
    x = taeda.tensor(image(2, 3, 18, 20), dtype=taeda.float32).to(dtype)
    leaves = [x.clone().requires_grad_(), x.float().requires_grad_()]
    short, wide = (POOLS[kind](leaf) for leaf in leaves)
    grad = taeda.linspace(-3, 3, wide.numel()).reshape(wide.shape).to(dtype)
    short.backward(grad)
    wide.backward(grad.float())
    assert short.dtype == leaves[0].grad.dtype == dtype
    assert taeda.equal(short, wide.to(dtype))
    assert taeda.equal(leaves[0].grad, leaves[1].grad.to(dtype))


# ---- channels side by side ----
PIXELS = [
    ("max_pool2d", (3, 2, 1)), ("max_pool2d", (2, 2, 0)), ("max_pool2d", (3, 1, 0, 2)),
    ("avg_pool2d", (3, 1, 1)), ("avg_pool2d", (3, 2, 1)), ("avg_pool2d", (2, 2, 0, True, False)),
    ("adaptive_max_pool2d", ((3, 2),)), ("adaptive_avg_pool2d", ((3, 2),)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("channels", [1, 3, 130])
@pytest.mark.parametrize(("name", "arguments"), PIXELS)
def test_channels_last_gives_the_bits_of_planes(name, arguments, channels, dtype):
    values = image(2, channels, 7, 6)
    values[0, 0, 2:4, 1:3] = np.nan
    values[1, -1] = -np.inf
    planes = taeda.from_numpy(values).to(getattr(taeda, dtype))
    pixels = planes.contiguous(memory_format=taeda.channels_last)
    function = getattr(taeda.nn.functional, name)
    results = []
    for x in (planes, pixels):
        x = x.detach().requires_grad_()
        y = function(x, *arguments)
        weights = taeda.arange(y.numel(), dtype=taeda.float32).reshape(y.shape).to(y.dtype)
        (gradient,) = taeda.autograd.grad(y, x, weights)
        results.append((y.detach(), gradient))
    assert results[1][0].is_contiguous(memory_format=taeda.channels_last)
    for a, b in zip(*results, strict=True):
        assert np.array_equal(a.float().numpy(), b.float().numpy(), equal_nan=True)


def test_places_of_channels_last_are_those_of_planes():
    planes = taeda.from_numpy(image(2, 5, 9, 8))
    pixels = planes.contiguous(memory_format=taeda.channels_last)
    pool = taeda.nn.functional.max_pool2d
    a, b = (pool(x, 3, 2, 1, return_indices=True)[1] for x in (planes, pixels))
    assert taeda.equal(a, b)
    volume = taeda.from_numpy(image(2, 3, 4, 5, 6))
    pixels = volume.contiguous(memory_format=taeda.channels_last_3d)
    assert taeda.equal(
        taeda.nn.functional.avg_pool3d(volume, 2), taeda.nn.functional.avg_pool3d(pixels, 2)
    )


@pytest.mark.parametrize("name", ["upsample_nearest2d", "_upsample_nearest_exact2d"])
def test_nearest_neighbours_of_any_size_on_meta(name):
    made = getattr(nn, name)(taeda.empty(1, 2, 3, 4, device="meta"), (2**30, 2**29))
    assert made.shape == (1, 2, 2**30, 2**29)
    back = getattr(nn, f"{name}_backward")(made, (2**30, 2**29), (1, 2, 3, 4))
    assert back.is_meta
    assert back.shape == (1, 2, 3, 4)
    with pytest.raises(RuntimeError):  # found out before a table of 2**31 places is made
        getattr(nn, name)(taeda.ones(1, 1, 2, 2), (2**31 - 1, 2**62))
