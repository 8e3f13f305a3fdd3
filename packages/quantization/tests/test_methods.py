"""What quantized tensors say of themselves, and what plain ones refuse."""

from __future__ import annotations

import pytest
from quantized_tensors import channels, numbers

import taeda


def test_facts():
    q = numbers(2, 3)
    assert q.is_quantized
    assert (q.dtype, q.layout, type(q)) == (taeda.quint8, taeda.strided, taeda.Tensor)
    assert (q.q_scale(), q.q_zero_point(), q.qscheme()) == (0.1, 10, taeda.per_tensor_affine)
    assert (q.stride(), q.is_contiguous(), q.t().stride(), q.t().is_contiguous()) == (
        (3, 1),
        True,
        (1, 3),
        False,
    )
    assert (q.element_size(), q.nbytes, q.storage_offset()) == (1, 6, 0)
    assert not taeda.ones(2).is_quantized


def test_the_integers_are_a_copy():
    q = numbers(2, 3)
    q.int_repr().zero_()
    assert int(q.int_repr().max()) > 0


def test_dequantize_takes_plain_tensors_and_lists():
    one = taeda.ones(2, dtype=taeda.float16)
    first, second = taeda.dequantize([numbers(2), one])
    assert first.dtype is second.dtype is taeda.float32
    assert second.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "name", ["int_repr", "qscheme", "q_scale", "q_zero_point", "q_per_channel_axis"]
)
def test_a_plain_tensor_has_no_integers(name):
    with pytest.raises(NotImplementedError, match=f"{name}: wanted a quantized tensor"):
        getattr(taeda.ones(2), name)()


def test_one_scale_and_channels_are_told_apart():
    with pytest.raises(RuntimeError, match="use q_per_channel_scales"):
        channels(2, 3).q_scale()
    with pytest.raises(RuntimeError, match="use q_scale"):
        numbers(2, 3).q_per_channel_scales()


def test_text():
    q = taeda.quantize_per_tensor(taeda.tensor([0.1, -0.2]), 0.1, 2, taeda.quint8)
    assert repr(q) == (
        "tensor([ 0.1000, -0.2000], size=(2,), dtype=taeda.quint8,\n"
        "       quantization_scheme=taeda.per_tensor_affine, scale=0.1, zero_point=2)"
    )
    assert "axis=0" in repr(channels(2, 3))
    assert repr(numbers(0)).startswith("tensor([], size=(0,)")


def test_no_kernel_meets_the_integers():
    q = numbers(2, 2)
    for call in (
        lambda: q + q,
        lambda: q @ q,
        lambda: q.sum(),
        lambda: taeda.nn.functional.linear(q, q),
    ):
        with pytest.raises(NotImplementedError, match="no kernel for a quantized tensor"):
            call()
    for call in (q.float, lambda: q.to(taeda.int8), q.untyped_storage, q.tolist):
        with pytest.raises(RuntimeError, match="quantized tensor"):
            call()
    with pytest.raises(TypeError, match="quint8"):
        q.numpy()
    with pytest.raises(RuntimeError, match="floating point"):
        q.requires_grad_()


def test_others_know_them_or_refuse():
    q = numbers(2, 2)
    taeda.testing.assert_close(q, q.clone())
    with pytest.raises(AssertionError, match="not close"):
        taeda.testing.assert_close(q, numbers(2, 2, zero=12))
    with pytest.raises(NotImplementedError, match="a quantized tensor, which is not mapped over"):
        taeda.func.vmap(lambda x: x)(q)
    for call in (lambda: memoryview(q), lambda: taeda.utils.dlpack.to_dlpack(q)):
        with pytest.raises(BufferError):
            call()
