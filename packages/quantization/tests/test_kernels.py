"""Layers on integers beside sums in int64."""

from __future__ import annotations

import threading

import pytest
from quantized_tensors import numbers

import taeda
from taeda.quantization import _kernels

F = taeda.nn.functional


def weight(*shape, channels=False, transposed=False):
    taeda.manual_seed(1)
    floats = taeda.randn(*shape)
    if channels:
        scales = 0.02 * (1 + taeda.arange(shape[0]))
        zeros = taeda.zeros(shape[0], dtype=taeda.int64)
        return taeda.quantize_per_channel(floats, scales, zeros, 0, taeda.qint8)
    return taeda.quantize_per_tensor(floats, 0.03, 0, taeda.qint8)


@pytest.mark.parametrize("dtype", [taeda.quint8, taeda.qint8], ids=str)
@pytest.mark.parametrize("channels", [False, True])
def test_linear(dtype, channels):
    x, w, b = numbers(4, 3, 33, dtype=dtype), weight(7, 33, channels=channels), taeda.randn(7)
    made = _kernels.linear(x, w, b, 0.2, 5)
    wanted = F.linear(x.dequantize().double(), w.dequantize().double(), b.double())
    low, high = (
        ((0 - 5) * 0.2, (255 - 5) * 0.2) if dtype is taeda.quint8 else (-133 * 0.2, 122 * 0.2)
    )
    assert float((made.dequantize() - wanted.clamp(low, high)).abs().max()) <= 0.1001
    assert float(_kernels.linear(x, w, b, 0.2, 5, relu=True).dequantize().min()) >= 0


def test_a_dynamic_layer_is_near_the_float_one():
    x, w, b = taeda.randn(4, 33), weight(7, 33, channels=True), taeda.randn(7)
    wanted = F.linear(x, w.dequantize(), b)
    assert float((_kernels.dynamic_linear(x, w, b) - wanted).abs().max()) < 0.3
    assert tuple(_kernels.dynamic_linear(taeda.empty(0, 33), w, b).shape) == (0, 7)
    with pytest.raises(RuntimeError, match="finite numbers"):
        _kernels.dynamic_linear(taeda.full((2, 33), float("nan")), w, b)


CONVS = [
    ((2, 4, 9), (6, 4, 3), (2,), (1,), (1,), 1),
    ((2, 4, 9, 8), (6, 2, 3, 3), (1, 2), (1, 0), (2, 1), 2),
    ((1, 3, 5, 6, 7), (4, 3, 2, 3, 1), (1, 1, 2), (1, 1, 0), (1, 1, 1), 1),
]


def results(sums, x_scale, w, bias, scale, zero):
    """Integers of exact sums, each step rounded to float32."""
    both = taeda.tensor(x_scale) * w.q_per_channel_scales().float()
    shape = (1, -1, *(1,) * (sums.dim() - 2))
    made = sums.float() + (bias / both).reshape(shape)
    rounded = (made * (both / taeda.tensor(scale)).reshape(shape)).round() + zero
    return rounded.clamp(0, 255).to(taeda.uint8)


@pytest.mark.parametrize(("size", "shape", "stride", "padding", "dilation", "groups"), CONVS)
def test_convolutions_round_exact_sums(size, shape, stride, padding, dilation, groups):
    x, w, bias = numbers(*size), weight(*shape, channels=True), taeda.randn(shape[0])
    made = _kernels.convolution(x, w, bias, stride, padding, dilation, groups, 0.3, 90)
    function = getattr(F, f"conv{len(stride)}d")
    centred = (x.int_repr().double() - 10, w.int_repr().double())
    sums = function(*centred, None, stride, padding, dilation, groups)
    assert taeda.equal(made.int_repr(), results(sums, x.q_scale(), w, bias, 0.3, 90))
    assert made.int_repr().movedim(1, -1).is_contiguous()


# within the window, of it, and beyond
@pytest.mark.parametrize("padding", [(1, 0), (2, 1), (4, 3)])
def test_transposed_convolutions_round_exact_sums(padding):
    x, w, bias = numbers(2, 6, 5, 4), weight(6, 3, 3, 2), taeda.randn(6)
    stride, more, dilation, groups = (2, 3), (1, 2), (1, 1), 2
    made = _kernels.transposed_convolution(
        x, w, bias, stride, padding, more, dilation, groups, 0.3, 90
    )
    centred = (x.int_repr().double() - 10, w.int_repr().double())
    sums = F.conv_transpose2d(*centred, None, stride, padding, more, groups, dilation)
    each = taeda.quantize_per_channel(
        taeda.zeros(6, 1), taeda.full((6,), 0.03), taeda.zeros(6, dtype=taeda.int64), 0, taeda.qint8
    )
    assert taeda.equal(made.int_repr(), results(sums, x.q_scale(), each, bias, 0.3, 90))


def test_a_weight_that_was_written_into_is_packed_again():
    x, w = numbers(3, 33), weight(7, 33)
    _kernels.linear(x, w, None, 0.2, 5)
    w[:] = taeda.zeros(7, 33)
    assert not bool(_kernels.linear(x, w, None, 0.2, 5).dequantize().any())


def test_another_thread_may_write_a_weight_meanwhile():
    x, w = taeda.randn(4, 64), weight(32, 64)
    stop = threading.Event()

    def write():
        while not stop.is_set():
            w[:] = taeda.zeros(32, 64)
            w[:] = taeda.ones(32, 64)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            assert bool(_kernels.dynamic_linear(x, w, None).isfinite().all())
    finally:
        stop.set()
        writer.join()
    w[:] = taeda.zeros(32, 64)
    assert not bool(_kernels.dynamic_linear(x, w, None).any())


def test_what_is_refused():
    w = weight(7, 33)
    with pytest.raises(NotImplementedError, match="quantized linear: wanted a quantized tensor"):
        _kernels.linear(taeda.ones(2, 33), w, None, 0.1, 0)
    with pytest.raises(RuntimeError, match="weight in qint8"):
        _kernels.linear(numbers(2, 33), taeda.ones(7, 33), None, 0.1, 0)
    with pytest.raises(RuntimeError, match="33 input features"):
        _kernels.linear(numbers(2, 32), w, None, 0.1, 0)
    with pytest.raises(RuntimeError, match="wanted float32"):
        _kernels.dynamic_linear(numbers(2, 33), w, None)
    with pytest.raises(RuntimeError, match="does not fit"):
        _kernels.convolution(numbers(1, 4, 2), weight(6, 4, 3), None, (1,), (0,), (1,), 1, 0.1, 0)
    with pytest.raises(RuntimeError, match="wanted 4 channels"):
        _kernels.convolution(numbers(1, 3, 9), weight(6, 4, 3), None, (1,), (0,), (1,), 1, 0.1, 0)
