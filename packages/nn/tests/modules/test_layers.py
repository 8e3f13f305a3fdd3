"""All layers: their text, the names in their state dicts, and that they compute what their function does."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.nn import functional as F

# layer, input shape, function of the input (None: only the text)
LAYERS = [
    ("AdaptiveAvgPool1d(5)", "output_size=5", (2, 3, 9), lambda x: F.adaptive_avg_pool1d(x, 5)),
    ("AdaptiveAvgPool2d((5, None))", "output_size=(5, None)", (2, 9, 9), lambda x: F.adaptive_avg_pool2d(x, (5, 9))),
    ("AdaptiveMaxPool2d(3)", "output_size=3", (2, 9, 9), lambda x: F.adaptive_max_pool2d(x, 3)),
    ("AlphaDropout(0.2)", "p=0.2, inplace=False", (3,), lambda x: x),
    ("AvgPool1d(3, 2)", "kernel_size=(3,), stride=(2,), padding=(0,)", (2, 9), lambda x: F.avg_pool1d(x, 3, 2)),
    ("AvgPool2d(3)", "kernel_size=3, stride=3, padding=0", (2, 9, 9), lambda x: F.avg_pool2d(x, 3)),
    ("AvgPool3d(2)", "kernel_size=2, stride=2, padding=0", (2, 4, 4, 4), lambda x: F.avg_pool3d(x, 2)),
    ("CELU(2.0)", "alpha=2.0", (3,), lambda x: F.celu(x, 2.0)),
    ("ChannelShuffle(3)", "groups=3", (1, 6, 2, 2), lambda x: F.channel_shuffle(x, 3)),
    ("CircularPad1d(2)", "(2, 2)", (1, 3, 4), lambda x: F.pad(x, (2, 2), "circular")),
    ("ConstantPad1d(2, 3.5)", "padding=(2, 2), value=3.5", (1, 3, 4), lambda x: F.pad(x, (2, 2), "constant", 3.5)),
    ("Dropout(0.3, inplace=True)", "p=0.3, inplace=True", (3,), lambda x: x),
    ("Dropout2d()", "p=0.5, inplace=False", (1, 2, 3, 3), lambda x: x),
    ("ELU(2.0, True)", "alpha=2.0, inplace=True", (3,), lambda x: F.elu(x, 2.0)),
    ("Flatten()", "start_dim=1, end_dim=-1", (2, 3, 4), lambda x: x.reshape(2, 12)),
    ("Fold((4, 5), 2)", "output_size=(4, 5), kernel_size=2, dilation=1, padding=0, stride=1", (2, 12, 12), lambda x: F.fold(x, (4, 5), 2)),
    ("GELU()", "approximate='none'", (3,), F.gelu),
    ("GELU('tanh')", "approximate='tanh'", (3,), lambda x: F.gelu(x, approximate="tanh")),
    ("GLU()", "dim=-1", (3, 4), lambda x: x[:, :2] * x[:, 2:].sigmoid()),
    ("GroupNorm(2, 4)", "2, 4, eps=1e-05, affine=True, bias=True", (3, 4, 5), lambda x: F.group_norm(x, 2)),
    ("Hardshrink(0.3)", "0.3", (3,), lambda x: F.hardshrink(x, 0.3)),
    ("Hardsigmoid()", "", (3,), F.hardsigmoid),
    ("Hardswish(True)", "", (3,), F.hardswish),
    ("Hardtanh(-2.0, 3.0)", "min_val=-2.0, max_val=3.0", (3,), lambda x: x.clamp(-2, 3)),
    ("InstanceNorm2d(4)", "4, eps=1e-05, momentum=0.1, affine=False, bias=False, track_running_stats=False", (3, 4, 5, 5), F.instance_norm),
    ("LPPool2d(2, 3)", "norm_type=2, kernel_size=3, stride=None, ceil_mode=False", (2, 9, 9), lambda x: F.lp_pool2d(x, 2, 3)),
    ("LayerNorm((5, 6))", "(5, 6), eps=1e-05, elementwise_affine=True, bias=True", (3, 5, 6), lambda x: F.layer_norm(x, (5, 6))),
    ("LeakyReLU(0.2)", "negative_slope=0.2", (3,), lambda x: F.leaky_relu(x, 0.2)),
    ("LocalResponseNorm(3)", "3, alpha=0.0001, beta=0.75, k=1.0", (1, 5, 3), lambda x: F.local_response_norm(x, 3)),
    ("LogSigmoid()", "", (3,), F.logsigmoid),
    ("LogSoftmax(1)", "dim=1", (3, 4), lambda x: x.log_softmax(1)),
    ("MaxPool1d(2)", "kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False", (2, 9), lambda x: F.max_pool1d(x, 2)),
    ("MaxPool2d(2, 1, 1)", "kernel_size=2, stride=1, padding=1, dilation=1, ceil_mode=False", (2, 9, 9), lambda x: F.max_pool2d(x, 2, 1, 1)),
    ("MaxPool3d(2)", "kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False", (2, 4, 4, 4), lambda x: F.max_pool3d(x, 2)),
    ("Mish()", "", (3,), F.mish),
    ("PReLU()", "num_parameters=1", (3,), lambda x: F.leaky_relu(x, 0.25)),
    ("PixelShuffle(2)", "upscale_factor=2", (4, 3, 3), lambda x: F.pixel_shuffle(x, 2)),
    ("PixelUnshuffle(2)", "downscale_factor=2", (4, 4, 4), lambda x: F.pixel_unshuffle(x, 2)),
    ("RMSNorm(5)", "(5,), eps=None, elementwise_affine=True", (3, 5), lambda x: F.rms_norm(x, (5,))),
    ("RReLU(0.1, 0.3)", "lower=0.1, upper=0.3", (3,), lambda x: F.leaky_relu(x, 0.2)),
    ("ReLU(True)", "inplace=True", (3,), lambda x: x.clamp_min(0)),
    ("ReLU6()", "", (3,), lambda x: x.clamp(0, 6)),
    ("ReflectionPad2d(1)", "(1, 1, 1, 1)", (1, 3, 4), lambda x: F.pad(x, (1, 1, 1, 1), "reflect")),
    ("ReplicationPad3d(1)", "(1, 1, 1, 1, 1, 1)", (1, 2, 3, 4), lambda x: F.pad(x, (1,) * 6, "replicate")),
    ("SELU()", "", (3,), F.selu),
    ("SiLU()", "", (3,), lambda x: x * x.sigmoid()),
    ("Sigmoid()", "", (3,), lambda x: x.sigmoid()),
    ("Softmax(0)", "dim=0", (3, 4), lambda x: x.softmax(0)),
    ("Softmax2d()", "", (3, 4, 5), lambda x: x.softmax(0)),
    ("Softmin(1)", "dim=1", (3, 4), lambda x: (-x).softmax(1)),
    ("Softplus()", "beta=1.0, threshold=20.0", (3,), lambda x: x.exp().log1p()),
    ("Softshrink()", "0.5", (3,), lambda x: F.softshrink(x, 0.5)),
    ("Softsign()", "", (3,), lambda x: x / (1 + x.abs())),
    ("Tanh()", "", (3,), lambda x: x.tanh()),
    ("Tanhshrink()", "", (3,), lambda x: x - x.tanh()),
    ("Threshold(0.1, 20.0)", "threshold=0.1, value=20.0", (3,), lambda x: taeda.where(x > 0.1, x, 20.0)),
    ("Unflatten(1, (2, 3))", "dim=1, unflattened_size=(2, 3)", (4, 6), lambda x: x.reshape(4, 2, 3)),
    ("Unfold(2)", "kernel_size=2, dilation=1, padding=0, stride=1", (2, 4, 5), lambda x: F.unfold(x, 2)),
    ("Upsample(scale_factor=2)", "scale_factor=2.0, mode='nearest'", (1, 2, 3, 3), lambda x: F.interpolate(x, scale_factor=2)),
    ("UpsamplingBilinear2d(5)", "size=5, mode='bilinear'", (1, 2, 3, 3), lambda x: F.interpolate(x, 5, mode="bilinear", align_corners=True)),
    ("ZeroPad2d((1, 0, 2, 0))", "(1, 0, 2, 0)", (1, 3, 4), lambda x: F.pad(x, (1, 0, 2, 0))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "text", "shape", "function"), LAYERS, ids=[c[0] for c in LAYERS])
def test_layer(code, text, shape, function):
    layer = eval(f"nn.{code}", {"nn": nn}).eval()
    assert repr(layer) == f"{type(layer).__name__}({text})"
    taeda.manual_seed(0)
    x = taeda.randn(shape)
    expected = function(x.clone())
    result = layer(x.clone())
    assert result.shape == expected.shape
    assert taeda.allclose(result, expected, atol=1e-6)


STATES = [
    ("BatchNorm1d(5)", ["weight", "bias", "running_mean", "running_var", "num_batches_tracked"]),
    ("BatchNorm2d(5, bias=False)", ["weight", "running_mean", "running_var", "num_batches_tracked"]),
    ("BatchNorm3d(5, affine=False, track_running_stats=False)", []),
    ("Conv2d(3, 6, 3, bias=False)", ["weight"]),
    ("CrossEntropyLoss(taeda.ones(3))", ["weight"]),
    ("CrossEntropyLoss()", []),
    ("BCEWithLogitsLoss(pos_weight=taeda.ones(3))", ["pos_weight"]),
    ("GroupNorm(2, 4, bias=False)", ["weight"]),
    ("LSTM(3, 4, proj_size=2)", ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0", "weight_hr_l0"]),
    ("GRU(3, 4, bias=False, bidirectional=True)",
     ["weight_ih_l0", "weight_hh_l0", "weight_ih_l0_reverse", "weight_hh_l0_reverse"]),
    ("MultiheadAttention(8, 2)", ["in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias"]),
    ("MultiheadAttention(8, 2, kdim=3, bias=False, add_bias_kv=True)",
     ["q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k", "bias_v", "out_proj.weight"]),
]  # fmt: skip


@pytest.mark.parametrize(("code", "names"), STATES, ids=[c[0] for c in STATES])
def test_names_in_the_state_dict(code, names):
    layer = eval(f"nn.{code}", {"nn": nn, "taeda": taeda})
    assert list(layer.state_dict()) == names


def test_in_place_layers_write_to_their_input():
    for layer in (
        nn.ReLU(True),
        nn.LeakyReLU(inplace=True),
        nn.SiLU(True),
        nn.Hardtanh(inplace=True),
    ):
        x = taeda.tensor([-3.0, 0.5])
        assert layer(x) is x
        assert x[0].item() != -3


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Hardtanh(2.0, 1.0), ValueError, "min_val=2.0 and max_val=1.0"),
        (lambda: nn.Dropout(1.5), ValueError, "between 0 and 1, but got 1.5"),
        (lambda: nn.Softmax2d()(taeda.ones(3)), ValueError, "got 1D"),
        (lambda: nn.Unflatten(1, 3), TypeError, "tuple of ints, but found type int"),
        (lambda: nn.Unflatten(1, (2, "a")), TypeError, "type str at pos 1"),
        (lambda: nn.Unflatten(1.5, (2,)), TypeError, "dim parameter: float"),
        (
            lambda: nn.GroupNorm(2, 3),
            ValueError,
            r"num_channels \(3\) must be divisible by num_groups \(2\)",
        ),
        (lambda: nn.FractionalMaxPool2d(2), ValueError, "requires specifying either"),
        (
            lambda: nn.FractionalMaxPool2d(2, 3, 0.5),
            ValueError,
            "only one of output_size and output_ratio",
        ),
        (lambda: nn.FractionalMaxPool2d(2, output_ratio=1.5), ValueError, "between 0 and 1"),
        (lambda: nn.MultiMarginLoss(p=3), ValueError, "p == 1 and p == 2 supported, got 3"),
        (lambda: nn.TripletMarginLoss(margin=-1), ValueError, "greater than 0, got -1"),
        (lambda: nn.HuberLoss(delta=1j), TypeError, "delta must be a float or int"),
    ],
)
def test_refusals(call, error, text):
    with pytest.raises(error, match=text):
        call()
