"""Packed weights: what they keep, what a convolution makes of them, and what is refused."""

import pytest

import taeda
from taeda.nn import functional as F
from taeda.quantization._packed_weights import ConvWeight, LinearWeight, weight_in

SCALE, ZERO = 0.25, 3


def quantized(*size, scale=0.05, zero=0, dtype=taeda.qint8):
    taeda.manual_seed(7)
    return taeda.quantize_per_tensor(taeda.randn(*size), scale, zero, dtype)


def conv(weight, bias=None, rank=2, groups=1, output_padding=None):
    return ConvWeight(
        weight, bias, [1] * rank, [1] * rank, output_padding, [1] * rank, groups, rank
    )


def test_it_keeps_weight_and_bias_without_their_gradients():
    weight, bias = quantized(4, 3), taeda.randn(4, requires_grad=True)
    kept, beside = LinearWeight(weight, bias).own
    assert taeda.equal(kept, weight) and kept.data_ptr() == weight.data_ptr()
    assert taeda.equal(beside, bias) and not beside.requires_grad
    assert LinearWeight(weight, None).own[1] is None


@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("relu", [False, True])
def test_a_convolution_is_the_float_one_rounded_to_the_scale(rank, groups, relu):
    x = quantized(2, 4, *[6] * rank, scale=0.1, zero=5, dtype=taeda.quint8)
    weight, bias = quantized(8, 4 // groups, *[3] * rank), taeda.linspace(-1, 1, 8)
    got = conv(weight, bias, rank, groups).run(x, SCALE, ZERO, relu)
    convolve = F.conv1d if rank == 1 else F.conv2d
    exact = convolve(x.dequantize(), weight.dequantize(), bias, padding=1, groups=groups)
    wanted = exact.relu() if relu else exact
    assert (got.q_scale(), got.q_zero_point()) == (SCALE, ZERO)
    held = wanted.clamp((0 - ZERO) * SCALE, (255 - ZERO) * SCALE)
    # half a step, and a float's rounding where the exact number is a tie
    assert (got.dequantize() - held).abs().max() <= SCALE / 2 + 1e-5


def test_a_transposed_convolution_is_the_float_one_rounded_to_the_scale():
    x = quantized(1, 4, 5, scale=0.1, zero=5, dtype=taeda.quint8)
    weight = quantized(4, 2, 3)
    got = conv(weight, rank=1, output_padding=[0]).run(x, SCALE, ZERO, False)
    exact = F.conv_transpose1d(x.dequantize(), weight.dequantize(), padding=1)
    held = exact.clamp((0 - ZERO) * SCALE, (255 - ZERO) * SCALE)
    assert (got.dequantize() - held).abs().max() <= SCALE / 2 + 1e-5


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rank", [1, 2])
def test_it_is_of_one_rank_and_one_direction(rank, turned):
    packed = conv(quantized(4, 4, *[3] * rank), None, rank, 1, [0] * rank if turned else None)
    assert packed.of_rank(rank, turned, "conv") is packed
    for other in ((rank + 1, turned), (rank, not turned)):
        with pytest.raises(RuntimeError, match=r"conv: .* another kind of convolution"):
            packed.of_rank(*other, "conv")


@pytest.mark.parametrize("place", ["stride", "padding", "output_padding", "dilation"])
def test_every_list_has_a_number_a_dimension(place):
    lists = {name: [1, 1] for name in ("stride", "padding", "output_padding", "dilation")}
    lists[place] = [1]
    with pytest.raises(RuntimeError, match=rf"prepack: {place} has 2 numbers, but got \[1\]"):
        ConvWeight(quantized(4, 3, 2, 2), None, groups=1, rank=2, **lists)


def test_weights_of_other_dimensions_and_types_are_refused():
    with pytest.raises(RuntimeError, match=r"weight of 4 dimensions, but got \(4, 3, 2\)"):
        conv(quantized(4, 3, 2))
    with pytest.raises(RuntimeError):
        LinearWeight(quantized(4, 3, dtype=taeda.quint8), None)
    for wrong in ((None, None), (quantized(4, 3), [1.0])):
        with pytest.raises(TypeError):
            LinearWeight(*wrong)


def test_only_the_very_kind_is_taken():
    linear, window = LinearWeight(quantized(4, 3), None), conv(quantized(4, 3, 2, 2))
    assert weight_in(linear, LinearWeight, "linear") is linear
    # a convolution's weight is a linear one's subclass, and is none all the same
    for kind, wrong, name in (
        (LinearWeight, window, "linear_prepack"),
        (ConvWeight, linear, r"conv\*_prepack"),
        (ConvWeight, taeda.ones(2), r"conv\*_prepack"),
    ):
        with pytest.raises(TypeError, match=rf"wanted the weight that .*{name} gives, but got"):
            weight_in(wrong, kind, "run")
