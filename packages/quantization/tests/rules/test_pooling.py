"""Pooling by its own names."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from quantized_tensors import numbers

import taeda


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_of_every_rank(rank):
    x = numbers(2, 3, *[4] * rank)
    made = getattr(taeda, f"quantized_max_pool{rank}d")(
        x, [2] * rank, [2] * rank, [0] * rank, [1] * rank
    )
    wanted = getattr(taeda.nn.functional, f"max_pool{rank}d")(x.dequantize(), 2)
    assert taeda.equal(made.dequantize(), wanted)
    with pytest.raises(
        NotImplementedError, match=f"quantized_max_pool{rank}d: wanted a quantized tensor"
    ):
        getattr(taeda, f"quantized_max_pool{rank}d")(x.dequantize(), [2] * rank)


def test_averages_round_half_to_even():
    x = taeda._make_per_tensor_quantized_tensor(
        taeda.tensor([[[1, 2, 3, 4]]], dtype=taeda.uint8), 1.0, 0
    )
    assert taeda.avg_pool1d(x, 2).int_repr().tolist() == [[[2, 4]]]


#: (zero point, integers, halves rounded): the even integer, whatever the zero point is
HALVES = [
    (0, [1, 2, 2, 3], [2, 2]), (7, [1, 2, 2, 3], [2, 2]), (126, [1, 2, 124, 125], [2, 124]),
    (77, [77, 78, 78, 79], [78, 78]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [taeda.uint8, taeda.int8, taeda.int32], ids=str)
@pytest.mark.parametrize(("zero", "integers", "wanted"), HALVES)
def test_averages_round_with_the_zero_point(zero, integers, wanted, dtype):
    q = taeda.tensor([[integers]], dtype=dtype)
    x = taeda._make_per_tensor_quantized_tensor(q, 0.1, zero)
    pairs = x.reshape(1, 1, 2, 2)
    for made in (
        taeda.avg_pool1d(x, 2), taeda.adaptive_avg_pool1d(x, 2), pairs.mean(-1), pairs.mean((-1,)),
        taeda.nn.functional.avg_pool2d(pairs, (1, 2)), taeda.nn.functional.avg_pool2d(pairs[0], (1, 2)),
    ):  # fmt: skip
        assert made.int_repr().flatten().tolist() == wanted


@pytest.mark.parametrize("divisor", [6, 10, 14, 22])
def test_a_sum_is_multiplied_by_the_nearest_part(divisor):
    """The same integers of 8 and of 32 bits: sums times float32(1 / divisor)."""
    sums = np.arange(0, 9 * divisor, dtype=np.int64)
    rows = taeda.from_numpy(np.stack([sums // 2, sums - sums // 2])).reshape(1, 1, 2, -1)
    want = np.rint(sums.astype("f4") * (np.float32(1) / np.float32(divisor)) + np.float32(3))
    for dtype in (taeda.uint8, taeda.int32):
        x = taeda._make_per_tensor_quantized_tensor((rows + 3).to(dtype), 0.1, 3)
        made = taeda.nn.functional.avg_pool2d(x, (2, 1), divisor_override=divisor)
        assert np.array_equal(made.int_repr().numpy().flatten(), want)


# kernel, stride, padding, ceil_mode, count_include_pad, divisor_override; and sizes of adaptive results
AVERAGES = [
    (2, None, 0, False, True, None), (3, 2, 1, False, True, None), (3, 2, 1, True, False, None),
    (4, 3, 2, True, True, None), (2, 5, 1, False, True, -3), (5, 1, 2, False, False, 7),
]  # fmt: skip
MAXIMA = [(2, None, 0), (3, 2, 1), (3, 1, 1, 1, True), (2, 1, 1, 2), (5, 3, 2, 1, True)]
PARTS = [1, 3, 4, 7]
DTYPES = [taeda.quint8, taeda.qint8]


def numbers_of(rank, dtype, last):
    low = 0 if dtype is taeda.quint8 else -128
    rng, sizes = np.random.default_rng(rank), [9, 6, 7][:rank]
    stored = taeda.uint8 if low == 0 else taeda.int8
    q = taeda.from_numpy(rng.integers(low, low + 256, (2, 70, *sizes))).to(stored)
    q = q.movedim(1, -1).contiguous().movedim(-1, 1) if last else q
    return taeda._make_per_tensor_quantized_tensor(q, 0.5, low + 9)


def average(row, x, *how):
    """Of exact numbers about the zero point, rounded once, with it."""
    zero, low = x.q_zero_point(), -128 if x.dtype is taeda.qint8 else 0
    made = getattr(taeda.nn.functional, row)(x.int_repr().double() - zero, *how)
    return (made.float() + zero).round().clamp(low, low + 255)


@pytest.mark.parametrize(
    ("rank", "dtype", "last"), list(itertools.product([1, 2, 3], DTYPES, [False, True])), ids=str
)
def test_windows_of_every_kind(rank, dtype, last):
    x = numbers_of(rank, dtype, last)
    name = f"pool{rank}d"
    ways = [(f"avg_{name}", how[:5] if rank == 1 else how) for how in AVERAGES]
    ways += [(f"adaptive_avg_{name}", (size,)) for size in PARTS]
    for row, how in ways:
        made = getattr(taeda.nn.functional, row)(x, *how)
        assert taeda.equal(made.int_repr().float(), average(row, x, *how)), (row, how)
        assert made.q_zero_point() == x.q_zero_point()
    for how in MAXIMA:
        made = getattr(taeda.nn.functional, f"max_{name}")(x, *how).int_repr()
        want = getattr(taeda.nn.functional, f"max_{name}")(x.int_repr().double(), *how)
        assert taeda.equal(made.double(), want), how


@pytest.mark.parametrize("last", [False, True])
def test_results_lie_as_inputs_do(last):
    x = numbers_of(2, taeda.quint8, last)
    for made in (taeda.nn.functional.max_pool2d(x, 2), taeda.nn.functional.avg_pool2d(x, 2)):
        assert made.int_repr().is_contiguous(memory_format=taeda.channels_last) == last
        assert made.int_repr().is_contiguous() != last


@pytest.mark.parametrize("last", [False, True])
def test_what_plain_pooling_refuses(last):
    x = numbers_of(2, taeda.quint8, last)
    for how in ((0,), (2, 0), (2, 1, 2), (20,), ((2, 2, 2),)):
        with pytest.raises(RuntimeError) as plain:
            taeda.nn.functional.avg_pool2d(x.int_repr().float(), *how)
        with pytest.raises(RuntimeError) as quantized:
            taeda.nn.functional.avg_pool2d(x, *how)
        assert str(quantized.value) == str(plain.value)
