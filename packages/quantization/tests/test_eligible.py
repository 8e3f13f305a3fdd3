"""Layers that stay as they are, and why."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.quantization import int8_weight_only, quantize_


class Mine(nn.Linear):
    pass


def with_hook():
    linear = nn.Linear(64, 64)
    linear.register_forward_hook(lambda *a: None)
    return linear


def hook_that_went():
    linear = nn.Linear(64, 64)
    linear.register_forward_pre_hook(lambda *a: None).remove()
    return linear


def with_attribute():
    linear = nn.Linear(64, 64)
    linear.name = "first"
    return linear


def with_buffer():
    linear = nn.Linear(64, 64)
    linear.register_buffer("mask", taeda.ones(64))
    return linear


def in_float64():
    return nn.Linear(64, 64).double()


def normed():
    with pytest.warns(FutureWarning):
        return nn.utils.weight_norm(nn.Linear(64, 64))


REASONS = {
    "a subclass": (lambda: Mine(64, 64), "a Mine"),
    "parametrized": (lambda: nn.utils.parametrizations.weight_norm(nn.Linear(64, 64)), "ParametrizedLinear"),
    "weight of others": (normed, "no parameter"),
    "hooks": (with_hook, "0 has hooks"),
    "an attribute": (with_attribute, "0 has 'name'"),
    "a buffer": (with_buffer, "0 has 'mask'"),
    "float64": (in_float64, "taeda.float64"),
    "meta": (lambda: nn.Linear(64, 64, device="meta"), "meta"),
    "lazy": (lambda: nn.LazyLinear(64), "LazyLinear"),
    "short rows": (lambda: nn.Linear(60, 64), "60 numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", REASONS)
def test_a_row_says_why(name):
    make, why = REASONS[name]
    linear = make()
    model = nn.Sequential(linear)
    report = quantize_(model, int8_weight_only(), measure=False)
    assert model[0] is linear
    assert [(row.layer, row.kind) for row in report.rows] == [("0", "float")]
    assert why in report.rows[0].note


def test_a_hook_that_went_is_no_reason():
    model = nn.Sequential(hook_that_went())
    assert quantize_(model, int8_weight_only(), measure=False).quantized


class Tied(nn.Module):
    def __init__(self, other):
        super().__init__()
        self.first = nn.Linear(64, 64)
        self.other = other(self.first.weight)


class Holder(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.table = weight


def short_rows(weight):
    table = nn.Embedding(64, 64, max_norm=1.0)
    table.weight = weight
    return table


@pytest.mark.parametrize(("other", "why"), [(Holder, "other.table"), (short_rows, "max_norm")])
def test_a_weight_that_others_read_stays(other, why):
    model = Tied(other)
    report = quantize_(model, int8_weight_only(), measure=False)
    assert isinstance(model.first, nn.Linear)
    assert why in report.rows[0].note


def test_the_projection_inside_attention_stays():
    """Its module reads the weight and never calls the layer."""
    model = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True).eval()
    x = taeda.randn(2, 5, 64)
    want = model(x)
    report = quantize_(model, int8_weight_only(), measure=False)
    assert [row.kind for row in report.rows] == ["float", "int8", "int8"]
    assert (model(x) - want).abs().max() < 0.05
