"""Products with packed weights against float64: layouts, scales, threads, instruction sets, refusals."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import taeda

# rows of x, rows of the weight, numbers in a row, scales in a row
SIZES = [(1, 37, 32, 1), (3, 5, 96, 3), (16, 64, 128, 2), (17, 33, 768, 24), (2, 40, 768, 1),
    (1, 9, 1056, 11), (5, 300, 2080, 65)]  # fmt: skip


def packed(q):
    """Numbers from 0 to 15 in halves of bytes, by the layout of the row's text."""
    whole = np.zeros((q.shape[0], (q.shape[1] + 127) // 128 * 128), np.uint8)
    whole[:, : q.shape[1]] = q
    parts = whole.reshape(q.shape[0], -1, 2, 64)
    return (parts[:, :, 0] | parts[:, :, 1] << 4).reshape(q.shape[0], -1)


def numbers(m, n, k, groups, kind, scale_type=np.float16, seed=0):
    """x, the arguments behind it, and the matrix they stand for in float64."""
    rng = np.random.default_rng([seed, m, n, k])
    groups = k // 16 if kind == HALVES else groups
    x = rng.standard_normal((m, k)).astype("f4") * rng.choice([0.01, 1, 30], (m, 1)).astype("f4")
    scales = rng.uniform(0.001, 0.02, (n, groups)).astype(scale_type)
    offsets = rng.normal(0, 0.05, (n, groups)).astype(scale_type)
    wide = np.repeat(scales.astype("f8"), k // groups, 1)
    if kind in BYTES:
        q = rng.integers(-128, 128, (n, k)).astype(np.int8)
        return x, (q, scales), wide * q
    q = rng.integers(0, 16, (n, k)).astype(np.uint8)
    if kind == "int4":
        return x, (packed(q), scales), wide * (q - 8.0)
    more = np.repeat(offsets.astype("f8"), k // groups, 1)
    return x, (packed(q), scales, offsets), wide * q + more


def product(x, arguments, **more):
    row = taeda._weight_int8_mm if arguments[0].dtype == np.int8 else taeda._weight_int4_mm
    return row(taeda.from_numpy(x), *map(taeda.from_numpy, arguments), **more)


HALVES = "int8 with a scale for every 16"
BYTES = ["int8", HALVES]
KINDS = [*BYTES, "int4", "int4 with offsets"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale_type", [np.float16, np.float32])
@pytest.mark.parametrize(("m", "n", "k", "groups"), SIZES)
def test_products(m, n, k, groups, scale_type, kind):
    x, arguments, matrix = numbers(m, n, k, groups, kind, scale_type)
    bias = np.linspace(-1, 1, n, dtype="f4")
    want = x.astype("f8") @ matrix.T + bias
    got = product(x, arguments, bias=taeda.from_numpy(bias)).numpy()
    assert got.dtype == np.float32
    assert np.abs(got - want).max() < 6e-5 * np.abs(want).max()  # x has 15 bits and a sign


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_has_the_same_bits_alone_among_others_and_on_any_number_of_threads(kind):
    x, arguments, _ = numbers(16, 300, 2080, 65, kind)
    together = product(x, arguments)
    threads = taeda.get_num_threads()
    try:
        taeda.set_num_threads(1)
        for i in range(16):
            assert taeda.equal(product(x[i], arguments), together[i])
    finally:
        taeda.set_num_threads(threads)


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_has_the_same_bits_in_any_batch_where_that_is_asked_for(kind):
    x, arguments, _ = numbers(50, 40, 96, 3, kind)
    taeda.use_deterministic_algorithms(True)
    try:
        together = product(x, arguments)
    finally:
        taeda.use_deterministic_algorithms(False)
    for i in range(50):
        assert taeda.equal(product(x[i], arguments), together[i])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [taeda.bfloat16, taeda.float16])
def test_short_floats_are_rounded_once(kind, dtype):
    x, arguments, _ = numbers(3, 20, 96, 3, kind)
    short = taeda.from_numpy(x).to(dtype)
    want = product(short.float().numpy(), arguments, bias=taeda.ones(20)).to(dtype)
    row = taeda._weight_int8_mm if kind in BYTES else taeda._weight_int4_mm
    given = tuple(map(taeda.from_numpy, arguments))
    assert taeda.equal(row(short, *given, bias=taeda.ones(20, dtype=dtype)), want)
    assert taeda.equal(row(short, *given, bias=taeda.ones(20)), want)


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_of_bfloat16(kind):
    """Where the processor multiplies bfloat16 the weight is rounded to it as well."""
    x, arguments, matrix = numbers(40, 300, 2080, 65, kind)
    short, bias = taeda.from_numpy(x).bfloat16(), np.linspace(-1, 1, 300, dtype="f4")
    wide = short.double().numpy()
    want, sizes = wide @ matrix.T + bias, np.abs(wide) @ np.abs(matrix).T
    row = taeda._weight_int8_mm if kind in BYTES else taeda._weight_int4_mm
    got = row(short, *map(taeda.from_numpy, arguments), bias=taeda.from_numpy(bias))
    assert got.dtype is taeda.bfloat16
    allowed = np.abs(want) * 2**-8 + sizes * 2**-9
    assert (np.abs(got.double().numpy() - want) <= allowed).all()


@pytest.mark.parametrize("kind", KINDS)
def test_the_matrix(kind):
    _, arguments, matrix = numbers(1, 20, 160, 5, kind)
    given = list(map(taeda.from_numpy, arguments))
    if kind in BYTES:
        got = taeda._weight_int8_expand(*given)
    else:
        got = taeda._weight_int4_expand(*given[:2], given[2] if len(given) == 3 else None, 160)
    assert np.abs(got.numpy() - matrix).max() <= 1e-7 * np.abs(matrix).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_stays(kind, special):
    x, arguments, matrix = numbers(2, 30, 64, 2, kind)
    x[1, 5] = special
    with np.errstate(invalid="ignore"):
        want = x.astype("f8") @ matrix.T
    got = product(x, arguments).numpy()
    assert np.allclose(got, want, rtol=1e-3, atol=1e-3, equal_nan=True)
    assert np.array_equal(product(x[:1], arguments).numpy(), got[:1])  # its neighbour's bits stay


@pytest.mark.parametrize("kind", KINDS)
def test_zeros_tiny_and_large_numbers(kind):
    x, arguments, matrix = numbers(3, 30, 64, 2, kind)
    x[0], x[1], x[2] = 0, x[1] * np.float32(1e-25), x[2] * np.float32(1e30)
    got, want = product(x, arguments).numpy(), x.astype("f8") @ matrix.T
    assert (np.abs(got - want).max(1) <= 6e-5 * np.abs(want).max(1)).all()
    # below 2^-100 numbers count as 0
    assert not product(x[1:2] * np.float32(1e-10), arguments).numpy().any()


@pytest.mark.parametrize("kind", KINDS)
def test_layouts(kind):
    x, arguments, _ = numbers(4, 30, 64, 2, kind)
    want = product(x, arguments)
    spread = [taeda.from_numpy(np.repeat(a, 2, 1))[:, ::2] for a in (x, *arguments)]
    row = taeda._weight_int8_mm if kind in BYTES else taeda._weight_int4_mm
    assert taeda.equal(row(*spread), want)
    assert taeda.equal(row(spread[0].reshape(2, 1, 2, 64), *spread[1:]), want.reshape(2, 1, 2, 30))
    assert row(spread[0][:0], *spread[1:]).shape == (0, 30)


@pytest.mark.parametrize("kind", KINDS)
def test_meta(kind):
    x, arguments, _ = numbers(4, 30, 64, 2, kind)
    row = taeda._weight_int8_mm if kind in BYTES else taeda._weight_int4_mm
    made = row(*(taeda.from_numpy(a).to("meta") for a in (x, *arguments)))
    assert (made.shape, made.dtype, made.device.type) == ((4, 30), taeda.float32, "meta")


def digest():
    """Of all products of few rows, whatever the instruction set."""
    found = hashlib.sha256()
    for m, n, k, groups in SIZES:
        for kind in KINDS:
            x, arguments, _ = numbers(min(m, 16), n, k, groups, kind)
            found.update(product(x, arguments).numpy().tobytes())
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


ONE = taeda.ones
Q8 = taeda.zeros(4, 64, dtype=taeda.int8)
Q4 = taeda.zeros(4, 64, dtype=taeda.uint8)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: taeda._weight_int8_mm(ONE(2, 64), ONE(4, 64), ONE(4, 2)), RuntimeError, "int8.*float32"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8[0], ONE(4, 2)), RuntimeError, r"\[64\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 32), Q8, ONE(4, 2)), RuntimeError, "32 bytes.*64"),
        (lambda: taeda._weight_int8_mm(ONE(2, 60), Q8, ONE(4, 2)), RuntimeError, "multiple of 32"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(3, 2)), RuntimeError, r"\[3, 2\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4, 3)), RuntimeError, r"\[4, 3\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4, 0)), RuntimeError, r"\[4, 0\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4)), RuntimeError, r"\[4\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4, 2).double()), NotImplementedError, "float64"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64).double(), Q8, ONE(4, 2)), NotImplementedError, "float64"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4, 2), ONE(5)), RuntimeError, r"\[4\].*\[5\]"),
        (lambda: taeda._weight_int8_mm(ONE(2, 64), Q8, ONE(4, 2), ONE(4).half()), RuntimeError, "float16"),
        (lambda: taeda._weight_int8_mm(ONE(()), Q8, ONE(4, 2)), RuntimeError, "1 dimension"),
        (lambda: taeda._weight_int4_mm(ONE(2, 160), Q4, ONE(4, 5)), RuntimeError, "128 bytes"),
        (lambda: taeda._weight_int4_mm(ONE(2, 64), Q8, ONE(4, 2)), RuntimeError, "uint8.*int8"),
        (lambda: taeda._weight_int4_mm(ONE(2, 64), Q4, ONE(4, 2), ONE(4, 1)), RuntimeError, "one shape"),
        (lambda: taeda._weight_int4_mm(ONE(2, 64), Q4, ONE(4, 2), ONE(4, 2).half()), RuntimeError,
         "one dtype"),
        (lambda: taeda._weight_int4_expand(Q4, ONE(4, 2), None, 0), RuntimeError, "multiple"),
        (lambda: taeda._weight_int8_expand(Q8, ONE(4, 8)), RuntimeError, r"16, 32.*\[4, 8\]"),
        (lambda: taeda._weight_int4_expand(Q4, ONE(4, 4), None, 64), RuntimeError, r"every 32.*\[4, 4\]"),
    ],
)  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1e29, 1e31, 3e37])
def test_numbers_near_infinity(kind, size):
    """The zero of 4 bits and the numbers themselves are sums apart, of which neither may overflow."""
    x, arguments, matrix = numbers(2, 30, 64, 2, kind)
    x[1] = size
    matrix, given = 0.01 * matrix, [arguments[0], *(0.01 * part for part in arguments[1:])]
    given = [part.astype(old.dtype) for part, old in zip(given, arguments, strict=True)]
    want = x.astype("f8") @ matrix.T
    got = product(x, given).numpy()
    assert np.abs(got[1] - want[1]).max() <= 1e-2 * np.abs(want[1]).max() + 1e-3 * size
    assert np.array_equal(product(x[:1], given).numpy(), got[:1])
