"""All layers: their text, the names in their state dicts, and that they compute what their function does."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

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
