"""Whole models: what is replaced, tied weights, the measured choice, refusals that change nothing."""

from __future__ import annotations

import copy

import pytest

import taeda
from taeda import nn
from taeda.quantization import (
    Int4Embedding,
    Int4Linear,
    Int8Embedding,
    Int8Linear,
    _quantize,
    int4_weight_only,
    int8_weight_only,
    quantize_,
)


class Small(nn.Module):
    """An embedding tied to the last layer, and one layer in two places."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(50, 64)
        self.inner = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
        self.again = self.inner[0]
        self.head = nn.Linear(64, 50, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, index):
        return self.head(self.again(self.inner(self.tokens(index))))


@pytest.mark.parametrize(
    ("config", "linear", "table"),
    [
        (int8_weight_only(), Int8Linear, Int8Embedding),
        (int4_weight_only(), Int4Linear, Int4Embedding),
    ],
)
def test_a_model(config, linear, table):
    taeda.manual_seed(0)
    model = Small().eval()
    index = taeda.randint(0, 50, (2, 7))
    want = model(index)
    report = quantize_(model, config, measure=False)
    assert type(model.inner[0]) is type(model.head) is linear
    assert type(model.tokens) is table
    assert model.again is model.inner[0]
    assert model.tokens.weight is model.head.weight
    assert not any(module.training for module in model.modules())
    assert [row.layer for row in report.rows] == ["inner.0", "head (tokens)"]
    error = float((model(index) - want).norm() / want.norm())
    assert error < (0.02 if config.name == "int8" else 0.3)
    assert 0 < report.rows[0].error < (0.02 if config.name == "int8" else 0.2)
    held = {t.data_ptr(): t.nbytes for t in (*model.parameters(), *model.buffers())}
    assert report.bytes_after == sum(held.values())
    assert report.bytes_before == 4 * (50 * 64 + 64 * 64 + 64)


def test_copies_keep_tied_weights_tied():
    model = Small()
    quantize_(model, int8_weight_only(), measure=False)
    again = copy.deepcopy(model)
    assert again.tokens.weight is again.head.weight is not model.head.weight
    assert again.again is again.inner[0]


def test_a_filter_chooses_by_module_and_name():
    model, seen = Small(), []
    report = quantize_(
        model,
        int8_weight_only(),
        lambda m, name: seen.append((type(m), name)) or name == "head",
        measure=False,
    )
    assert seen == [(nn.Linear, "inner.0"), (nn.Linear, "head")]
    assert [row.note for row in report.rows] == [
        "left out by filter_fn",
        "one packed weight for all",
    ]
    assert isinstance(model.inner[0], nn.Linear)


@pytest.mark.parametrize(
    ("times", "kind"), [((2.0, 1.0), "int8"), ((1.0, 2.0), "float"), ((1.0, 1.0), "float")]
)
def test_a_layer_that_is_no_faster_stays_float(times, kind, monkeypatch):
    monkeypatch.setattr(_quantize, "times_of", lambda linear, packed: times)
    model = nn.Sequential(nn.Linear(64, 64))
    (row,) = quantize_(model, int8_weight_only()).rows
    assert (row.kind, row.ms_before, row.ms_after) == (kind, *times)
    assert row.note == ("" if kind == "int8" else "packed it is no faster")
    assert isinstance(model[0], Int8Linear) == (kind == "int8")
    assert row.error > 0


def test_measured():
    """Whatever was faster here: the rows say times, and the model is what the rows say."""
    model = nn.Sequential(nn.Linear(256, 256), nn.Linear(256, 32))
    report = quantize_(model, int8_weight_only())
    for row, layer in zip(report.rows, model, strict=True):
        assert row.ms_before > 0
        assert row.ms_after > 0
        assert (
            isinstance(layer, Int8Linear) == (row.kind == "int8") == (row.ms_after < row.ms_before)
        )


def test_models_of_short_floats():
    model = nn.Sequential(nn.Linear(64, 64)).to(taeda.bfloat16)
    report = quantize_(model, int8_weight_only(), measure=False)
    assert report.rows[0].bytes_before == 2 * 64 * 64
    assert model(taeda.ones(1, 64, dtype=taeda.bfloat16)).dtype == taeda.bfloat16


def test_an_optimizer_goes_on_with_what_is_left():
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 4))
    optimizer_has = model[0].bias
    quantize_(model, int8_weight_only(), measure=False)
    model(taeda.ones(2, 64)).sum().backward()
    assert optimizer_has.grad is not None


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (lambda m: quantize_(nn.Linear(64, 64), int8_weight_only()), ValueError, "nn.Sequential"),
        (lambda m: quantize_(m.state_dict(), int8_weight_only()), TypeError, "OrderedDict|dict"),
        (lambda m: quantize_(m, "int8"), TypeError, "int8_weight_only"),
        (lambda m: quantize_(m, int8_weight_only), TypeError, "function"),
        (lambda m: quantize_(m, int8_weight_only(), "head"), TypeError, "filter_fn.*'head'"),
    ],
)
def test_refusals(call, error, fact):
    with pytest.raises(error, match=fact):
        call(Small())


def test_an_error_amid_the_work_leaves_the_model_as_it_was():
    def fails(module, name):
        if name == "head":
            raise KeyError(name)
        return True

    model = Small()
    before = list(model.modules())
    with pytest.raises(KeyError):
        quantize_(model, int8_weight_only(), fails, measure=False)
    assert list(model.modules()) == before
