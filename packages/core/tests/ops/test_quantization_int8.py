"""Layers on integers against sums in int64: packing, rounding, windows, threads, vectors, refusals."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taeda
from taeda._composite.fake_quantize import choose_parameters

F32 = np.float32
# rows of x, features, results: words and panels that are full and that are not
SIZES = [(1, 33, 7), (2, 64, 16), (5, 130, 40), (9, 1, 17), (40, 256, 100), (300, 20, 33)]


def bytes_of(rng, shape, dtype, most=255):
    q = rng.integers(0, most + 1, shape)
    return (q - (128 if dtype == np.int8 else 0)).astype(dtype)


def layer(m, k, n, *, dtype=np.uint8, most=255, zeros=False, one=False):
    """x, its zero point, the weight, and scales, zero points and bias of its rows."""
    rng = np.random.default_rng([m, k, n, most])
    x, w = bytes_of(rng, (m, k), dtype, most), bytes_of(rng, (n, k), np.int8)
    scales = rng.uniform(0.001, 0.01, 1 if one else n).astype(F32)
    zero_points = rng.integers(-4, 5, n).astype(np.int32) if zeros else None
    return x, w, scales, zero_points, rng.standard_normal(n).astype(F32)


def packed(w, scales, zeros, groups=1):
    given = (scales, zeros)
    return (
        *taeda._int8_pack(taeda.from_numpy(w), groups),
        *(None if part is None else taeda.from_numpy(part) for part in given),
    )


def sums_of(x, zero, w, zeros):
    shift = 0 if zeros is None else zeros.astype(np.int64)[:, None]
    return (x.astype(np.int64) - zero) @ (w.astype(np.int64) - shift).T


def rounded(sums, x_scale, scales, bias, scale, zero, dtype, relu):
    """Each step in float32."""
    both = F32(x_scale) * scales
    made = (sums.astype(F32) + bias / both) * (both / F32(scale))
    low = -128 if dtype == np.int8 else 0
    return np.clip(np.rint(made) + F32(zero), zero if relu else low, low + 255).astype(dtype)


@pytest.mark.parametrize("most", [128, 255])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_linear(m, k, n, dtype, zeros, most):
    x, w, scales, zero_points, bias = layer(m, k, n, dtype=dtype, zeros=zeros, most=most)
    zero = 7 if dtype == np.uint8 else -7
    for relu in (False, True):
        made = taeda._int8_linear(
            taeda.from_numpy(x),
            0.02,
            zero,
            *packed(w, scales, zero_points),
            taeda.from_numpy(bias),
            k,
            0.3,
            20,
            relu,
        )
        sums = sums_of(x, zero, w, zero_points)
        assert np.array_equal(made.numpy(), rounded(sums, 0.02, scales, bias, 0.3, 20, dtype, relu))


@pytest.mark.parametrize("reduce_range", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_dynamic_linear(m, k, n, reduce_range):
    _, w, scales, zeros, bias = layer(m, k, n, zeros=reduce_range, one=True)
    x = np.random.default_rng(m).standard_normal((m, k)).astype(F32)
    top = 127 if reduce_range else 255
    scale, zero = choose_parameters(float(x.min()), float(x.max()), 0, top)
    exact = x.astype("f8") * np.float64(F32(1) / F32(scale)) + zero
    q = np.clip(np.rint(exact.astype(F32)), 0, 255).astype(np.uint8)
    sums = sums_of(q, zero, w, zeros).astype(F32).astype("f8")
    want = (sums * np.float64(F32(scale) * scales[0]) + bias).astype(F32)
    given = (*packed(w, scales, zeros), taeda.from_numpy(bias), k, reduce_range)
    made = taeda._int8_linear_dynamic(taeda.from_numpy(x), *given)
    assert np.array_equal(made.numpy(), want)
    positive = taeda._int8_linear_dynamic(taeda.from_numpy(x), *given, True)
    assert np.array_equal(positive.numpy(), np.maximum(want, 0))


RANGES = [(0.0, 0.0), (-1.0, 3.0), (-7.3, 0.0), (2.0, 9.0), (-9.0, -2.0), (0.0, 1e-7),
    (-1e-7, 2e-6), (-2e-6, 0.0), (-1e-45, 1e-45), (-3e38, 3e38), (-0.013, 0.0131)]  # fmt: skip


@pytest.mark.parametrize("ends", RANGES)
def test_ranges_get_the_parameters_of_observers(ends):
    """One weight of 1 and a bias of 0 give the input's own numbers back."""
    x = taeda.tensor(ends).reshape(2, 1)
    scale, zero = choose_parameters(float(x.min()), float(x.max()), 0, 255)
    one = packed(np.ones((1, 1), np.int8), np.ones(1, F32), None)
    made = taeda._int8_linear_dynamic(x, *one, None, 1, False)
    q = taeda._quantize_int8(x, scale, zero, taeda.uint8)
    assert taeda.equal(made, taeda._dequantize_int8(q, scale, zero))


WINDOWS = [
    # sizes (samples, places, channels), kernel, stride, padding, dilation, groups, results
    ((2, 1, 1, 9, 4), (1, 1, 3), (1, 1, 2), (0, 0, 1), (1, 1, 1), 1, 6),
    ((2, 1, 9, 8, 4), (1, 3, 3), (1, 1, 2), (0, 1, 0), (1, 2, 1), 2, 40),
    ((1, 5, 6, 7, 3), (2, 3, 1), (1, 1, 2), (1, 1, 0), (1, 1, 1), 1, 17),
    ((3, 1, 12, 12, 16), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1), 1, 33),
    ((1, 1, 6, 6, 5), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1), 5, 10),
    ((1, 1, 3, 3, 2), (1, 3, 3), (1, 1, 1), (0, 4, 4), (1, 1, 1), 1, 2),
    ((2, 1, 7, 9, 48), (1, 3, 5), (1, 2, 1), (0, 1, 2), (1, 1, 2), 48, 48),
    ((2, 2, 7, 9, 20), (2, 3, 2), (1, 1, 3), (1, 1, 1), (1, 2, 1), 20, 20),
]


def windows(x, zero, kernel, stride, padding, dilation):
    """(samples, places..., offsets..., channels) of int64, less the zero point."""
    around = [(0, 0), *((p, p) for p in padding), (0, 0)]
    wide = np.pad(x.astype(np.int64) - zero, around)
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    seen = np.lib.stride_tricks.sliding_window_view(wide, reach, (1, 2, 3))
    seen = seen[:, :: stride[0], :: stride[1], :: stride[2]]
    return np.moveaxis(seen[..., :: dilation[0], :: dilation[1], :: dilation[2]], 4, -1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("case", WINDOWS, ids=str)
def test_convolutions(case, dtype, zeros):
    size, kernel, stride, padding, dilation, groups, n = case
    rng = np.random.default_rng(3)
    own, zero = size[-1] // groups, 9 if dtype == np.uint8 else -9
    _, w, scales, zero_points, bias = layer(1, int(np.prod(kernel)) * own, n, zeros=zeros)
    x = bytes_of(rng, size, dtype)
    made = taeda._int8_conv(
        taeda.from_numpy(x),
        0.02,
        zero,
        *packed(w, scales, zero_points, groups),
        taeda.from_numpy(bias),
        kernel,
        stride,
        padding,
        dilation,
        0.3,
        100,
    )
    seen = windows(x, zero, kernel, stride, padding, dilation)
    shift = 0 if zero_points is None else zero_points.astype(np.int64)[:, None]
    own_weight = (w.astype(np.int64) - shift).reshape(groups, n // groups, *kernel, own)
    parts = seen.reshape(*seen.shape[:-1], groups, own)
    sums = np.einsum("sabcxyzgi,goxyzi->sabcgo", parts, own_weight)
    want = rounded(sums.reshape(*sums.shape[:4], n), 0.02, scales, bias, 0.3, 100, dtype, False)
    assert np.array_equal(made.numpy(), want)


DEPTHWISE = [
    # sizes (samples, places, channels), kernel, stride, padding, dilation
    ((2, 1, 9, 11, 64), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1)),
    ((1, 1, 8, 9, 37), (1, 3, 2), (1, 2, 1), (0, 4, 0), (1, 1, 3)),
    ((2, 3, 4, 5, 16), (2, 1, 3), (1, 1, 2), (1, 0, 2), (2, 1, 1)),
    ((1, 1, 1, 3, 3), (1, 1, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    ((1, 1, 1, 90, 5), (1, 1, 70), (1, 1, 3), (0, 0, 9), (1, 1, 1)),
]


def depthwise_of(case, dtype):
    """The kernel for one channel a group, and the general one, of the same numbers."""
    size, kernel, *steps = case
    rng, n = np.random.default_rng(4), size[-1]
    _, w, scales, _, bias = layer(1, int(np.prod(kernel)), n)
    x, ends = taeda.from_numpy(bytes_of(rng, size, dtype)), (kernel, *steps, 0.3, 10)
    zero, factor = 9 if dtype == np.uint8 else -9, taeda.from_numpy(bias)
    panels, *rest = packed(w, scales, None)
    kinds = ([panels[0].unflatten(-1, (16, 4)), *rest], packed(w, scales, None, n))
    return [taeda._int8_conv(x, 0.02, zero, *kind, factor, *ends).numpy() for kind in kinds]


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("case", DEPTHWISE, ids=str)
def test_one_channel_a_group(case, dtype):
    own, general = depthwise_of(case, dtype)
    assert np.array_equal(own, general)
    assert len(np.unique(own)) > 2


def test_results_may_have_another_dtype():
    x, w, scales, _, bias = layer(1, 4, 3)
    given = (
        0.02,
        5,
        *packed(w, scales, None),
        taeda.from_numpy(bias),
        *([[1, 1, 1]] * 2),
        [0] * 3,
        [1] * 3,
    )
    plain = taeda._int8_conv(taeda.from_numpy(x.reshape(1, 1, 1, 1, 4)), *given, 0.3, 100)
    signed = taeda._int8_conv(
        taeda.from_numpy(x.reshape(1, 1, 1, 1, 4)), *given, 0.3, -28, False, taeda.int8
    )
    assert (plain.numpy().astype(int) - 128 == signed.numpy()).all()


ALL, HALVES = [0, 1, 1], [0, 4, 4, 4, 9, 6]


def pooled(x, zero=5, planes=ALL, lines=HALVES, columns=HALVES, **how):
    return taeda._int8_pool(x, zero, planes, lines, columns, **how)


def places_of(dtype, channels=150):
    rng = np.random.default_rng(2)
    return bytes_of(rng, (2, 1, 9, 9, channels), dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_pools(dtype):
    x, ends = places_of(dtype), [(0, 4, 4), (4, 9, 6)]
    parts = [[x[:, :, a:b, c:d].astype(int) - 5 for c, d, _ in ends] for a, b, _ in ends]
    top = np.array([[part.max((1, 2, 3)) + 5 for part in row] for row in parts])
    assert np.array_equal(
        np.moveaxis(pooled(taeda.from_numpy(x), largest=True).numpy()[:, 0], 0, 2), top
    )
    sums = np.array([[F32(part.sum((1, 2, 3))) for part in row] for row in parts])
    counts = np.array([[ends[i][2] * ends[j][2] for j in range(2)] for i in range(2)])
    for divisor in (0, 9, -2):
        share = F32(1) / (F32(divisor) if divisor else counts.astype(F32)[..., None, None])
        want = np.clip(
            np.rint(sums * share + F32(5)), *((0, 255) if dtype == np.uint8 else (-128, 127))
        )
        made = pooled(taeda.from_numpy(x), divisor=divisor).numpy()[:, 0]
        assert np.array_equal(np.moveaxis(made, 0, 2), want)


@pytest.mark.parametrize("zero", [0, 3, 77, 126])
def test_the_zero_point_of_an_average_is_added_before_it_is_rounded(zero):
    """A half becomes the even one of the integers, not of the steps from the zero point."""
    x = np.array([0, 1, 2, 3, 3, 4, 7, 8], np.int8).reshape(1, 1, 1, 8, 1)
    pairs = [n for i in range(0, 8, 2) for n in (i, i + 2, 2)]
    made = pooled(taeda.from_numpy(x), zero, lines=ALL, columns=pairs)
    assert made.flatten().tolist() == [0, 2, 4, 8]


POOL = taeda.zeros(1, 1, 9, 9, 3, dtype=taeda.uint8)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pooled(POOL.float()), "uint8 or int8 .*, but got float32"),
        (lambda: pooled(POOL[0]), r"but got uint8 of shape \[1, 9, 9, 3\]"),
        (lambda: pooled(POOL, -1), "zero_point -1 is out of the range 0 to 255"),
        (lambda: pooled(POOL.char(), 128), "zero_point 128 is out of the range -128 to 127"),
        (lambda: pooled(POOL, columns=[0, 10, 1]), "axis 2 .* in 9 places"),
        (lambda: pooled(POOL, lines=[-1, 3, 1]), "axis 1 wants"),
        (lambda: pooled(POOL, lines=[0, 3, 0]), "a count above 0"),
        (lambda: pooled(POOL, lines=[0, 3]), "axis 1 wants"),
        (lambda: pooled(POOL, planes=[]), "axis 0 wants"),
        (lambda: pooled(POOL, lines=[0, 1, 2**62]), "axis 1 wants"),
        (
            lambda: pooled(POOL, lines=[0, 1, 4000], columns=[0, 1, 4000]),
            "of 1.6e\\+07 places is too large",
        ),
    ],
)
def test_pools_refuse(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_integers_and_back():
    x = taeda.tensor([-1.0, 0.5, 1.5, 2.5, 1e9, -1e9, float("nan"), float("inf"), -float("inf")])
    wide = taeda.cat([x] * 9)  # more than a vector
    for dtype, shift in ((taeda.uint8, 0), (taeda.int8, 128)):
        made = taeda._quantize_int8(wide, 1.0, 7 - shift, dtype)
        want = [6, 8, 8, 10, 255, 0, 255, 255, 0]
        assert made.tolist() == [n - shift for n in want] * 9
        back = taeda._dequantize_int8(made, 0.5, 7 - shift)
        assert back.tolist() == [(n - 7) * 0.5 for n in want] * 9
    assert taeda.equal(
        taeda._quantize_int8(wide[::2], 1.0, 7, taeda.uint8),
        taeda._quantize_int8(wide, 1.0, 7, taeda.uint8)[::2],
    )


@pytest.mark.parametrize(("scale", "zero"), [(0.25, 0), (0.5, -3), (0.013, 77), (0.1, -128)])
def test_the_zero_point_is_added_before_the_one_rounding(scale, zero):
    """Ties, and what lies beside them, differ if another zero point is added."""
    x = (np.arange(-3000, 3000) * 0.125 * scale).astype(F32)
    x = np.concatenate([x, np.nextafter(x, F32(9)), np.nextafter(x, F32(-9))])
    exact = x.astype("f8") * np.float64(F32(1) / F32(scale)) + zero  # of 48 bits at most
    want = np.clip(np.rint(exact.astype(F32)), -128, 127)
    assert np.array_equal(
        taeda._quantize_int8(taeda.from_numpy(x), scale, zero, taeda.int8).numpy(), want
    )


def bags():
    rng = np.random.default_rng(1)
    table = bytes_of(rng, (50, 37), np.uint8)
    scales, shifts = (rng.standard_normal(50).astype(F32) for _ in range(2))
    return table, scales, shifts, rng.integers(0, 50, 64), np.array([0, 0, 7, 30, 64])


def summed(table, scales, shifts, indices, starts, factors):
    made = np.zeros((len(starts) - 1, table.shape[1]), F32)
    for bag in range(len(made)):
        for at in range(starts[bag], starts[bag + 1]):
            row, f = indices[at], factors[at]
            own = (made[bag] + shifts[row] * f).astype("f8")
            made[bag] = (table[row] * np.float64(scales[row] * f) + own).astype(F32)
    return made


def test_bags():
    table, scales, shifts, indices, starts = bags()
    factors = np.linspace(-1, 2, len(indices), dtype=F32)
    given = list(map(taeda.from_numpy, (table, scales, shifts, indices)))
    made = taeda._int8_bags(*given, taeda.from_numpy(starts), taeda.from_numpy(factors))
    assert np.array_equal(made.numpy(), summed(table, scales, shifts, indices, starts, factors))
    alone = taeda._int8_bags(*given).numpy()
    each = np.arange(len(indices) + 1)
    assert np.array_equal(alone, summed(table, scales, shifts, indices, each, np.ones(64, F32)))


@pytest.mark.parametrize("index", [-1, 50, 2**62])
def test_bags_refuse_rows_that_are_not_there(index):
    table, scales, shifts, indices, starts = bags()
    indices[20] = index
    with pytest.raises(RuntimeError, match="place 20 an index is out of range for 50 rows"):
        taeda._int8_bags(*map(taeda.from_numpy, (table, scales, shifts, indices, starts)))


@pytest.mark.parametrize("starts", [[-1, 64], [0, 65], [9, 3], [0, 2**62, 64]])
def test_bags_refuse_offsets_that_do_not_rise(starts):
    given = map(taeda.from_numpy, bags()[:4])
    with pytest.raises(RuntimeError, match="offset does not rise from 0 to 64"):
        taeda._int8_bags(*given, taeda.tensor(starts))


def digest():
    """Of everything above, whatever the instruction set and the number of threads."""
    found = hashlib.sha256()
    for m, k, n in SIZES:
        for most in (128, 255):
            x, w, scales, zeros, bias = layer(m, k, n, most=most, zeros=most == 255)
            given = (*packed(w, scales, zeros), taeda.from_numpy(bias), k)
            exact = taeda._int8_linear(taeda.from_numpy(x), 0.02, 7, *given, 0.3, 20)
            floats = taeda.from_numpy(x.astype(F32) * F32(0.37) - 20)
            found.update(exact.numpy().tobytes())
            found.update(taeda._int8_linear_dynamic(floats, *given).numpy().tobytes())
            found.update(taeda._quantize_int8(floats, 0.11, 9, taeda.uint8).numpy().tobytes())
    for case in DEPTHWISE:
        found.update(depthwise_of(case, np.int8)[0].tobytes())
    for dtype in (np.uint8, np.int8):
        found.update(pooled(taeda.from_numpy(places_of(dtype))).numpy().tobytes())
    found.update(taeda._int8_bags(*map(taeda.from_numpy, bags())).numpy().tobytes())
    return found.hexdigest()


@pytest.mark.parametrize("isa", ["generic", "avx2", "avx512"])
def test_instruction_sets_give_the_same_bits(isa):
    """A processor that has not the one asked for takes its best below."""
    here = Path(__file__).resolve()
    text = f"import sys; sys.path.insert(0, {str(here.parent)!r}); import {here.stem} as t; print(t.digest())"
    ran = subprocess.run(
        [sys.executable, "-c", text],
        env={**os.environ, "TAEDA_ISA": isa},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == digest()


def test_threads_give_the_same_bits():
    x, w, scales, _, bias = layer(700, 300, 130)
    given = (*packed(w, scales, None), taeda.from_numpy(bias), 300)
    floats, threads = taeda.from_numpy(x.astype(F32)), taeda.get_num_threads()
    found = set()
    try:
        for count in (1, 2, 3):
            taeda.set_num_threads(count)
            made = taeda._int8_linear_dynamic(floats, *given).numpy().tobytes()
            found.add(
                made
                + taeda._int8_linear(taeda.from_numpy(x), 0.1, 3, *given, 0.5, 3).numpy().tobytes()
            )
    finally:
        taeda.set_num_threads(threads)
    assert len(found) == 1


U8, I8 = taeda.zeros(2, 6, dtype=taeda.uint8), taeda.zeros(5, 6, dtype=taeda.int8)
PANELS, SUMS = taeda._int8_pack(I8)
ONE = taeda.ones


def linear(
    x=U8,
    x_scale=0.1,
    x_zero=0,
    panels=PANELS,
    sums=SUMS,
    scales=None,
    zeros=None,
    bias=None,
    k=6,
    scale=0.1,
    zero=0,
):
    scales = ONE(5) if scales is None else scales
    return taeda._int8_linear(x, x_scale, x_zero, panels, sums, scales, zeros, bias, k, scale, zero)


def conv(
    kernel=(1, 1, 2),
    stride=(1, 1, 1),
    padding=(0, 0, 0),
    dilation=(1, 1, 1),
    x=None,
    panels=PANELS,
    zeros=None,
):
    x = taeda.zeros(1, 1, 1, 4, 3, dtype=taeda.uint8) if x is None else x
    return taeda._int8_conv(
        x, 0.1, 0, panels, SUMS, ONE(5), zeros, None, kernel, stride, padding, dilation, 0.1, 0
    )


def depthwise(channels, taps=6, zeros=None):
    x = taeda.zeros(1, 1, 1, 9, channels, dtype=taeda.uint8)
    return conv((1, 1, taps), x=x, panels=PANELS[0].unflatten(-1, (16, 4)), zeros=zeros)


def dynamic(x):
    return taeda._int8_linear_dynamic(x, PANELS, SUMS, ONE(5), None, None, 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear(ONE(2, 6)), "uint8 or int8, but got float32"),
        (lambda: linear(U8[:, :5]), r"6 input features.*\[2, 5\]"),
        (lambda: linear(k=5), "5 input features"),
        (lambda: linear(U8[:, :5], k=9), "9 input features"),
        (lambda: linear(taeda.zeros(2, 9, dtype=taeda.uint8), k=9), "do not fit a weight of 5 rows of 9"),
        (lambda: linear(panels=PANELS.float()), "float32 do not fit"),
        (lambda: linear(panels=PANELS[0]), "do not fit"),
        (lambda: linear(sums=SUMS.long()), "sums must be 5 numbers of int32, but got int64"),
        (lambda: linear(sums=SUMS[:0]), "do not fit a weight of 0 rows"),
        (lambda: linear(scales=ONE(4)), r"scales must be 5 numbers.*\[4\]"),
        (lambda: linear(scales=ONE(5).double()), "scales must be.*float64"),
        (lambda: linear(zeros=ONE(5)), "zero_points must be 5 numbers of int32"),
        (lambda: linear(bias=ONE(1)), r"bias must be 5 numbers.*\[1\]"),
        (lambda: linear(x_scale=0.0), "finite scale above 0, but got 0"),
        (lambda: linear(scale=float("nan")), "finite scale above 0"),
        (lambda: linear(scale=1e-50), "finite scale above 0"),
        (lambda: linear(x_zero=256), "zero_point 256 is out of the range 0 to 255"),
        (lambda: linear(zero=-1), "zero_point -1"),
        (lambda: depthwise(3), "one row of 6 .* each of 3 channels.* got 5 rows"),
        (lambda: depthwise(5, 9), "one row of 9 .* panels of 1 by 2$"),
        (lambda: depthwise(5, 6, taeda.zeros(5, dtype=taeda.int32)), "by 2, and zero points"),
        (lambda: dynamic(ONE(2, 6).double()), "wanted float32, but got float64"),
        (lambda: dynamic(taeda.full((2, 6), float("nan"))), "finite numbers, but the range"),
        (lambda: dynamic(taeda.tensor([[1.0, 2, 3, 4, 5, -float("inf")]])), "finite numbers.*-inf"),
        (lambda: taeda._int8_pack(U8), "matrix of int8.*uint8"),
        (lambda: taeda._int8_pack(I8[:, :0]), "at least one number"),
        (lambda: taeda._int8_pack(I8, 2), "2 groups do not divide 5 rows"),
        (lambda: taeda._int8_pack(I8, 0), "0 groups"),
        (lambda: conv(kernel=(1, 1)), "kernel must be three numbers"),
        (lambda: conv(stride=(1, 1, 0)), "stride must be three numbers of at least 1"),
        (lambda: conv(padding=(0, 0, -1)), "padding must be three numbers of at least 0"),
        (lambda: conv(dilation=(1, 1, 2**40)), "dilation must be"),
        (lambda: conv(dilation=(1, 1, 4)), "a window of 5 does not fit into 4 places"),
        (lambda: conv(kernel=(1, 1, 4)), "do not fit a weight of 5 rows of 12"),
        (lambda: conv(x=U8), r"wanted \(samples, three places, channels"),
        (lambda: taeda._quantize_int8(ONE(2), 0.0, 0, taeda.uint8), "finite scale above 0"),
        (lambda: taeda._quantize_int8(ONE(2), 1.0, 0, taeda.int32), "uint8 or int8, but got int32"),
        (lambda: taeda._quantize_int8(ONE(2).double(), 1.0, 0, taeda.uint8), "wanted float32"),
        (lambda: taeda._dequantize_int8(ONE(2), 1.0, 0), "uint8 or int8, but got float32"),
        (lambda: taeda._int8_bags(I8, ONE(5), ONE(5), SUMS.long()), "table.*uint8.*int8"),
        (lambda: taeda._int8_bags(U8, ONE(3), ONE(2), SUMS.long()), "scales must be a vector"),
        (lambda: taeda._int8_bags(U8, ONE(2), ONE(2), SUMS), "indices must be.*int64.*int32"),
        (lambda: taeda._int8_bags(U8, ONE(2), ONE(2), SUMS.long(), SUMS[:0].long()), "offsets end"),
    ],
)  # fmt: skip
def test_refusals(call, message):
    with pytest.raises(RuntimeError, match=message):
        call()


def test_meta_and_nothing():
    on = [t.to("meta") for t in (U8, PANELS, SUMS, ONE(5))]
    made = taeda._int8_linear(on[0], 0.1, 0, *on[1:], None, None, 6, 0.1, 0)
    assert (made.shape, made.dtype, made.device.type) == ((2, 5), taeda.uint8, "meta")
    assert linear(U8[:0]).shape == (0, 5)
    assert dynamic(ONE(0, 6)).shape == (0, 5)
