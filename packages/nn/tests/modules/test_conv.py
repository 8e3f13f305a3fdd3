"""Convolution layers: options, refusals, output sizes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import taeda
from taeda import nn


def test_a_convolution_is_a_sum_over_windows():
    layer = nn.Conv2d(2, 3, (2, 3), stride=2, padding=1)
    x = taeda.randn(1, 2, 5, 6)
    padded = np.pad(x.numpy()[0], ((0, 0), (1, 1), (1, 1)))
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = np.array(
        [
            [
                [
                    (padded[:, i : i + 2, j : j + 3] * weight[k]).sum() + bias[k]
                    for j in range(0, 6, 2)
                ]
                for i in range(0, 6, 2)
            ]
            for k in range(3)
        ]
    )
    np.testing.assert_allclose(layer(x).detach().numpy()[0], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "spatial"),
    [
        (nn.Conv1d, 1),
        (nn.Conv2d, 2),
        (nn.Conv3d, 3),
        (nn.ConvTranspose1d, 1),
        (nn.ConvTranspose2d, 2),
        (nn.ConvTranspose3d, 3),
    ],
)
def test_batched_and_not(kind, spatial):
    layer = kind(4, 6, 3, groups=2)
    x = taeda.randn(2, 4, *[5] * spatial)
    batch = layer(x)
    assert batch.shape == (2, 6, *[7 if layer.transposed else 3] * spatial)
    assert taeda.allclose(layer(x[0]), batch[0], atol=1e-6)


def test_first_values_stay_within_the_bound():
    layer = nn.Conv2d(4, 32, 5)
    bound = 1 / math.sqrt(4 * 25)
    for values in (layer.weight, layer.bias):
        assert 0.8 * bound < values.detach().abs().max().item() <= bound


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_padding_modes(mode):
    layer = nn.Conv2d(1, 1, 3, padding=(1, 2), padding_mode=mode, bias=False)
    x = taeda.randn(1, 1, 5, 6)
    padded = nn.functional.pad(x, (2, 2, 1, 1), mode)
    assert taeda.allclose(layer(x), taeda.conv2d(padded, layer.weight))


def test_string_padding():
    x = taeda.randn(1, 2, 7, 8)
    assert nn.Conv2d(2, 3, (4, 3), padding="same", dilation=2)(x).shape == (1, 3, 7, 8)
    assert nn.Conv2d(2, 3, 3, padding="valid")(x).shape == (1, 3, 5, 6)
    reflected = nn.Conv2d(2, 3, (4, 3), padding="same", padding_mode="reflect")
    assert reflected(x).shape == (1, 3, 7, 8)


def test_output_size_of_transposed_convolutions():
    layer = nn.ConvTranspose2d(2, 3, 3, stride=2)
    x = taeda.randn(1, 2, 4, 4)
    assert layer(x).shape == (1, 3, 9, 9)
    assert layer(x, output_size=(10, 9)).shape == (1, 3, 10, 9)
    assert layer(x, output_size=(1, 3, 10, 10)).shape == (1, 3, 10, 10)
    with pytest.raises(
        ValueError, match=r"\(11, 9\), but valid sizes range from \[9, 9\] to \[10, 10\]"
    ):
        layer(x, output_size=(11, 9))
    with pytest.raises(ValueError, match=r"must have 2 or 4 elements \(got 3\)"):
        layer(x, output_size=(1, 10, 10))


TEXTS = [
    (nn.Conv1d(3, 6, 3), "3, 6, kernel_size=(3,), stride=(1,)"),
    (
        nn.Conv2d(3, 6, 3, 2, 1, 1, 3, padding_mode="reflect"),
        "3, 6, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), groups=3, padding_mode=reflect",
    ),
    (
        nn.Conv2d(3, 6, 3, dilation=2, bias=False),
        "3, 6, kernel_size=(3, 3), stride=(1, 1), dilation=(2, 2), bias=False",
    ),
    (nn.Conv2d(3, 6, 3, padding="same"), "3, 6, kernel_size=(3, 3), stride=(1, 1), padding=same"),
    (
        nn.ConvTranspose1d(3, 6, 3, 2, output_padding=1),
        "3, 6, kernel_size=(3,), stride=(2,), output_padding=(1,)",
    ),
]


@pytest.mark.parametrize(("layer", "text"), TEXTS)
def test_text(layer, text):
    assert repr(layer) == f"{type(layer).__name__}({text})"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nn.Conv2d(3, 4, 1, groups=2),
            "in_channels must be divisible by groups, got 3 and 2",
        ),
        (
            lambda: nn.Conv2d(4, 3, 1, groups=2),
            "out_channels must be divisible by groups, got 3 and 2",
        ),
        (lambda: nn.Conv2d(4, 4, 1, groups=0), "positive integer, got 0"),
        (lambda: nn.Conv2d(4, 4, 1, padding="full"), "Invalid padding string 'full'"),
        (lambda: nn.Conv2d(4, 4, 3, 2, padding="same"), "not supported for strided"),
        (lambda: nn.Conv2d(4, 4, 3, padding_mode="mirror"), "padding_mode='mirror'"),
        (lambda: nn.ConvTranspose2d(4, 4, 3, padding_mode="reflect"), 'Only "zeros" padding mode'),
    ],
)
def test_refused_options(call, text):
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.parametrize("shape", [(1, 5, 8, 8), (1, 3, 2, 8), (3, 8)])
def test_refused_inputs(shape):
    with pytest.raises(RuntimeError) as caught:
        nn.Conv2d(3, 4, 3)(taeda.randn(shape))
    assert caught.value.__notes__ == ["in Conv2d"]


def test_lazy_forms_are_found_beside_the_others():
    from taeda.nn.modules import conv

    assert conv.LazyConv2d is nn.LazyConv2d
    assert conv.LazyConvTranspose3d is nn.LazyConvTranspose3d
