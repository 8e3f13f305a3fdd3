"""What a quantized tensor is made of."""

from __future__ import annotations

import pytest
from quantized_tensors import channels, every, numbers

import taeda
from taeda.quantization._parts import is_quantized, parts_of, tensor_of


@pytest.mark.parametrize("kind", every())
def test_parts_make_the_same_tensor(kind):
    x = every()[kind]
    assert is_quantized(x)
    assert taeda.equal(tensor_of(parts_of(x, "f")), x)
    assert parts_of(x, "f").named()[0][1].shape == x.shape


def test_a_plain_tensor_has_none():
    assert not is_quantized(taeda.ones(2))
    assert not is_quantized(1)
    with pytest.raises(NotImplementedError, match="f: wanted a quantized tensor, but got int"):
        parts_of(1, "f")


def test_like_keeps_scales():
    made = tensor_of(parts_of(channels(2, 3), "f").like(taeda.zeros(2, 3, dtype=taeda.int8)))
    assert taeda.equal(made.q_per_channel_scales(), channels(2, 3).q_per_channel_scales())
    assert numbers(2).device.type == "cpu"


def test_what_is_made_of_integers_is_kept_until_a_write():
    x = numbers(2, 3, dtype=taeda.qint8)
    parts = parts_of(x, "f")

    def sums():
        return parts.kept("sums", lambda: parts.integers.sum(1, dtype=taeda.int32))

    kept = sums()
    assert sums() is kept
    assert parts.kept("other", lambda: 1) == 1
    x[0] = 0.0
    assert taeda.equal(sums(), x.int_repr().sum(1, dtype=taeda.int32))
    assert not taeda.equal(sums(), kept)


def test_of_tensors_of_inference_mode_nothing_is_kept():
    with taeda.inference_mode():
        parts = parts_of(numbers(2, 3), "f")
        assert parts.kept("f", object) is not parts.kept("f", object)
