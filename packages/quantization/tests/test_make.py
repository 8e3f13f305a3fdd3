"""Floats become integers with a scale, and back."""

from __future__ import annotations

import math

import pytest
from every_kind import KINDS, refused

import taeda


def test_ties_go_to_the_even_integer_after_the_zero_point_was_added():
    x = taeda.tensor([0.5, 1.5, -0.5])
    even = taeda.quantize_per_tensor(x, 1.0, 8, taeda.quint8)
    odd = taeda.quantize_per_tensor(x, 1.0, 7, taeda.quint8)
    assert even.int_repr().tolist() == [8, 10, 8]
    assert odd.int_repr().tolist() == [8, 8, 6]


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [(taeda.quint8, [255, 255, 0]), (taeda.qint8, [127, 127, -128]),
     (taeda.qint32, [-(2**31), 2**31 - 1, -(2**31)])],
)  # fmt: skip
def test_what_is_no_number_or_infinite(dtype, wanted):
    x = taeda.tensor([math.nan, math.inf, -math.inf])
    assert taeda.quantize_per_tensor(x, 0.1, 0, dtype).int_repr().tolist() == wanted


def test_zero_is_exact_in_every_dtype():
    for dtype in (taeda.quint8, taeda.qint8, taeda.qint32, taeda.quint4x2, taeda.quint2x4):
        q = taeda.quantize_per_tensor(taeda.zeros(3), 0.37, 3, dtype)
        assert q.dequantize().tolist() == [0.0, 0.0, 0.0]


def test_channels_have_scales_of_their_own():
    x = taeda.tensor([[1.0, 2.0], [1.0, 2.0]])
    q = taeda.quantize_per_channel(
        x, taeda.tensor([1.0, 0.5]), taeda.tensor([3, 4]), 0, taeda.qint8
    )
    assert q.int_repr().tolist() == [[4, 5], [6, 8]]
    assert taeda.equal(q.dequantize(), x)
    assert q.q_per_channel_scales().dtype is taeda.float64
    assert q.q_per_channel_zero_points().tolist() == [3, 4]
    assert q.q_per_channel_axis() == 0
    assert q.qscheme() is taeda.per_channel_affine


def test_zero_points_in_float_are_kept():
    q = taeda.quantize_per_channel(
        taeda.ones(2, 4), taeda.tensor([0.1, 0.2]), taeda.tensor([0.5, 1.5]), 0, taeda.quint4x2
    )
    assert q.qscheme() is taeda.per_channel_affine_float_qparams
    assert q.int_repr().tolist() == [10 | 10 << 4] * 2 + [6 | 6 << 4] * 2


def test_a_list_of_tensors():
    made = taeda.quantize_per_tensor(
        [taeda.ones(2), taeda.ones(1)], taeda.tensor([0.5, 0.25]), taeda.tensor([0, 1]), taeda.qint8
    )
    assert [x.int_repr().tolist() for x in made] == [[2, 2], [5]]


def test_the_range_of_the_numbers():
    q = taeda.quantize_per_tensor_dynamic(taeda.tensor([-1.0, 3.0]), taeda.quint8, False)
    assert (q.q_scale(), q.q_zero_point()) == (4.0 / 255, 64)
    narrow = taeda.quantize_per_tensor_dynamic(taeda.tensor([-1.0, 3.0]), taeda.quint8, True)
    assert int(narrow.int_repr().max()) == 127


@pytest.mark.parametrize("scale", [0.0, -1.0, math.nan, math.inf])
def test_a_scale_that_is_not_above_0_is_refused(scale):
    with pytest.raises(RuntimeError, match="scale above 0"):
        taeda.quantize_per_tensor(taeda.ones(2), scale, 0, taeda.qint8)
    with pytest.raises(RuntimeError, match="scales above 0"):
        taeda.quantize_per_channel(
            taeda.ones(1, 2), taeda.tensor([scale]), taeda.tensor([0]), 0, taeda.qint8
        )


def test_bad_arguments_say_what_was_wanted():
    x = taeda.ones(2, 2)
    one, none = taeda.tensor([1.0, 1.0]), taeda.tensor([0, 0])
    with pytest.raises(RuntimeError, match="only float32"):
        taeda.quantize_per_tensor(x.double(), 0.1, 0, taeda.qint8)
    with pytest.raises(RuntimeError, match="zero_point 300 is out of the range"):
        taeda.quantize_per_tensor(x, 0.1, 300, taeda.quint8)
    with pytest.raises(RuntimeError, match="holds no quantized numbers"):
        taeda.quantize_per_tensor(x, 0.1, 0, taeda.float32)
    with pytest.raises(RuntimeError, match="axis out of range, got 2"):
        taeda.quantize_per_channel(x, one, none, 2, taeda.qint8)
    with pytest.raises(RuntimeError, match="vectors of one length"):
        taeda.quantize_per_channel(x, one, none[:1], 0, taeda.qint8)
    with pytest.raises(RuntimeError, match="wanted 2 scales"):
        taeda.quantize_per_channel(x, one[:1], none[:1], 0, taeda.qint8)
    with pytest.raises(TypeError, match="wanted a Tensor"):
        taeda.quantize_per_tensor(1.0, 0.1, 0, taeda.qint8)
    for bad in (math.nan, math.inf):
        with pytest.raises(RuntimeError, match="wants finite numbers"):
            taeda.quantize_per_tensor_dynamic(taeda.tensor([bad, 1.0]), taeda.quint8, False)
    with pytest.raises(RuntimeError, match="no numbers"):
        taeda.quantize_per_tensor_dynamic(taeda.empty(0), taeda.quint8, False)


def test_integers_that_are_there_already():
    q = taeda._make_per_tensor_quantized_tensor(taeda.tensor([1, 2], dtype=taeda.int8), 0.5, 1)
    assert (q.dtype, q.dequantize().tolist()) == (taeda.qint8, [0.0, 0.5])
    c = taeda._make_per_channel_quantized_tensor(
        taeda.tensor([[1, 2]], dtype=taeda.uint8), taeda.tensor([0.5]), taeda.tensor([1]), 0
    )
    assert c.dequantize().tolist() == [[0.0, 0.5]]
    empty = taeda._empty_affine_quantized([2, 3], scale=0.5, zero_point=1, dtype=taeda.quint8)
    assert (tuple(empty.shape), empty.q_scale()) == ((2, 3), 0.5)


ONES, ZEROS = taeda.ones(2), taeda.zeros(2, dtype=taeda.int64)
MADE_OF = {
    "input": lambda x: taeda.quantize_per_tensor(x, 0.1, 3, taeda.quint8),
    "scale": lambda x: taeda.quantize_per_tensor(ONES, x, 3, taeda.quint8),
    "zero_point": lambda x: taeda.quantize_per_tensor(ONES, 0.1, x, taeda.quint8),
    "input of channels": lambda x: taeda.quantize_per_channel(x, ONES, ZEROS, 0, taeda.qint8),
    "scales": lambda x: taeda.quantize_per_channel(ONES, x, ZEROS, 0, taeda.qint8),
    "zero points": lambda x: taeda.quantize_per_channel(ONES, ONES, x, 0, taeda.qint8),
    "input of a range": lambda x: taeda.quantize_per_tensor_dynamic(x, taeda.quint8, False),
    "integers": lambda x: taeda._make_per_tensor_quantized_tensor(x, 0.1, 3),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", MADE_OF)
def test_parts_are_plain_tensors(part, kind):
    assert "must be a plain tensor, but got a" in refused(MADE_OF[part], kind)


def test_half_precision_has_no_scale():
    x = taeda.tensor([0.1, 2.0])
    made = taeda.quantize_per_tensor_dynamic(x, taeda.float16, False)
    assert taeda.equal(made, x.half())
    assert taeda.equal(made.dequantize(), x.half().float())


@pytest.mark.parametrize("zero", [1.5, float("nan"), "1", None])
def test_a_zero_point_is_an_integer(zero):
    with pytest.raises(TypeError, match="zero_point"):
        taeda.quantize_per_tensor(taeda.ones(2), 0.5, zero, taeda.quint8)


@pytest.mark.parametrize("scale", [1e-45, 1e39])
def test_a_scale_that_float32_does_not_hold(scale):
    with pytest.raises(RuntimeError, match="1 / scale are float32"):
        taeda.quantize_per_tensor(taeda.ones(2), scale, 0, taeda.quint8)
