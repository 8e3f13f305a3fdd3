"""Copies between dtypes and layouts, and filling: what every other operation stands on."""

from __future__ import annotations

import itertools
import math

import ml_dtypes
import numpy as np
import pytest

import taeda

REAL = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64",
        "float16", "bfloat16", "float32", "float64"]  # fmt: skip
FLOAT8 = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"]
COMPLEX = ["complex32", "complex64", "complex128"]


def dtype(name):
    return getattr(taeda, name)


@pytest.mark.parametrize(("source", "target"), list(itertools.product([*REAL, *COMPLEX], repeat=2)))
def test_small_numbers_survive_every_conversion(source, target):
    values = [0, 1, 1, 0, 1] if "bool" in (source, target) else [0, 1, 2, 100, 7]
    result = taeda.tensor(values, dtype=dtype(source)).to(dtype(target))
    assert result.dtype is dtype(target)
    assert [complex(v) for v in result.tolist()] == values


@pytest.mark.parametrize("name", ["bfloat16", *FLOAT8])
def test_short_floats_round_as_ml_dtypes_does(name):
    x = np.random.default_rng(0).normal(scale=20, size=4000).astype(np.float32)
    x = np.concatenate([x, [0, -0.0, 1e-8, -1e-8, 447.9, 448, 1e-3]]).astype(np.float32)
    expected = x.astype(getattr(ml_dtypes, name)).astype(np.float32)
    np.testing.assert_array_equal(taeda.from_numpy(x).to(dtype(name)).float().numpy(), expected)


@pytest.mark.parametrize("length", [1, 7, 8, 15, 16, 17, 40])
def test_rows_of_16_bits_of_every_length(length):
    x = np.random.default_rng(length).normal(size=length).astype(np.float32)
    x[:: max(1, length // 3)] = [np.nan, np.inf, -np.inf, 3.3895314e38][length % 4]
    halves = taeda.from_numpy(x).bfloat16()
    np.testing.assert_array_equal(
        halves.float().numpy(), x.astype(ml_dtypes.bfloat16).astype(np.float32)
    )
    signals = taeda.full((length,), 0x7D01).to(taeda.int16).view(taeda.float16)  # NaN that signal
    assert (signals.float().view(taeda.int32) == signals[0].float().view(taeda.int32)).all()
    every = taeda.arange(-(2**15), 2**15).to(taeda.int16).view(taeda.bfloat16)
    strided = taeda.stack([every, every], 1)[:, 0]  # one by one, where dense rows go by vectors
    assert every.float().view(taeda.int32).equal(strided.float().view(taeda.int32))
    wide = every.float() + 0  # NaN becomes one NaN
    back = taeda.stack([wide, wide], 1)[:, 0].bfloat16()
    assert wide.bfloat16().view(taeda.int16).equal(back.view(taeda.int16))


def test_half_rounds_as_numpy_does():
    x = np.random.default_rng(0).normal(size=4000).astype(np.float32)
    x = np.concatenate(
        [x, x * 1e-5, x * 1e-7, x * 2e4, [65504, 65519, 65520, np.inf, -np.inf, 2.0**-25, 6e-8]]
    )
    x = x.astype(np.float32)
    with np.errstate(over="ignore"):
        expected = x.astype(np.float16)
    result = taeda.from_numpy(x).to(taeda.float16)
    np.testing.assert_array_equal(result.numpy(), expected)
    np.testing.assert_array_equal(result.float().numpy(), expected.astype(np.float32))
    assert math.isnan(taeda.tensor([math.nan]).half().float().item())


@pytest.mark.parametrize("target", ["uint8", "int8", "int16", "int32", "int64", "uint64"])
def test_floats_that_do_not_fit_give_some_integer(target):
    """No trap and one answer, whatever the layout."""
    x = taeda.tensor([math.nan, math.inf, -math.inf, 1e30, -1e30, 3e9, -3e9] * 5)
    plain = x.to(dtype(target))
    spread = taeda.stack([x, x], 1)[:, 0].to(dtype(target))
    assert taeda.equal(plain, spread)
    assert taeda.tensor([-1.7, 1.7]).to(dtype(target)).tolist()[1] == 1


def test_narrowing_integers_keep_their_low_bits():
    x = taeda.tensor([256, 257, -1, 2**32 + 5])
    assert x.to(taeda.uint8).tolist() == [0, 1, 255, 5]
    assert x.to(taeda.int32).tolist() == [256, 257, -1, 5]
    assert x.to(taeda.bool).tolist() == [True] * 4


LAYOUTS = [
    lambda t: t,
    lambda t: t.t(),
    lambda t: t[:, ::3],
    lambda t: t[1::2].t(),
    lambda t: t[:, :1].expand(-1, 7),
    lambda t: t[:0],
    lambda t: t[3, 4],
]


@pytest.mark.parametrize("name", ["uint8", "bfloat16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("layout", range(len(LAYOUTS)))
def test_contiguous(layout, name):
    x = np.arange(70 * 41).reshape(70, 41) % 100
    t = LAYOUTS[layout](taeda.from_numpy(x).to(dtype(name)))
    expected = LAYOUTS[layout](_Numpy(x)).array
    result = t.contiguous()
    assert result.is_contiguous()
    np.testing.assert_array_equal(result.to(taeda.complex128).numpy().real, expected)


class _Numpy:
    """The few methods the layouts use, for an array."""

    def __init__(self, array):
        self.array = array

    def t(self):
        return _Numpy(self.array.T)

    def expand(self, _, count):
        return _Numpy(np.repeat(self.array, count, 1))

    def __getitem__(self, key):
        return _Numpy(self.array[key])


@pytest.mark.parametrize("itemsize", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(3, 5), (16, 16), (17, 33), (64, 100), (5, 200), (129, 65)])
def test_transposes_of_every_size(shape, itemsize):
    kind = {1: "uint8", 2: "int16", 4: "float32", 8: "float64", 16: "complex128"}[itemsize]
    x = (np.arange(math.prod(shape)) % 251).reshape(shape).astype(kind)
    np.testing.assert_array_equal(taeda.from_numpy(x).t().contiguous().numpy(), x.T)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[1::5])
def test_permutations(order):
    x = np.arange(3 * 20 * 17 * 18, dtype=np.float32).reshape(3, 20, 17, 18)
    np.testing.assert_array_equal(
        taeda.from_numpy(x).permute(*order).contiguous().numpy(), x.transpose(order)
    )


def test_copy_broadcasts_and_checks():
    target = taeda.zeros(2, 3)
    assert target.copy_(taeda.tensor([1, 2, 3])).tolist() == [[1.0, 2.0, 3.0]] * 2
    with pytest.raises(RuntimeError, match=r"\[2\].*\[2, 3\]"):
        target.copy_(taeda.zeros(2))


def test_copy_between_overlapping_views_of_one_tensor():
    x = taeda.arange(10.0)
    x[::2].copy_(x[1::2])
    assert x.tolist() == [1.0, 1.0, 3.0, 3.0, 5.0, 5.0, 7.0, 7.0, 9.0, 9.0]


def test_lazy_conjugates_are_resolved():
    z = taeda.tensor([1 + 2j, 3 - 4j])
    assert z.conj().clone().tolist() == [1 - 2j, 3 + 4j]
    assert z.conj().to(taeda.complex128).tolist() == [1 - 2j, 3 + 4j]
    assert z.conj().imag.clone().tolist() == [-2.0, 4.0]
    target = taeda.zeros(2, dtype=taeda.complex64)
    target.conj().copy_(z)
    assert target.tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("name", [*REAL, *COMPLEX, *FLOAT8])
def test_fill(name):
    t = taeda.empty(3, 4, dtype=dtype(name))
    t.fill_(1)
    assert t.to(taeda.complex128).tolist() == [[1] * 4] * 3
    t[:, ::2].fill_(0)
    assert t.to(taeda.complex128).tolist() == [[0, 1, 0, 1]] * 3


def test_fill_reaches_repeated_and_conjugated_memory():
    assert taeda.zeros(1).expand(4).fill_(2).tolist() == [2.0] * 4
    z = taeda.zeros(2, dtype=taeda.complex64)
    z.conj().fill_(1 + 2j)
    assert z.tolist() == [1 - 2j, 1 - 2j]


def test_many_elements_in_parallel():
    x = np.random.default_rng(0).integers(0, 255, (700, 900)).astype(np.float32)
    t = taeda.from_numpy(x)
    for name in ("float64", "bfloat16", "int64", "uint8"):
        np.testing.assert_array_equal(t.to(dtype(name)).float().numpy(), x)
        np.testing.assert_array_equal(t.t().to(dtype(name)).contiguous().float().numpy(), x.T)


# ---- many rows at once ----
ROWS = {
    "short rows": lambda a: a.reshape(-1, 6, 10).transpose(1, 0, 2),
    "rows of three": lambda a: a.reshape(20, 3, -1).transpose(2, 0, 1),
    "backwards": lambda a: a.reshape(30, -1)[:, ::-1],
    "both ways back": lambda a: a.reshape(30, -1)[::-1, ::-1],
    "every other": lambda a: a.reshape(30, -1)[:, ::2],
    "repeated rows": lambda a: np.broadcast_to(a.reshape(20, 1, -1)[:, :, :7], (20, 30, 7)),
    "windows": lambda a: np.lib.stride_tricks.sliding_window_view(a, 9)[::4],
}


@pytest.mark.parametrize("kind", ["uint8", "int16", "float32", "int64", "complex128"])
@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_step_are_copied(name, kind):
    array = np.arange(9000).astype(kind)
    view = ROWS[name](array)
    source = taeda.from_numpy(array)
    if min(view.strides) < 0:
        dims = [d for d, step in enumerate(view.strides) if step < 0]
        got = source.reshape(30, -1).flip(dims)
    else:
        steps = [step // array.itemsize for step in view.strides]
        got = source.as_strided(view.shape, steps).contiguous()
    assert np.array_equal(got.numpy(), view)


@pytest.mark.parametrize("shift", [1, 3, 5, 16, 700])
@pytest.mark.parametrize("shape", [(1024, 1024), (70000,), (5, 3)])
def test_a_row_a_few_bytes_behind_its_source_is_the_same(shape, shift):
    array = np.arange(math.prod(shape), dtype="float32").reshape(shape)
    got = taeda.from_numpy(array).roll(shift, len(shape) - 1)
    assert np.array_equal(got.numpy(), np.roll(array, shift, len(shape) - 1))


SHAPES = [((7, 3, 5), (7, 1, 5)), ((40, 9, 8), (40, 1, 8)), ((16, 1, 64, 1), (1, 32, 1, 32)),
          ((300, 4), (4,)), ((3, 130, 2), (3, 1, 2)), ((50, 1), (1, 60))]  # fmt: skip


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "uint8", "int64"])
@pytest.mark.parametrize(("left", "right"), SHAPES)
def test_short_rows_that_broadcast(left, right, kind):
    a = np.arange(math.prod(left)).reshape(left) % 50
    b = np.arange(math.prod(right)).reshape(right) % 31
    x, y = (taeda.from_numpy(v.astype("int64")).to(dtype(kind)) for v in (a, b))
    for got in (x + y, y + x):
        assert np.array_equal(got.to(taeda.int64).numpy(), a + b)
    assert np.array_equal(taeda.where(x > y, x, y).to(taeda.int64).numpy(), np.maximum(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("step", [1, 2])
def test_large_and_small_floats_as_integers_of_64_bits(dtype, step):
    numbers = np.random.default_rng(0).standard_normal(203) * 1e9
    odd = [np.nan, np.inf, -np.inf, -(2.0**31), 2.0**31, 2e18, -9.3e18, 2.0**63, -(2.0**63), -0.9]
    numbers[7 : 7 + 17 * len(odd) : 17] = odd
    numbers = numbers.astype(dtype)[::step]
    fits = np.abs(numbers) < 2.0**63
    want = [int(x) if ok else -(2**63) for x, ok in zip(numbers, fits, strict=True)]
    assert taeda.from_numpy(numbers).long().tolist() == want
