"""Factories: values against numpy, dtypes that follow from arguments, layouts, sizes at the edge,
refusals.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda

INTEGERS = [taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64]
FLOATS = [taeda.float16, taeda.bfloat16, taeda.float32, taeda.float64]
COMPLEX = [taeda.complex64, taeda.complex128]
ALL = [taeda.bool, *INTEGERS, *FLOATS, *COMPLEX]


@pytest.mark.parametrize("dtype", ALL, ids=str)
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3)])
def test_constant_factories(shape, dtype):
    for made, value in (
        (taeda.zeros(shape, dtype=dtype), 0),
        (taeda.ones(shape, dtype=dtype), 1),
        (taeda.full(shape, 1, dtype=dtype), 1),
    ):
        assert (made.shape, made.dtype) == (shape, dtype)
        assert (
            made.tolist()
            == np.full(shape, value, np.dtype(complex) if dtype in COMPLEX else float).tolist()
        )
    assert taeda.empty(shape, dtype=dtype).shape == shape


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(True, taeda.bool), (3, taeda.int64), (2.5, taeda.float32), (1j, taeda.complex64)],
)
def test_full_takes_its_dtype_from_the_value(value, dtype):
    assert taeda.full((2,), value).dtype is dtype
    assert taeda.full((2,), value).tolist() == [value, value]


def test_float_factories_follow_the_default_dtype():
    before = taeda.get_default_dtype()
    taeda.set_default_dtype(taeda.float64)
    try:
        assert {
            taeda.zeros(1).dtype,
            taeda.full((1,), 1.0).dtype,
            taeda.arange(1.0).dtype,
            taeda.eye(1).dtype,
        } == {taeda.float64}
        assert taeda.full((1,), 1j).dtype is taeda.complex128
        assert taeda.arange(3).dtype is taeda.int64
    finally:
        taeda.set_default_dtype(before)


def test_minus_one_wraps_in_unsigned_dtypes_and_more_does_not():
    assert taeda.full((1,), -1, dtype=taeda.uint8).item() == 255
    assert taeda.full((1,), 2**64 - 1, dtype=taeda.uint64).item() == 2**64 - 1
    with pytest.raises(RuntimeError, match=r"300.*uint8"):
        taeda.full((1,), 300, dtype=taeda.uint8)


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(200.7, taeda.int8), (127.9, taeda.int8), (-0.5, taeda.uint8), (-1.0, taeda.uint8),
     (math.nan, taeda.int64), (math.inf, taeda.int32),
     (1e30, taeda.int64), (-256, taeda.uint8), (2.0**63, taeda.int64), (-1.0, taeda.uint64)],
)  # fmt: skip
def test_numbers_that_an_integer_dtype_does_not_hold_are_refused(value, dtype):
    for make in (taeda.tensor, lambda v, dtype: taeda.full((1,), v, dtype=dtype)):
        with pytest.raises(RuntimeError, match=r"cannot be converted to type u?int"):
            make(value, dtype=dtype)


def test_fractions_of_fitting_numbers_are_cut_off():
    assert taeda.tensor([126.9, -127.9], dtype=taeda.int8).tolist() == [126, -127]
    assert taeda.tensor([-0.0, 254.99], dtype=taeda.uint8).tolist() == [0, 254]
    assert taeda.tensor([-(2.0**63)], dtype=taeda.int64).item() == -(2**63)


def test_complex_numbers_become_truth_values_and_nothing_else_real():
    assert taeda.tensor([1j, 0j], dtype=taeda.bool).tolist() == [True, False]
    with pytest.raises(TypeError, match="real number for dtype float32, not complex: 1j"):
        taeda.tensor([1j], dtype=taeda.float32)


# ---- like another tensor ----


def test_like_keeps_the_order_of_dimensions():
    x = taeda.ones(2, 3, 4).transpose(0, 2)
    assert taeda.zeros_like(x).stride() == x.stride()
    assert taeda.empty_like(x[::2]).stride() == (1, 2, 6)
    assert taeda.empty_like(taeda.ones(1, 4).expand(3, 4)).stride() == (4, 1)
    assert taeda.ones_like(x, memory_format=taeda.contiguous_format).stride() == (6, 2, 1)
    assert taeda.full_like(x, 2.7, dtype=taeda.int16).dtype is taeda.int16
    assert taeda.full_like(taeda.ones(2, dtype=taeda.int64), 2.7).tolist() == [2, 2]


def test_new_forms_take_dtype_and_device():
    x = taeda.ones(2, dtype=taeda.int8)
    assert x.new_full((2, 2), 5).tolist() == [[5, 5], [5, 5]]
    assert x.new_zeros(3).dtype is taeda.int8
    assert x.to("meta").new_ones(3).device.type == "meta"
    assert x.new_empty_strided((2, 3), (1, 2)).stride() == (1, 2)


def test_strided_and_permuted_memory():
    assert taeda.empty(2, 3, 4, 5, memory_format=taeda.channels_last).stride() == (60, 1, 15, 3)
    assert taeda.empty_strided((2, 3), (0, 1)).stride() == (0, 1)
    assert taeda.empty_permuted((2, 3, 4), (2, 0, 1)).stride() == (3, 1, 6)


# ---- equal steps ----


@pytest.mark.parametrize("dtype", [None, *INTEGERS[1:], *FLOATS[1:]], ids=str)
@pytest.mark.parametrize(
    "arguments", [(5,), (2, 7), (1, 10, 3), (5, 0, -2), (0, 0), (-3, 3, 1), (3, 3, 7)]
)
def test_arange_of_integers(arguments, dtype):
    made = taeda.arange(*arguments, dtype=dtype)
    assert made.tolist() == np.arange(*arguments).tolist()
    assert made.dtype is (dtype or taeda.int64)


@pytest.mark.parametrize(
    "arguments", [(0, 1, 0.1), (0.5, 3.0, 0.25), (1, -1, -0.3), (0, 5, 2.0), (2.5,)]
)
def test_arange_has_as_many_places_as_steps_fit(arguments):
    made = taeda.arange(*arguments, dtype=taeda.float64)
    expected = np.arange(*map(float, arguments))
    assert made.shape == expected.shape
    assert np.allclose(made.tolist(), expected, rtol=1e-12)
    assert taeda.arange(*arguments).dtype is taeda.float32


def test_arange_counts_exactly_near_the_ends_of_int64():
    top = 2**63 - 1
    assert taeda.arange(top, top - 2, -1).tolist() == [top, top - 1]
    assert taeda.arange(-(2**63), top, 2**62).tolist() == [-(2**63), -(2**62), 0, 2**62]
    assert taeda.arange(0, 2**62, 2**60).numel() == 4


@pytest.mark.parametrize("steps", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("ends", [(0, 1), (3, -7), (2.5, 2.5), (0, 1e6)])
def test_linspace_and_logspace(ends, steps):
    made = taeda.linspace(*ends, steps, dtype=taeda.float64)
    assert np.allclose(made.tolist(), np.linspace(*ends, steps), rtol=1e-13)
    if steps > 1:
        assert (made[0].item(), made[-1].item()) == ends
    powers = taeda.logspace(0, 2, steps, base=3.0, dtype=taeda.float64)
    assert np.allclose(powers.tolist(), np.logspace(0, 2, steps, base=3.0), rtol=1e-12)


def test_linspace_of_other_kinds():
    assert taeda.linspace(0, 10, 4, dtype=taeda.int64).tolist() == [0, 3, 6, 10]
    assert taeda.linspace(0, 1j, 3).tolist() == [0, 0.5j, 1j]
    assert taeda.linspace(taeda.tensor(1.0), 3, 3).tolist() == [1.0, 2.0, 3.0]
    assert taeda.range(1, 2, 0.5).tolist() == [1.0, 1.5, 2.0]


# ---- matrices ----


@pytest.mark.parametrize("diagonal", [-9, -2, -1, 0, 1, 3, 2**62, -(2**62)])
@pytest.mark.parametrize(
    "make",
    [
        lambda: taeda.arange(12.0).reshape(3, 4),
        lambda: taeda.arange(24.0).reshape(2, 3, 4).transpose(0, 2),
        lambda: taeda.ones(3, 3, dtype=taeda.bool),
        lambda: taeda.zeros(0, 3),
    ],
)
def test_triangles(make, diagonal):
    x = make()
    clipped = max(-100, min(100, diagonal))
    assert (
        taeda.tril(x, diagonal).tolist()
        == np.tril(np.array(x.tolist()).reshape(x.shape), clipped).tolist()
    )
    assert (
        taeda.triu(x, diagonal).tolist()
        == np.triu(np.array(x.tolist()).reshape(x.shape), clipped).tolist()
    )


def test_triangles_of_huge_shapes_are_counted_without_a_walk():
    assert taeda.triu_indices(2**62, 3).tolist() == [[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]
    assert taeda.tril_indices(2**63 - 1, 3, -(2**63)).shape == (2, 0)
    with pytest.raises(RuntimeError, match="overflowed"):
        taeda.tril_indices(2**62, 2**62)


@pytest.mark.parametrize("offset", [-5, -1, 0, 1, 5])
@pytest.mark.parametrize(("rows", "columns"), [(3, 3), (2, 4), (4, 2), (0, 3)])
def test_indices_of_triangles(rows, columns, offset):
    assert taeda.tril_indices(rows, columns, offset).tolist() == [
        list(i) for i in np.tril_indices(rows, offset, columns)
    ]
    assert taeda.triu_indices(rows, columns, offset).tolist() == [
        list(i) for i in np.triu_indices(rows, offset, columns)
    ]


def test_diagonals():
    v = taeda.tensor([1.0, 2.0])
    assert taeda.eye(2, 3).tolist() == np.eye(2, 3).tolist()
    assert taeda.diag(v, 1).tolist() == np.diag([1.0, 2.0], 1).tolist()
    assert taeda.diag(taeda.arange(6.0).reshape(2, 3), -1).tolist() == [3.0]
    assert taeda.diag_embed(taeda.ones(2, 3), 1, 0, -1).shape == (4, 2, 4)
    assert taeda.diagflat(taeda.tensor([[1.0], [2.0]])).tolist() == [[1.0, 0.0], [0.0, 2.0]]


# ---- writing ----


def test_fill_and_copy_write_into_views():
    x = taeda.zeros(2, 3)
    assert x.t()[1].fill_(2) is not x
    assert x.tolist() == [[0.0, 2.0, 0.0]] * 2
    assert x.copy_(taeda.arange(3)).tolist() == [[0.0, 1.0, 2.0]] * 2
    assert x.fill_(taeda.tensor(7)).zero_().sum().item() == 0
    assert taeda.zeros(1).expand(3).fill_(2).tolist() == [2.0] * 3
    assert taeda.fill(x, 3.0).tolist() == [[3.0] * 3] * 2


def test_complex_numbers_from_parts():
    z = taeda.complex(taeda.tensor([1.0, 2.0]), taeda.tensor([[3.0], [math.inf]]))
    assert z.dtype is taeda.complex64
    assert z.tolist() == [[1 + 3j, 2 + 3j], [complex(1, math.inf), complex(2, math.inf)]]
    assert np.allclose(
        taeda.polar(taeda.tensor([2.0]), taeda.tensor([math.pi / 2])).tolist(), [2j], atol=1e-6
    )


# ---- refusals ----

REFUSALS = [
    (lambda: taeda.zeros(2, -1), RuntimeError, r"-1.*\[2, -1\]"),
    (lambda: taeda.empty(2**62, 2**62), RuntimeError, "overflow"),
    (lambda: taeda.zeros(2, pin_memory=True), RuntimeError, "pin_memory"),
    (lambda: taeda.empty(2, memory_format=taeda.preserve_format), RuntimeError, "preserve_format"),
    (lambda: taeda.empty(2, 2, memory_format=taeda.channels_last), RuntimeError, "rank 4"),
    (lambda: taeda.empty_strided((2, 3), (1,)), RuntimeError, r"\[2, 3\].*\[1\]"),
    (lambda: taeda.empty_strided((2, 3), (-1, 1)), RuntimeError, "negative"),
    (lambda: taeda.empty_permuted((2, 3), (0, 0)), RuntimeError, "multiple"),
    (lambda: taeda.empty_permuted([1] * 65, list(range(65))), RuntimeError, "at most 64"),
    (lambda: taeda.full((2,), 1j, dtype=taeda.float32), RuntimeError, "float32"),
    (lambda: taeda.full((2,), 2**63), RuntimeError, "int64"),
    (lambda: taeda.full((2,), 1e300, dtype=taeda.float32), RuntimeError, "float32"),
    (lambda: taeda.full((2,), math.nan, dtype=taeda.int32), RuntimeError, "int32"),
    (lambda: taeda.arange(0, 1, 0), RuntimeError, "nonzero"),
    (lambda: taeda.arange(3, 1), RuntimeError, "inconsistent"),
    (lambda: taeda.arange(math.nan), RuntimeError, "unsupported range"),
    (lambda: taeda.arange(0, 1e19, dtype=taeda.float64), RuntimeError, "size"),
    (lambda: taeda.arange(0, 1, 0.1, dtype=taeda.int64), RuntimeError, "0.1 is 0 as int64"),
    (lambda: taeda.arange(3, dtype=taeda.complex64), NotImplementedError, "ComplexFloat"),
    (lambda: taeda.arange(3, dtype=taeda.bool), NotImplementedError, "Bool"),
    (lambda: taeda.linspace(0, 1, -1), RuntimeError, "non-negative"),
    (lambda: taeda.linspace(taeda.ones(2), 1, 3), RuntimeError, "0-dimensional"),
    (lambda: taeda.eye(-1), RuntimeError, "-1"),
    (lambda: taeda.tril(taeda.ones(3)), RuntimeError, "2 dimensions"),
    (lambda: taeda.tril_indices(-1, 2), RuntimeError, "-1"),
    (lambda: taeda.tril_indices(2, 2, dtype=taeda.float32), NotImplementedError, "Float"),
    (lambda: taeda.diag(taeda.ones(2, 2, 2)), RuntimeError, "3D"),
    (lambda: taeda.diag_embed(taeda.ones(2), 0, 1, 1), RuntimeError, "identical"),
    (lambda: taeda.ones(2, dtype=taeda.int8).fill_(300), RuntimeError, "int8"),
    (lambda: taeda.ones(2).fill_(taeda.ones(2)), RuntimeError, "0-dimension"),
    (lambda: taeda.zeros(1).expand(3).copy_(taeda.ones(3)), RuntimeError, "single memory location"),
    (lambda: taeda.zeros(2).copy_(taeda.ones(3)), RuntimeError, r"\[3\].*\[2\]"),
    (
        lambda: taeda.complex(taeda.ones(2), taeda.ones(2, dtype=taeda.float64)),
        RuntimeError,
        "Float.*Double",
    ),
    (
        lambda: taeda.complex(taeda.ones(2, dtype=taeda.int64), taeda.ones(2, dtype=taeda.int64)),
        RuntimeError,
        "Long",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSALS)
def test_refuses(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


FACTORIES = {
    "empty": (2,), "zeros": (2,), "ones": (2,), "full": ((2,), 1.0), "rand": (2,), "randn": (2,),
    "randint": (3, (2,)), "eye": (2,),
    "arange": (2,), "linspace": (0, 1, 2), "logspace": (0, 1, 2), "randperm": (2,), "tensor": ([1, 2],),
}  # fmt: skip


@pytest.mark.parametrize("name", FACTORIES)
def test_factories_follow_the_default_device(name):
    make, args = getattr(taeda, name), FACTORIES[name]
    with taeda.device("meta"):
        assert make(*args).is_meta
        assert make(*args, device=None).is_meta
        assert make(*args, device="cpu").is_cpu
        with taeda.device("cpu"):
            assert make(*args).is_cpu
    assert make(*args).is_cpu


def test_what_follows_a_tensor_stays_on_its_device():
    x = taeda.ones(2)
    with taeda.device("meta"):
        assert taeda.zeros_like(x).is_cpu
        assert x.new_ones(3).is_cpu
        assert (x + 1).is_cpu
    taeda.set_default_device("meta")
    try:
        assert taeda.ones(2).is_meta
    finally:
        taeda.set_default_device(None)
    assert taeda.ones(2).is_cpu
